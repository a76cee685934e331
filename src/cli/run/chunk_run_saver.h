// Lines that a chunk's command writes to its descriptor 3.
//
//   rows 1700                            so many rows of this chunk are loaded
//   rows +100                            a hundred more
//   cursor {"page":17}                   saves this, with the rows told so far
//   {"cursor":{"page":17},"rows":1700}   both at once
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "leasehold/loader.h"
#include "leasehold/result.h"

namespace leasehold::cli {

/// What a command has told of its chunk so far.
class ChunkReport {
 public:
  struct Save {
    std::string cursor;
    std::int64_t rows = 0;
  };

  /// `rows` as saved by whoever had the chunk before.
  explicit ChunkReport(std::int64_t rows) : rows_(rows) {}

  /// Something to save; nothing: the line was only to be remembered. An error: the line makes no sense, and is ignored.
  Result<std::optional<Save>> hear(std::string_view line);

  /// The latest count; nothing: none was told.
  [[nodiscard]] std::optional<std::int64_t> rows_told() const { return told_ ? std::optional(rows_) : std::nullopt; }

 private:
  Result<void> hear_rows(std::string_view count);
  Result<std::optional<Save>> hear_object(std::string_view object);

  std::int64_t rows_;
  bool told_ = false;
};

// Saves how far a chunk's command got, on a thread of its own: a store that is slow or away must not keep anybody from
// watching over the command. Of several that wait, the latest is saved.
//
// put() and finish() belong to one thread.
class ChunkSaver {
 public:
  /// Told of what could not be saved.
  using OnFailure = std::function<void(const Error&)>;

  ChunkSaver(ChunkContext& context, OnFailure on_failure) : context_(context), on_failure_(std::move(on_failure)) {}
  ChunkSaver(const ChunkSaver&) = delete;
  ChunkSaver& operator=(const ChunkSaver&) = delete;
  ~ChunkSaver() { finish(); }

  void put(ChunkReport::Save save);
  /// Returns when the latest is saved, or cannot be.
  void finish();

 private:
  void run();
  void write(const ChunkReport::Save& save);
  std::optional<ChunkReport::Save> next();

  ChunkContext& context_;
  const OnFailure on_failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<ChunkReport::Save> waiting_;
  bool finishing_ = false;
  /// Started with the first save: many a command has none.
  std::thread thread_;
};

}  // namespace leasehold::cli

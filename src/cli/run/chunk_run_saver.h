// Lines that a chunk's command writes to its descriptor 3.
//
//   rows 1700                            1700 rows of this chunk are loaded
//   rows +100                            a hundred more
//   cursor {"page":17}                   saves this, with the rows reported so far
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

/// What a command has reported about its chunk so far.
class ChunkReport {
 public:
  struct Save {
    std::string cursor;
    std::int64_t rows = 0;
  };

  /// `rows` is the count that the previous holder saved.
  explicit ChunkReport(std::int64_t rows) : rows_(rows) {}

  /// Returns a save, or nothing if the line is only to be remembered. On error the line is malformed, and ignored.
  Result<std::optional<Save>> hear(std::string_view line);

  /// The latest count; nothing if none was reported.
  [[nodiscard]] std::optional<std::int64_t> rows_reported() const {
    return reported_ ? std::optional(rows_) : std::nullopt;
  }

 private:
  Result<void> hear_rows(std::string_view count);
  Result<std::optional<Save>> hear_object(std::string_view object);

  std::int64_t rows_;
  bool reported_ = false;
};

// Saves the progress of a chunk's command, on a thread of its own: a slow or unreachable store must not delay the
// supervision of the command. If several saves are pending, the latest is saved.
//
// put() and finish() belong to one thread.
class ChunkSaver {
 public:
  /// Called for each failed save.
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
  /// Started with the first save: many commands have none.
  std::thread thread_;
};

}  // namespace leasehold::cli

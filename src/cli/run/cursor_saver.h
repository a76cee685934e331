// Lines that the command of a chunk or a job writes to its descriptor 3, and the thread that saves its cursor. A chunk:
//
//   rows 1700                            1700 rows of this chunk are loaded
//   rows +100                            a hundred more
//   cursor {"page":17}                   saves this, with the rows reported so far
//   {"cursor":{"page":17},"rows":1700}   both at once
//
// A job has no rows, and its other lines are its progress (work_command.h).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "leasehold/result.h"
#include "model/bounds.h"

namespace leasehold::cli {

struct CursorSave {
  std::string cursor;
  std::int64_t rows = 0;  ///< of a chunk
};

/// The cursor of a line `cursor JSON`; nothing if it is another line. An error if it is not JSON.
Result<std::optional<std::string>> cursor_of_line(std::string_view line);

/// What a command has reported about its chunk so far.
class ChunkReport {
 public:
  using Save = CursorSave;

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

/// Room for the largest cursor with blanks and a count around it. A longer line is too large to be saved.
inline constexpr std::size_t longest_cursor_line = 2 * bounds::chunk_json_bytes;

// Saves the progress of a command, on a thread of its own: a slow or unreachable store must not delay the
// supervision of the command. If several saves are pending, the latest is saved.
//
// put() and finish() belong to one thread.
class CursorSaver {
 public:
  using Write = std::function<Result<void>(const CursorSave&)>;
  /// Called for each failed save.
  using OnFailure = std::function<void(const Error&)>;

  CursorSaver(Write write, OnFailure on_failure) : write_(std::move(write)), on_failure_(std::move(on_failure)) {}
  CursorSaver(const CursorSaver&) = delete;
  CursorSaver& operator=(const CursorSaver&) = delete;
  ~CursorSaver() { finish(); }

  void put(CursorSave save);
  /// Returns when the latest is saved, or cannot be.
  void finish();

 private:
  void run();
  void write(const CursorSave& save);
  std::optional<CursorSave> next();

  const Write write_;
  const OnFailure on_failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<CursorSave> waiting_;
  bool finishing_ = false;
  /// Started with the first save: many commands have none.
  std::thread thread_;
};

}  // namespace leasehold::cli

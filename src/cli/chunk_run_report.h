// Lines that a chunk's command writes to its descriptor 3.
//
//   rows 1700                            so many rows of this chunk are loaded
//   rows +100                            a hundred more
//   cursor {"page":17}                   saves this, with the rows told so far
//   {"cursor":{"page":17},"rows":1700}   both at once
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace leasehold::cli

// Reading files and standard input, with bounds: nobody's memory is filled by a wrong file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"

namespace leasehold::cli {

enum class TooLong { refuse, cut };

/// All bytes of a file; "-" is standard input.
Result<std::string> read_bytes(const std::string& path, std::size_t most, TooLong too_long = TooLong::refuse);

/// Closes what it opened; standard input stays open.
struct CloseFile {
  void operator()(std::FILE* file) const;
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// A file line by line, in constant memory.
class LineReader {
 public:
  /// "-" is standard input.
  static Result<LineReader> open(const std::string& path);

  /// As soon as this descriptor is readable, there are no more lines: whoever types them may take for ever.
  void end_at(int fd) { end_fd_ = fd; }

  /// The next line without its end (a carriage return before it belongs to the end). Nothing: there are no more.
  Result<std::optional<std::string>> next(std::size_t most);

  /// Of the line that came last; the first is 1.
  [[nodiscard]] std::int64_t line_number() const { return line_number_; }
  [[nodiscard]] std::int64_t bytes_read() const { return bytes_read_; }
  /// Of the whole file, where that is known.
  [[nodiscard]] std::optional<std::int64_t> size() const;

 private:
  enum class More { bytes, nothing, ended };
  explicit LineReader(File file) : file_(std::move(file)) {}
  Result<More> read_more();

  File file_;
  int end_fd_ = -1;
  std::vector<char> buffer_;
  std::string_view unread_;  ///< of the buffer
  std::int64_t line_number_ = 0;
  std::int64_t bytes_read_ = 0;
};

}  // namespace leasehold::cli

// Reads files and standard input within bounds: a wrong file cannot fill the memory.
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
Result<std::string> read_bytes(const std::string& path, std::size_t max, TooLong too_long = TooLong::refuse);

/// Closes the file it opened; standard input stays open.
struct CloseFile {
  void operator()(std::FILE* file) const;
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Reads a file line by line, in constant memory.
class LineReader {
 public:
  /// "-" is standard input.
  static Result<LineReader> open(const std::string& path);

  /// Once this descriptor is readable, the input ends: a person who types it may take for ever.
  void end_at(int fd) { end_fd_ = fd; }

  /// The next line without its newline (a carriage return before it belongs to the newline). Nothing at the end.
  Result<std::optional<std::string>> next(std::size_t max);

  /// Number of the last line returned; the first is 1.
  [[nodiscard]] std::int64_t line_number() const { return line_number_; }
  [[nodiscard]] std::int64_t bytes_read() const { return bytes_read_; }
  /// Size of the whole file, if known.
  [[nodiscard]] std::optional<std::int64_t> size() const;

 private:
  enum class More { bytes, nothing, ended };
  explicit LineReader(File file) : file_(std::move(file)) {}
  Result<More> read_more();

  File file_;
  int end_fd_ = -1;
  std::vector<char> buffer_;
  std::string_view unread_;  ///< part of the buffer
  std::int64_t line_number_ = 0;
  std::int64_t bytes_read_ = 0;
};

}  // namespace leasehold::cli

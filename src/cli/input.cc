#include "cli/input.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{64} * 1024;

std::string shown(const std::string& path) { return path == "-" ? "standard input" : leasehold::quoted(path); }

Error cannot_read(const std::string& path) {
  return {.code = Errc::invalid_argument,
          .message = fmt::format("cannot read {}: {}", shown(path), std::strerror(errno))};
}

Result<File> open_file(const std::string& path) {
  File file(path == "-" ? stdin : std::fopen(path.c_str(), "re"));
  if (!file) return cannot_read(path);
  return file;
}

}  // namespace

void CloseFile::operator()(std::FILE* file) const {
  if (file != stdin) std::fclose(file);
}

Result<std::string> read_bytes(const std::string& path, std::size_t max, TooLong too_long) {
  auto file = open_file(path);
  if (!file) return std::move(file).error();
  std::string bytes(max + 1, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file->get()));
  if (std::ferror(file->get()) != 0) return cannot_read(path);
  if (bytes.size() <= max) return bytes;
  if (too_long == TooLong::refuse) {
    return Error{.code = Errc::invalid_argument, .message = fmt::format("{} has more than {} bytes", shown(path), max)};
  }
  bytes.resize(max);
  return bytes;
}

Result<LineReader> LineReader::open(const std::string& path) {
  auto file = open_file(path);
  if (!file) return std::move(file).error();
  return LineReader(std::move(*file));
}

Result<LineReader::More> LineReader::read_more() {
  const int fd = fileno(file_.get());
  std::array<pollfd, 2> watched{pollfd{.fd = fd, .events = POLLIN, .revents = 0},
                                pollfd{.fd = end_fd_, .events = POLLIN, .revents = 0}};
  ::poll(watched.data(), watched.size(), -1);
  if (watched[1].revents != 0) return More::ended;
  buffer_.resize(buffer_bytes);
  const auto size = ::read(fd, buffer_.data(), buffer_.size());
  if (size < 0) {
    return Error{.code = Errc::invalid_argument, .message = fmt::format("it cannot be read: {}", std::strerror(errno))};
  }
  unread_ = std::string_view(buffer_.data(), static_cast<std::size_t>(size));
  return size > 0 ? More::bytes : More::nothing;
}

Result<std::optional<std::string>> LineReader::next(std::size_t max) {
  std::string line;
  ++line_number_;
  for (bool complete = false; !complete;) {
    if (unread_.empty()) {
      const auto more = read_more();
      if (!more) return more.error();
      if (*more == More::ended || (*more == More::nothing && line.empty())) return std::optional<std::string>();
    }
    const auto piece = unread_.substr(0, unread_.find('\n'));
    if (line.size() + piece.size() > max) {
      return Error{.code = Errc::invalid_argument, .message = fmt::format("it has more than {} bytes", max)};
    }
    line += piece;
    // At the end of the input the last line is complete without a newline.
    complete = piece.size() < unread_.size() || unread_.empty();
    const auto taken = std::min(piece.size() + 1, unread_.size());
    bytes_read_ += static_cast<std::int64_t>(taken);
    unread_.remove_prefix(taken);
  }
  if (line.ends_with('\r')) line.pop_back();
  return std::optional(std::move(line));
}

std::optional<std::int64_t> LineReader::size() const {
  struct stat facts {};
  if (fstat(fileno(file_.get()), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return facts.st_size;
}

}  // namespace leasehold::cli

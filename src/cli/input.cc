#include "cli/input.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace leasehold::cli {
namespace {

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

Result<std::string> read_bytes(const std::string& path, std::size_t most, TooLong too_long) {
  auto file = open_file(path);
  if (!file) return std::move(file).error();
  std::string bytes(most + 1, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file->get()));
  if (std::ferror(file->get()) != 0) return cannot_read(path);
  if (bytes.size() <= most) return bytes;
  if (too_long == TooLong::refuse) {
    return Error{.code = Errc::invalid_argument,
                 .message = fmt::format("{} has more than the {} bytes that are allowed", shown(path), most)};
  }
  bytes.resize(most);
  return bytes;
}

Result<LineReader> LineReader::open(const std::string& path) {
  auto file = open_file(path);
  if (!file) return std::move(file).error();
  return LineReader(std::move(*file));
}

Result<std::optional<std::string>> LineReader::next(std::size_t most) {
  std::string line;
  ++line_number_;
  int c = getc_unlocked(file_.get());
  if (c == EOF && std::ferror(file_.get()) == 0) return std::optional<std::string>();
  for (; c != EOF && c != '\n'; c = getc_unlocked(file_.get())) {
    ++bytes_read_;
    if (line.size() == most) {
      return Error{.code = Errc::invalid_argument, .message = fmt::format("it has more than {} bytes", most)};
    }
    line += static_cast<char>(c);
  }
  if (std::ferror(file_.get()) != 0) {
    if (errno == EINTR) return std::optional<std::string>();
    return Error{.code = Errc::invalid_argument, .message = fmt::format("it cannot be read: {}", std::strerror(errno))};
  }
  ++bytes_read_;
  if (line.ends_with('\r')) line.pop_back();
  return std::optional(std::move(line));
}

std::optional<std::int64_t> LineReader::size() const {
  struct stat facts {};
  if (fstat(fileno(file_.get()), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return facts.st_size;
}

}  // namespace leasehold::cli

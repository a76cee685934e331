#include "cli/run/command_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "model/bounds.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t error_tail_bytes = 4096;
/// A writable pipe accepts this much without blocking.
constexpr std::size_t chunk = 4096;
/// How long our stderr may block the end of a command's stderr before it is dropped.
constexpr int last_words_patience_ms = 1000;

Error cannot(const char* what) {
  return {.code = Errc::unavailable, .message = fmt::format("cannot {}: {}", what, std::strerror(errno))};
}

/// In memory, so that no pipe has to be fed.
run::UniqueFd readable_copy(std::string_view bytes) {
  run::UniqueFd file(::memfd_create("input", MFD_CLOEXEC));
  while (file && !bytes.empty()) {
    const auto written = ::write(file.get(), bytes.data(), bytes.size());
    if (written <= 0) return {};
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file) ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

/// Our end does not block; the command's end does, as programs expect.
bool make_pipe(run::UniqueFd& ours, run::UniqueFd& theirs) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  ours = run::UniqueFd(ends[0]);
  theirs = run::UniqueFd(ends[1]);
  return ::fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

/// The available bytes, up to a chunk. Nothing: try later, or the stream has ended, which closes `end`.
std::string read_some(run::UniqueFd& end) {
  std::string bytes(chunk, '\0');
  const auto size = end ? ::read(end.get(), bytes.data(), bytes.size()) : -1;
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) end.reset();
  return bytes;
}

void watch(std::vector<pollfd>& watched, int fd, short events) {
  if (fd >= 0) watched.push_back({.fd = fd, .events = events, .revents = 0});
}

}  // namespace

Result<CommandStreams> CommandStreams::open(const Wanted& wanted, OnLine on_line) {
  CommandStreams streams(wanted.longest_line, std::move(on_line));
  auto& theirs = streams.theirs_;
  theirs.in = readable_copy(wanted.input);
  if (!theirs.in) return cannot("pass the command its input");
  const bool made = make_pipe(streams.error_end_, theirs.err) && make_pipe(streams.line_end_, theirs.progress) &&
                    (!wanted.keep_output || make_pipe(streams.output_end_, theirs.out));
  if (!made) return cannot("create pipes for the command");
  return streams;
}

CommandStreams CommandStreams::inherited() {
  CommandStreams streams(0, [](std::string_view) {});
  if (::isatty(STDIN_FILENO) == 1) streams.theirs_.in = run::UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return streams;
}

void CommandStreams::add_to(std::vector<pollfd>& watched) const {
  watch(watched, output_end_.get(), POLLIN);
  watch(watched, line_end_.get(), POLLIN);
  if (unpassed_errors_.empty()) {
    watch(watched, error_end_.get(), POLLIN);
  } else {
    watch(watched, STDERR_FILENO, POLLOUT);
  }
}

void CommandStreams::serve() {
  serve_output();
  serve_errors();
  serve_lines();
}

bool CommandStreams::serve_output() {
  const auto bytes = read_some(output_end_);
  const auto room = bounds::result_bytes - output_.size();
  output_was_cut_ = output_was_cut_ || bytes.size() > room;
  output_.append(bytes, 0, room);
  return !bytes.empty();
}

bool CommandStreams::serve_errors() {
  if (!pass_errors_on(0)) return false;
  unpassed_errors_ = read_some(error_end_);
  error_tail_ += unpassed_errors_;
  if (error_tail_.size() > error_tail_bytes) error_tail_.erase(0, error_tail_.size() - error_tail_bytes);
  const bool something_came = !unpassed_errors_.empty();
  pass_errors_on(0);
  return something_came;
}

/// False: there is more, but our stderr does not accept it now.
bool CommandStreams::pass_errors_on(int patience_ms) {
  if (unpassed_errors_.empty()) return true;
  pollfd out{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&out, 1, patience_ms) != 1) return false;
  const auto written = ::write(STDERR_FILENO, unpassed_errors_.data(), unpassed_errors_.size());
  // Our stderr has no reader any more: the command must not suffer from that.
  unpassed_errors_.erase(0, written < 0 ? unpassed_errors_.size() : static_cast<std::size_t>(written));
  return unpassed_errors_.empty();
}

bool CommandStreams::serve_lines() {
  const auto bytes = read_some(line_end_);
  for (const char byte : bytes) {
    if (byte == '\n') {
      on_line_(line_);
      line_.clear();
    } else if (line_.size() < longest_line_) {
      line_.push_back(byte);
    }
  }
  return !bytes.empty();
}

void CommandStreams::finish() {
  while (serve_output()) {
  }
  while (serve_lines()) {
  }
  while (pass_errors_on(last_words_patience_ms) && serve_errors()) {
  }
}

}  // namespace leasehold::cli

#include "mcp/lines.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/process.h"
#include "leasehold/limits.h"

namespace leasehold::mcp {

void Writer::write_line(std::string line) {
  line += '\n';
  const std::lock_guard lock(mutex_);
  std::string_view rest = line;
  while (!rest.empty()) {
    const auto size = ::write(fd_, rest.data(), rest.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;  // the client is gone: the end of the input follows
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
}

Reader::Reader(int fd, Holder agent)
    : fd_(fd),
      agent_(std::move(agent)),
      agent_fd_(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(agent_.pid), 0))) {}

Reader::~Reader() {
  if (agent_fd_ >= 0) ::close(agent_fd_);
}

std::optional<Reader::Line> Reader::next() {
  Line line;
  for (;;) {
    const auto end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      if (!line.too_long) line.text.assign(buffer_, 0, end);
      line.too_long = line.too_long || line.text.size() > bounds::mcp_line_bytes;
      buffer_.erase(0, end + 1);
      searched_ = 0;
      return line;
    }
    searched_ = buffer_.size();
    if (buffer_.size() > bounds::mcp_line_bytes) {
      line.too_long = true;
      buffer_.clear();
      searched_ = 0;
    }
    if (!read_more()) return std::nullopt;
  }
}

bool Reader::agent_is_gone() const {
  constexpr int moment_ms = 200;
  pollfd agent{.fd = agent_fd_, .events = POLLIN, .revents = 0};
  if (agent_fd_ >= 0) return ::poll(&agent, 1, moment_ms) == 1;
  return look_for_process(agent_.pid, agent_.process_start) == Liveness::gone;
}

bool Reader::read_more() {
  constexpr int look_again_ms = 500;
  for (;;) {
    std::array<pollfd, 2> both{pollfd{.fd = fd_, .events = POLLIN, .revents = 0},
                               pollfd{.fd = agent_fd_, .events = POLLIN, .revents = 0}};
    const auto ready = ::poll(both.data(), both.size(), agent_fd_ >= 0 ? -1 : look_again_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0 || both[1].revents != 0) return false;
    if (ready == 0 && look_for_process(agent_.pid, agent_.process_start) == Liveness::gone) return false;
    if (both[0].revents == 0) continue;
    std::array<char, 65536> bytes{};
    const auto size = ::read(fd_, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    buffer_.append(bytes.data(), static_cast<std::size_t>(size));
    return true;
  }
}

}  // namespace leasehold::mcp

#include "storage/sqlite/change_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <thread>
#include <utility>

namespace leasehold::sqlite {
namespace {

// The log changes before its commit becomes visible: look again for as long as a slow fsync may take, often at first.
constexpr Duration settle_time = std::chrono::milliseconds(40);
constexpr Duration shortest_settle_step = std::chrono::microseconds(50);
constexpr Duration longest_settle_step = std::chrono::milliseconds(1);
// The polling interval if the folder cannot be watched (no inotify left).
constexpr Duration poll_step = std::chrono::milliseconds(20);

void announce_to(int event_fd) {
  const std::uint64_t one = 1;
  // EAGAIN means that an earlier event is unread, which wakes the watch just as well.
  [[maybe_unused]] const auto written = ::write(event_fd, &one, sizeof one);
}

/// Reads once: unread events keep the descriptor readable, and a process that writes endlessly to a neighbouring file
/// must not keep us here.
void take_note(int fd) {
  std::array<char, 4096> space{};
  [[maybe_unused]] const auto size = ::read(fd, space.data(), space.size());
}

class FileWatch final : public storage::ChangeWatch {
 public:
  FileWatch(const std::string& path, std::shared_ptr<ChangeHub> hub)
      : hub_(std::move(hub)), event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    hub_->add(event_fd_);
    if (path == ":memory:") return;
    const auto folder = std::filesystem::path(path).parent_path();
    inotify_fd_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (inotify_fd_ >= 0) {
      watching_ = inotify_add_watch(inotify_fd_, folder.empty() ? "." : folder.c_str(), IN_MODIFY) >= 0;
    }
    if (auto opened = Connection::open_reader(path); opened) {
      connection_ = std::move(*opened);
      version_ = connection_->data_version();
    }
  }
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  ~FileWatch() override {
    hub_->remove(event_fd_);
    ::close(event_fd_);
    if (inotify_fd_ >= 0) ::close(inotify_fd_);
  }

  bool wait(BootTime until) override {
    while (BootClock::now() < until) {
      if (woken_.exchange(false) || changed()) return true;
      auto left = until - BootClock::now();
      if (connection_ != nullptr && !watching_) left = std::min(left, poll_step);
      std::array<pollfd, 2> events = {{{event_fd_, POLLIN, 0}, {inotify_fd_, POLLIN, 0}}};
      const auto ms = static_cast<int>(std::clamp<std::int64_t>(left / std::chrono::milliseconds(1), 1, 60'000));
      if (::poll(events.data(), events.size(), ms) < 0) continue;
      if ((events[0].revents & POLLIN) != 0) {
        take_note(event_fd_);
        if (woken_.exchange(false)) return true;
        // Many commits write nothing. If they woke other threads, two threads looking for work would keep each other
        // busy.
        if (connection_ == nullptr || changed()) return true;
      }
      if ((events[1].revents & POLLIN) != 0 && settled_into_change(until)) return true;
    }
    return false;
  }

  void wake() override {
    woken_ = true;
    announce_to(event_fd_);
  }

 private:
  bool changed() {
    if (connection_ == nullptr) return false;
    const auto version = connection_->data_version();
    return std::exchange(version_, version) != version;
  }

  bool settled_into_change(BootTime until) {
    take_note(inotify_fd_);
    const auto began = BootClock::now();
    const auto give_up = std::min(until, began + settle_time);
    while (!changed()) {
      const auto now = BootClock::now();
      if (woken_ || now >= give_up) return false;
      std::this_thread::sleep_for(std::clamp<Duration>((now - began) / 4, shortest_settle_step, longest_settle_step));
    }
    return true;
  }

  std::shared_ptr<ChangeHub> hub_;
  int event_fd_;
  int inotify_fd_ = -1;
  bool watching_ = false;
  std::unique_ptr<Connection> connection_;
  std::int64_t version_ = 0;
  std::atomic<bool> woken_ = false;
};

}  // namespace

void ChangeHub::add(int event_fd) {
  const std::lock_guard lock(mutex_);
  event_fds_.insert(event_fd);
}

void ChangeHub::remove(int event_fd) {
  const std::lock_guard lock(mutex_);
  event_fds_.erase(event_fd);
}

void ChangeHub::announce() {
  const std::lock_guard lock(mutex_);
  for (const int fd : event_fds_) announce_to(fd);
}

std::unique_ptr<storage::ChangeWatch> make_change_watch(const std::string& path, std::shared_ptr<ChangeHub> hub) {
  return std::make_unique<FileWatch>(path, std::move(hub));
}

}  // namespace leasehold::sqlite

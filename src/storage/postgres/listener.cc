#include "storage/postgres/listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <system_error>
#include <vector>

#include "base/clock.h"
#include "base/quiet_thread.h"

namespace leasehold::postgres {

class WatchList::Watch final : public storage::ChangeWatch {
 public:
  Watch(std::shared_ptr<WatchList> list, std::string_view topic) : list_(std::move(list)), topic_(topic) {
    const std::lock_guard lock(list_->mutex_);
    list_->watches_.push_back(this);
  }

  ~Watch() override {
    const std::lock_guard lock(list_->mutex_);
    std::erase(list_->watches_, this);
  }

  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  bool wait(BootTime until) override {
    std::unique_lock lock(list_->mutex_);
    wait_until(woken_, lock, until, [&] { return changed_; });
    return std::exchange(changed_, false);
  }

  void wake() override {
    const std::lock_guard lock(list_->mutex_);
    note_change();
  }

  /// Requires the list's mutex.
  void note_change() {
    changed_ = true;
    woken_.notify_one();
  }
  [[nodiscard]] bool wants(std::string_view topic) const { return topic_.empty() || topic_ == topic; }

 private:
  std::shared_ptr<WatchList> list_;
  std::string topic_;
  bool changed_ = false;
  std::condition_variable woken_;
};

std::unique_ptr<storage::ChangeWatch> WatchList::add(std::string_view topic) {
  return std::make_unique<Watch>(shared_from_this(), topic);
}

void WatchList::wake(std::string_view topic) {
  const std::lock_guard lock(mutex_);
  for (auto* watch : watches_) {
    if (watch->wants(topic)) watch->note_change();
  }
}

void WatchList::wake_all() {
  const std::lock_guard lock(mutex_);
  for (auto* watch : watches_) watch->note_change();
}

namespace {

using namespace std::chrono_literals;

/// Bounds the time of stop() while the server is silent.
constexpr Duration connect_timeout = 3s;
/// A connection silent for this long is checked.
constexpr Duration silence = 30s;

}  // namespace

Listener::Listener(std::string conninfo, std::string channel)
    : conninfo_(std::move(conninfo)),
      channel_(std::move(channel)),
      watches_(std::make_shared<WatchList>()),
      stop_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Listener::~Listener() {
  stop();
  if (stop_fd_ >= 0) ::close(stop_fd_);
}

std::unique_ptr<storage::ChangeWatch> Listener::watch(std::string_view topic) {
  auto watch = watches_->add(topic);
  const std::lock_guard lock(starting_);
  // Without an eventfd the thread could not be stopped, so waits just time out.
  if (thread_.joinable() || stopping_ || stop_fd_ < 0) return watch;
  try {
    thread_ = start_quiet_thread([this] { run(); });
  } catch (const std::system_error&) {
    // No thread is available: waits just time out.
  }
  return watch;
}

void Listener::stop() {
  const std::lock_guard lock(starting_);
  if (stopping_.exchange(true)) return;
  if (thread_.joinable()) {
    eventfd_write(stop_fd_, 1);
    thread_.join();
  }
  watches_->wake_all();
}

void Listener::run() {
  GrowingPause backoff(std::chrono::seconds(1));
  while (!stopping_) {
    const auto began = BootClock::now();
    const auto at_least = listen_once();
    if (BootClock::now() - began > silence) backoff.reset();
    sleep(-1, std::max(at_least, backoff.next()));
  }
}

/// Connects, listens and follows until the connection ends. Returns how long to wait before the next attempt.
Duration Listener::listen_once() {
  auto connection = Connection::connect(conninfo_, BootClock::now() + connect_timeout);
  if (!connection) return connection.error().code == Errc::unavailable ? 0s : silence;
  const auto outcome = (*connection)->script("LISTEN " + channel_, BootClock::now() + connect_timeout);
  if (outcome.failure) return outcome.failure->fate == Fate::rolled_back ? silence : 0s;
  watches_->wake_all();
  follow(**connection);
  return 0s;
}

void Listener::follow(Connection& connection) {
  for (;;) {
    const auto woken = sleep(connection.socket(), silence);
    if (woken == Woken::by_stop) return;
    if (woken == Woken::by_server && !hear(connection)) return;
    if (woken == Woken::by_timeout) {
      // Notifications that arrive during the check are missed: wake all watches.
      if (connection.script("SELECT 1", BootClock::now() + connect_timeout).failure) return;
      watches_->wake_all();
    }
  }
}

bool Listener::hear(Connection& connection) {
  std::vector<std::string> topics;
  const bool alive = connection.read_notifications(topics);
  for (const auto& topic : topics) watches_->wake(topic);
  return alive;
}

Listener::Woken Listener::sleep(int socket, Duration longest) const {
  std::array<pollfd, 2> watched = {pollfd{.fd = stop_fd_, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = socket, .events = POLLIN, .revents = 0}};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
  const int ready = poll(watched.data(), watched.size(), static_cast<int>(ms));
  if (watched[0].revents != 0) return Woken::by_stop;
  return ready > 0 ? Woken::by_server : Woken::by_timeout;
}

}  // namespace leasehold::postgres

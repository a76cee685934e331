#include "lease/recall.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/quiet_thread.h"
#include "storage/query.h"

namespace leasehold::lease {
namespace {

/// Between two looks; longer while the store cannot be reached.
constexpr Duration normal_pause = std::chrono::seconds(1);
constexpr Duration longest_pause = std::chrono::seconds(5);
/// How long one look may take.
constexpr Duration patience = std::chrono::seconds(2);

}  // namespace

/// Shared with the thread and the watches: a callback may destroy the last handle of the store.
struct Recalls::State {
  struct Watched {
    std::int64_t lease_id;
    OnNews on_news;
  };

  explicit State(std::shared_ptr<storage::Backend> its_backend) : backend(std::move(its_backend)) {}

  [[nodiscard]] bool in_own_process() const { return process == ::getpid(); }

  void run() {
    std::unique_lock lock(mutex);
    runner = std::this_thread::get_id();
    auto pause = normal_pause;
    while (!ending) {
      changed.wait(lock, [this] { return ending || !watched.empty(); });
      const auto next = BootClock::now() + pause;
      if (wait_until(changed, lock, next, [this] { return ending; })) return;
      const auto news = look(lock);
      pause = news ? normal_pause : std::min(pause * 2, longest_pause);
      if (news) deliver(*news, lock);
    }
  }

  using News = std::map<std::int64_t, LeaseNews>;

  /// Nothing: the store could not be reached.
  std::optional<News> look(std::unique_lock<std::mutex>& lock) {
    std::vector<std::int64_t> ids;
    for (const auto& [number, each] : watched) ids.push_back(each.lease_id);
    if (ids.empty()) return News{};
    lock.unlock();
    const auto rows = storage::query(*backend, sql::LeaseNews{.lease_ids = ids}, BootClock::now() + patience);
    lock.lock();
    if (!rows) return std::nullopt;
    News news;
    for (const auto& row : *rows) {
      auto& of_lease = news[row.lease_id];
      row.job_id ? of_lease.cancelled.push_back(*row.job_id) : void(of_lease.ended = true);
    }
    return news;
  }

  void deliver(const News& news, std::unique_lock<std::mutex>& lock) {
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, each] : watched) {
      if (news.contains(each.lease_id)) numbers.push_back(number);
    }
    for (const auto number : numbers) {
      const auto found = watched.find(number);
      if (found == watched.end()) continue;
      auto each = found->second;
      notifying = number;
      lock.unlock();
      each.on_news(news.at(each.lease_id));
      // Without the lock: destroying what the callback owns may end another watch.
      each.on_news = nullptr;
      lock.lock();
      notifying = 0;
      changed.notify_all();
    }
  }

  void forget(std::uint64_t number) {
    // Destroyed last, without the lock: what the callback owns may end another watch.
    std::map<std::uint64_t, Watched>::node_type gone;
    std::unique_lock lock(mutex);
    gone = watched.extract(number);
    if (std::this_thread::get_id() != runner) changed.wait(lock, [&] { return notifying != number; });
  }

  const pid_t process = ::getpid();
  const std::shared_ptr<storage::Backend> backend;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::uint64_t, Watched> watched;
  std::uint64_t last_number = 0;
  std::uint64_t notifying = 0;  ///< the callback that runs now
  std::thread::id runner;
  bool ending = false;
};

Recalls::Recalls(std::shared_ptr<storage::Backend> backend) : state_(std::make_shared<State>(std::move(backend))) {}

Recalls::~Recalls() {
  if (!thread_.joinable()) return;
  if (!state_->in_own_process()) {
    // After a fork the child has no such thread, only its handle.
    static_cast<void>(new (std::nothrow) std::thread(std::move(thread_)));
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->changed.notify_all();
  thread_.get_id() == std::this_thread::get_id() ? thread_.detach() : thread_.join();
}

std::shared_ptr<void> Recalls::watch(std::int64_t lease_id, OnNews on_news) {
  if (!state_->in_own_process()) return nullptr;
  {
    const std::lock_guard lock(starting_);
    try {
      if (!thread_.joinable()) thread_ = start_quiet_thread([state = state_] { state->run(); });
    } catch (const std::system_error&) {
      return nullptr;
    }
  }
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(state_->mutex);
    number = ++state_->last_number;
    state_->watched.emplace(number, State::Watched{lease_id, std::move(on_news)});
  }
  state_->changed.notify_all();
  return {nullptr, [state = state_, number](void*) {
            if (state->in_own_process()) state->forget(number);
          }};
}

HeldLease::Watch watch_with(std::shared_ptr<Recalls> recalls) {
  return [recalls = std::move(recalls)](const Grant& grant, std::function<void()> heartbeat_now) {
    return recalls->watch(grant.lease_id, [heartbeat_now = std::move(heartbeat_now)](const LeaseNews& news) {
      if (news.ended) heartbeat_now();
    });
  };
}

}  // namespace leasehold::lease

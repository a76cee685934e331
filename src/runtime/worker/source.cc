#include "runtime/worker/source.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "store/store.h"

namespace leasehold::worker {
namespace {

// On a busy store most wake-ups are for others; the reaction to them slows down, up to this.
constexpr Duration longest_damping = std::chrono::milliseconds(50);
// After this long without a wake-up, the store is not busy.
constexpr Duration quiet_enough = std::chrono::milliseconds(100);

void sleep_unless_stopped(Duration length, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, std::move(stop), length, [] { return false; });
}

}  // namespace

JobsSource::JobsSource(const Store& store, Listening listening, Holder holder, Duration ttl,
                       std::optional<Duration> timeout)
    : jobs(store.jobs()),
      listening_(std::move(listening)),
      holder_(std::move(holder)),
      ttl_(ttl),
      timeout_(timeout),
      watch_(jobs.watch(listening_.queues)),
      housekeeper_(store.impl().housekeeper) {}

Result<JobGrant> JobsSource::claim(const std::string& queue, int max, const SharedLease& lease) {
  auto grant = jobs.claim(queue, {.max = max, .timeout = timeout_}, {.holder = holder_, .lease = lease});
  if (grant) damping_ = Duration(0);
  return grant;
}

void JobsSource::wait_for_work(BootTime until, const std::stop_token& stop) {
  housekeeper_->when_idle();
  if (damping_ > Duration(0)) sleep_unless_stopped(damping_, stop);
  const std::stop_callback on_stop(stop, [this] { watch_.wake(); });
  const auto quiet_at = std::min(until, BootClock::now() + quiet_enough);
  watch_.wait(until);
  damping_ = BootClock::now() < quiet_at
                 ? std::clamp<Duration>(damping_ * 2, std::chrono::milliseconds(1), longest_damping)
                 : Duration(0);
}

}  // namespace leasehold::worker

#include "worker/jobs_source.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace leasehold::worker {
namespace {

// On a busy store most wake-ups are for others; they are answered ever more slowly, up to this.
constexpr Duration longest_damping = std::chrono::milliseconds(50);
// After so long without a wake-up the store is not busy.
constexpr Duration quiet_enough = std::chrono::milliseconds(100);

void sleep_unless_stopped(Duration length, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, std::move(stop), length, [] { return false; });
}

}  // namespace

JobsSource::JobsSource(const Store& store, const std::vector<std::string>& queues, Holder holder, Duration ttl)
    : jobs_(store.jobs()), holder_(std::move(holder)), ttl_(ttl), watch_(jobs_.watch(queues)) {}

Result<WorkLease> JobsSource::open_lease() { return jobs_.open_lease(holder_, ttl_); }

Result<Jobs::Extended> JobsSource::extend(const WorkLease& lease) { return jobs_.extend(lease); }

Result<void> JobsSource::close(const WorkLease& lease) { return jobs_.close(lease); }

Result<JobGrant> JobsSource::claim(const std::string& queue, int most, const WorkLease& lease) {
  auto grant = jobs_.claim(queue, {.most = most, .ttl = ttl_, .holder = holder_, .attach = lease});
  if (grant) damping_ = Duration(0);
  return grant;
}

Result<JobHeartbeat> JobsSource::heartbeat(JobId id, Token token, const Progress& progress) {
  return jobs_.heartbeat(id, token, progress);
}

Result<std::vector<Result<Settled>>> JobsSource::complete(std::span<const JobVerdict> jobs) {
  return jobs_.complete(jobs);
}

Result<std::vector<Result<Settled>>> JobsSource::release(std::span<const JobVerdict> jobs) {
  return jobs_.release(jobs);
}

Result<Settled> JobsSource::fail(JobId id, Token token, const FailOptions& options) {
  return jobs_.fail(id, token, options);
}

Result<Settled> JobsSource::snooze(JobId id, Token token, Duration delay) { return jobs_.snooze(id, token, delay); }

void JobsSource::wait_for_work(BootTime until, const std::stop_token& stop) {
  if (damping_ > Duration(0)) sleep_unless_stopped(damping_, stop);
  const std::stop_callback on_stop(stop, [this] { watch_.wake(); });
  const auto quiet_at = std::min(until, BootClock::now() + quiet_enough);
  watch_.wait(until);
  damping_ = BootClock::now() < quiet_at
                 ? std::clamp<Duration>(damping_ * 2, std::chrono::milliseconds(1), longest_damping)
                 : Duration(0);
}

}  // namespace leasehold::worker

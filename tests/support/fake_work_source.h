// A store made of memory for the worker runtime, that the test breaks, holds up and looks into.
//
//   FakeWorkSource source(100ms);
//   source.add("mail", 3);
//   ... run_worker(source, ...) on another thread ...
//   ASSERT_TRUE(source.await([](const auto& seen) { return seen.completed.size() == 3; }));
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "worker/source.h"

namespace leasehold::support {

class FakeWorkSource final : public worker::WorkSource {
 public:
  /// What the worker did so far.
  struct Seen {
    std::vector<std::pair<std::string, int>> claims;  ///< queue, most
    std::vector<std::int64_t> claim_leases;           ///< attached to
    std::vector<std::size_t> complete_batches;
    std::vector<JobId> completed;
    std::vector<JobId> released;
    std::map<JobId, std::string> failed;
    std::map<JobId, Duration> snoozed;
    std::map<JobId, std::string> progress;  ///< the latest message
    std::map<JobId, int> heartbeats;
    std::vector<std::int64_t> opened;
    std::vector<std::int64_t> closed;
    int beats = 0;
    int complete_calls = 0;
    int waits = 0;  ///< how often it lay down to wait for work
    std::vector<std::size_t> claims_before_wait;
  };
  using Answer = std::optional<Error>;

  explicit FakeWorkSource(Duration ttl) : ttl_(ttl) {}

  std::vector<JobId> add(const std::string& queue, int jobs, bool alone = false) {
    std::vector<JobId> ids;
    {
      const std::lock_guard lock(mutex_);
      for (int i = 0; i < jobs; ++i) {
        ids.push_back(++last_job_);
        ready_[queue].push_back(last_job_);
        if (alone) alone_.insert(last_job_);
      }
      news_ = true;
    }
    changed_.notify_all();
    return ids;
  }

  /// Every call fails like this until it is nothing.
  void fail_all_with(Answer error) {
    change([&] { broken_ = std::move(error); });
  }
  /// Only claims, so many times.
  void fail_claims_with(Error error, int times) {
    change([&] {
      claim_error_ = std::move(error);
      claim_errors_ = times;
    });
  }
  void fail_completes_with(Error error, int times) {
    change([&] {
      complete_error_ = std::move(error);
      complete_errors_ = times;
    });
  }
  /// The claim takes its jobs, but its answer does not arrive.
  void lose_next_claim() {
    change([&] { lose_claim_ = true; });
  }
  void lose_lease(std::int64_t id) {
    change([&] { lost_leases_.insert(id); });
  }
  void lose_job(JobId id) {
    change([&] { lost_jobs_.insert(id); });
  }
  void cancel(JobId id) {
    change([&] { cancelled_.insert(id); });
  }
  void limit_running(std::size_t most) {
    change([&] { limit_ = most; });
  }
  /// Completions wait in the store until they are let through.
  void hold_completes(bool hold) {
    change([&] { holding_ = hold; });
  }

  /// True as soon as it is so; false after ten seconds. Looks again with every call of the worker, and now and then.
  bool await(const std::function<bool(const Seen&)>& so) {
    const auto give_up = BootClock::now() + std::chrono::seconds(10);
    std::unique_lock lock(mutex_);
    while (!so(seen_)) {
      if (BootClock::now() >= give_up) return false;
      changed_.wait_for(lock, std::chrono::milliseconds(5));
    }
    return true;
  }
  Seen seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

  Result<WorkLease> open_lease() override {
    const Act act(*this);
    if (broken_) return *broken_;
    seen_.opened.push_back(++last_lease_);
    return WorkLease{.id = last_lease_, .instance = "fake", .ttl = ttl_, .expires_at = {}, .trusted_until = trusted()};
  }

  Result<Jobs::Extended> extend(const WorkLease& lease) override {
    const Act act(*this);
    ++seen_.beats;
    if (broken_) return *broken_;
    if (lost_leases_.contains(lease.id)) return lost();
    return Jobs::Extended{.heartbeat = {.ttl = ttl_, .expires_at = {}, .trusted_until = trusted()},
                          .cancelled = {cancelled_.begin(), cancelled_.end()}};
  }

  Result<void> close(const WorkLease& lease) override {
    const Act act(*this);
    if (broken_) return *broken_;
    seen_.closed.push_back(lease.id);
    return {};
  }

  Result<JobGrant> claim(const std::string& queue, int most, const WorkLease& lease) override {
    const Act act(*this);
    seen_.claims.emplace_back(queue, most);
    seen_.claim_leases.push_back(lease.id);
    if (broken_) return *broken_;
    if (claim_errors_ > 0) {
      --claim_errors_;
      return claim_error_;
    }
    if (lost_leases_.contains(lease.id)) return lost();
    auto& ready = ready_[queue];
    if (ready.empty()) return Error{.code = Errc::empty, .message = "nothing to do"};
    const auto places = limit_ == 0 ? ready.size() : limit_ - std::min(limit_, running_.size());
    if (places == 0) return Error{.code = Errc::at_capacity, .message = "as many as may be"};
    auto grant = take(queue, std::min(places, static_cast<std::size_t>(most)), lease);
    if (std::exchange(lose_claim_, false)) return Error{.code = Errc::in_doubt, .message = "the answer was lost"};
    return grant;
  }

  Result<JobHeartbeat> heartbeat(JobId id, Token, const Progress& progress) override {
    const Act act(*this);
    if (broken_) return *broken_;
    ++seen_.heartbeats[id];
    if (!progress.message.empty()) seen_.progress[id] = progress.message;
    if (lost_jobs_.contains(id)) return lost();
    return JobHeartbeat{
        .ttl = ttl_, .expires_at = {}, .trusted_until = trusted(), .cancel_requested = cancelled_.contains(id)};
  }

  Result<std::vector<Result<Settled>>> complete(std::span<const JobVerdict> jobs) override {
    Act act(*this);
    ++seen_.complete_calls;
    changed_.notify_all();
    changed_.wait(act.lock, [this] { return !holding_; });
    if (broken_) return *broken_;
    if (complete_errors_ > 0) {
      --complete_errors_;
      return complete_error_;
    }
    const auto too_large = [](const JobVerdict& job) { return job.result.size() > 1000; };
    if (std::any_of(jobs.begin(), jobs.end(), too_large)) {
      return Error{.code = Errc::invalid_argument, .message = "the result is too large"};
    }
    seen_.complete_batches.push_back(jobs.size());
    return settle(jobs, seen_.completed, JobState::completed);
  }

  Result<std::vector<Result<Settled>>> release(std::span<const JobVerdict> jobs) override {
    const Act act(*this);
    if (broken_) return *broken_;
    return settle(jobs, seen_.released, JobState::available);
  }

  Result<Settled> fail(JobId id, Token, const FailOptions& options) override {
    const Act act(*this);
    if (broken_) return *broken_;
    running_.erase(id);
    seen_.failed[id] = options.error;
    if (!options.retryable) seen_.failed[id] += " (for good)";
    if (options.delay) seen_.failed[id] += " (later)";
    return Settled{.state = options.retryable ? JobState::deferred : JobState::failed};
  }

  Result<Settled> snooze(JobId id, Token, Duration delay) override {
    const Act act(*this);
    if (broken_) return *broken_;
    running_.erase(id);
    seen_.snoozed[id] = delay;
    return Settled{.state = JobState::deferred};
  }

  /// Does not come back by itself, unless the worker wants to look again soon.
  void wait_for_work(BootTime until, const std::stop_token& stop) override {
    const std::stop_callback wake(stop, [this] { change([] {}); });
    Act act(*this);
    ++seen_.waits;
    seen_.claims_before_wait.push_back(seen_.claims.size());
    changed_.notify_all();
    const auto longest = std::min<Duration>(until - BootClock::now(), std::chrono::seconds(10));
    changed_.wait_for(act.lock, longest, [&] { return news_ || stop.stop_requested(); });
    news_ = false;
  }

 private:
  /// One call: alone, and the test looks again afterwards.
  struct Act {
    explicit Act(FakeWorkSource& whose) : source(whose), lock(whose.mutex_) {}
    Act(const Act&) = delete;
    Act& operator=(const Act&) = delete;
    ~Act() {
      lock.unlock();
      source.changed_.notify_all();
    }
    FakeWorkSource& source;
    std::unique_lock<std::mutex> lock;
  };

  template <typename Change>
  void change(Change&& how) {
    {
      const std::lock_guard lock(mutex_);
      how();
    }
    changed_.notify_all();
  }

  static Error lost() {
    return {.code = Errc::lost, .message = "the lease is lost", .lost_reason = LostReason::expired};
  }
  [[nodiscard]] BootTime trusted() const { return BootClock::now() + ttl_; }

  JobGrant take(const std::string& queue, std::size_t most, const WorkLease& lease) {
    auto& ready = ready_[queue];
    JobGrant grant{.jobs = {}, .token = {++last_token_}, .lease_id = lease.id, .holder = {}, .ttl = ttl_};
    grant.trusted_until = trusted();
    while (!ready.empty() && grant.jobs.size() < most && !grant.alone) {
      const auto id = ready.front();
      grant.alone = alone_.contains(id);
      if (grant.alone && !grant.jobs.empty()) {
        grant.alone = false;
        break;
      }
      ready.pop_front();
      running_.insert(id);
      grant.jobs.push_back({.id = id, .token = grant.token, .queue = queue, .payload = "payload"});
    }
    if (grant.alone) grant.lease_id = ++last_lease_;
    return grant;
  }

  std::vector<Result<Settled>> settle(std::span<const JobVerdict> jobs, std::vector<JobId>& where, JobState state) {
    std::vector<Result<Settled>> answers;
    for (const auto& job : jobs) {
      running_.erase(job.id);
      where.push_back(job.id);
      answers.emplace_back(Settled{.state = cancelled_.contains(job.id) ? JobState::cancelled : state});
      cancelled_.erase(job.id);
    }
    return answers;
  }

  const Duration ttl_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Seen seen_;
  std::map<std::string, std::deque<JobId>> ready_;
  std::set<JobId> alone_;
  std::set<JobId> running_;
  std::set<JobId> cancelled_;
  std::set<JobId> lost_jobs_;
  std::set<std::int64_t> lost_leases_;
  Answer broken_;
  Error claim_error_;
  int claim_errors_ = 0;
  Error complete_error_;
  int complete_errors_ = 0;
  bool lose_claim_ = false;
  bool holding_ = false;
  bool news_ = false;
  std::size_t limit_ = 0;
  JobId last_job_ = 0;
  std::int64_t last_lease_ = 100;
  std::int64_t last_token_ = 1000;
};

}  // namespace leasehold::support

#include "runtime/worker/settler.h"

#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/quiet_thread.h"

namespace leasehold::worker {
namespace {

// A batch of this size is worth a commit.
constexpr std::size_t enough = 64;
// How long a verdict waits for others, but only while there are unstarted jobs.
constexpr Duration linger = std::chrono::milliseconds(2);

const Error too_late{.code = Errc::lost, .message = "the lease was lost before the verdict was written"};

std::int64_t WorkSummary::*counter_of(Verdict::Kind verdict, JobState state) {
  if (state == JobState::cancelled) return &WorkSummary::cancelled;
  switch (verdict) {
    case Verdict::Kind::complete: return &WorkSummary::completed;
    case Verdict::Kind::fail: return &WorkSummary::failed;
    case Verdict::Kind::release: return &WorkSummary::released;
    case Verdict::Kind::snooze:
    case Verdict::Kind::skip: break;
  }
  return &WorkSummary::snoozed;
}

}  // namespace

Settler::Settler(const Jobs& jobs, Workbench& bench, Tally<WorkSummary>& tally, const Report& report)
    : jobs_(jobs), bench_(bench), tally_(tally), report_(report), thread_(start_quiet_thread([this] { run(); })) {}

void Settler::add(const AttemptPtr& attempt, Verdict verdict) {
  if (!attempt->begin_verdict()) return;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({attempt, std::move(verdict)});
    // In between the thread lingers, and need not be woken for each verdict.
    wake = waiting_.size() == 1 || waiting_.size() >= enough || !bench_.has_unstarted();
  }
  if (wake) changed_.notify_one();
}

void Settler::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Settler::run() {
  Pendings batch;
  while (gather(batch)) batch = settle(std::exchange(batch, {}));
}

/// Adds new verdicts to those that must be repeated. False: nothing is left to send.
bool Settler::gather(Pendings& batch) {
  std::unique_lock lock(mutex_);
  if (batch.empty()) {
    pause_.reset();
    changed_.wait(lock, [this] { return finishing_ || !waiting_.empty(); });
    if (waiting_.empty()) return false;
    wait_until(changed_, lock, BootClock::now() + linger,
               [this] { return finishing_ || waiting_.size() >= enough || !bench_.has_unstarted(); });
  } else {
    wait_until(changed_, lock, BootClock::now() + pause_.next(), [] { return false; });
  }
  std::move(waiting_.begin(), waiting_.end(), std::back_inserter(batch));
  waiting_.clear();
  return true;
}

/// Returns the verdicts that must be repeated.
Settler::Pendings Settler::settle(Pendings batch) {
  std::erase_if(batch, [this](const Pending& pending) {
    const bool lost = pending.attempt->lease->lost();
    if (lost) give_up(pending, too_late);
    return lost;
  });
  Pendings again;
  settle_many(batch, again);
  return again;
}

void Settler::settle_many(std::span<Pending> batch, Pendings& again) {
  if (batch.empty()) return;
  auto answers = jobs_.settle(settlements_of(batch));
  const bool one_spoils_all = !answers && answers.error().code == Errc::invalid_argument && batch.size() > 1;
  if (one_spoils_all) {
    for (auto& pending : batch) settle_many({&pending, 1}, again);
    return;
  }
  bool reported = false;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto answer = answers ? (*answers)[i] : Result<JobSettled>(answers.error());
    if (!answer && may_repeat(answer.error().code) && !std::exchange(reported, true)) report_(answer.error());
    conclude(batch[i], answer, again);
  }
}

void Settler::conclude(Pending& pending, const Result<JobSettled>& answer, Pendings& again) {
  if (answer) {
    tally_.add(counter_of(pending.verdict.kind, answer->state));
    bench_.settled(1);
    return;
  }
  const auto& error = answer.error();
  if (may_repeat(error.code)) {
    again.push_back(std::move(pending));
  } else if (error.code == Errc::invalid_argument && !pending.instead) {
    // For example a result that is too large. The job must not stay with us forever.
    Pending instead{pending.attempt, Verdict::fail("the verdict was not accepted: " + error.message), true};
    settle_many({&instead, 1}, again);
  } else {
    give_up(pending, error);
  }
}

void Settler::give_up(const Pending& pending, const Error& why) {
  report_({.code = why.code,
           .message = "job " + std::to_string(pending.attempt->job.id) + ": " + why.message,
           .lost_reason = why.lost_reason,
           .held_by = why.held_by});
  tally_.add(&WorkSummary::lost);
  bench_.settled(1);
}

std::vector<Settlement> Settler::settlements_of(std::span<const Pending> batch) {
  std::vector<Settlement> settlements;
  settlements.reserve(batch.size());
  for (const auto& [attempt, verdict, instead] : batch) {
    settlements.push_back({.id = attempt->job.id, .token = attempt->job.token, .verdict = verdict});
  }
  return settlements;
}

}  // namespace leasehold::worker

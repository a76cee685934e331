#include "runtime/worker/settler.h"

#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/quiet_thread.h"

namespace leasehold::worker {
namespace {

// So many make a batch worth a commit.
constexpr std::size_t enough = 64;
// How long a verdict waits for others, and only while there are jobs that were not started yet.
constexpr Duration linger = std::chrono::milliseconds(2);

const Error too_late{.code = Errc::lost, .message = "the lease was lost before the verdict was written"};

std::int64_t WorkSummary::*counter_of(Verdict::Kind verdict, JobState state) {
  if (state == JobState::cancelled) return &WorkSummary::cancelled;
  switch (verdict) {
    case Verdict::Kind::complete: return &WorkSummary::completed;
    case Verdict::Kind::fail: return &WorkSummary::failed;
    case Verdict::Kind::release: return &WorkSummary::released;
    case Verdict::Kind::snooze: break;
  }
  return &WorkSummary::snoozed;
}

}  // namespace

Settler::Settler(const Jobs& jobs, Workbench& bench, Tally<WorkSummary>& tally, const Tell& tell)
    : jobs_(jobs), bench_(bench), tally_(tally), tell_(tell), thread_(start_quiet_thread([this] { run(); })) {}

void Settler::add(const AttemptPtr& attempt, Verdict verdict) {
  if (!attempt->begin_verdict()) return;
  bool tell = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({attempt, std::move(verdict)});
    // In between it lingers, and need not be woken for each.
    tell = waiting_.size() == 1 || waiting_.size() >= enough || !bench_.has_unstarted();
  }
  if (tell) changed_.notify_one();
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
  Sayings batch;
  while (gather(batch)) batch = settle(std::exchange(batch, {}));
}

/// Adds to what has to be said again. False: nothing is left to say.
bool Settler::gather(Sayings& batch) {
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

/// Gives those that have to be said again.
Settler::Sayings Settler::settle(Sayings batch) {
  Sayings completes;
  Sayings releases;
  Sayings others;
  for (auto& saying : batch) {
    if (saying.attempt->lease->lost()) {
      give_up(saying, too_late);
      continue;
    }
    const auto kind = saying.verdict.kind;
    auto& group = kind == Verdict::Kind::complete ? completes : kind == Verdict::Kind::release ? releases : others;
    group.push_back(std::move(saying));
  }
  Sayings again;
  settle_many(completes, &Jobs::complete, again);
  settle_many(releases, &Jobs::release, again);
  for (auto& saying : others) settle_one(saying, again);
  return again;
}

void Settler::settle_many(std::span<Saying> sayings, SettleMany how, Sayings& again) {
  if (sayings.empty()) return;
  if (!again.empty()) {
    // The store was away a moment ago, and every further call would wait for it.
    std::move(sayings.begin(), sayings.end(), std::back_inserter(again));
    return;
  }
  auto answers = (jobs_.*how)(verdicts_of(sayings));
  const bool one_spoils_all = !answers && answers.error().code == Errc::invalid_argument && sayings.size() > 1;
  if (one_spoils_all) {
    for (auto& saying : sayings) settle_many({&saying, 1}, how, again);
    return;
  }
  if (!answers && may_repeat(answers.error().code)) tell_(answers.error());
  for (std::size_t i = 0; i < sayings.size(); ++i) {
    conclude(sayings[i], answers ? (*answers)[i] : Result<Settled>(answers.error()), again);
  }
}

void Settler::settle_one(Saying& saying, Sayings& again) {
  if (!again.empty()) {
    again.push_back(std::move(saying));
    return;
  }
  const auto& job = saying.attempt->job;
  const auto& verdict = saying.verdict;
  const FailOptions failure{.error = verdict.text, .retryable = verdict.retryable, .delay = verdict.delay};
  auto answer = verdict.kind == Verdict::Kind::snooze
                    ? jobs_.snooze(job.id, job.token, verdict.delay.value_or(Duration(0)))
                    : jobs_.fail(job.id, job.token, failure);
  if (!answer && may_repeat(answer.error().code)) tell_(answer.error());
  conclude(saying, answer, again);
}

void Settler::conclude(Saying& saying, const Result<Settled>& answer, Sayings& again) {
  if (answer) {
    tally_.add(counter_of(saying.verdict.kind, answer->state));
    bench_.settled(1);
    return;
  }
  const auto& error = answer.error();
  if (may_repeat(error.code)) {
    again.push_back(std::move(saying));
  } else if (error.code == Errc::invalid_argument && !saying.instead) {
    // A result that is too large, say. The job must not stay with us for ever.
    Saying instead{saying.attempt, Verdict::fail("the verdict was not accepted: " + error.message), true};
    settle_one(instead, again);
  } else {
    give_up(saying, error);
  }
}

void Settler::give_up(const Saying& saying, const Error& why) {
  tell_({.code = why.code,
         .message = "job " + std::to_string(saying.attempt->job.id) + ": " + why.message,
         .lost_reason = why.lost_reason,
         .current = why.current});
  tally_.add(&WorkSummary::lost);
  bench_.settled(1);
}

std::vector<JobVerdict> Settler::verdicts_of(std::span<const Saying> sayings) {
  std::vector<JobVerdict> verdicts;
  verdicts.reserve(sayings.size());
  for (const auto& [attempt, verdict, instead] : sayings) {
    verdicts.push_back({.id = attempt->job.id, .token = attempt->job.token, .result = verdict.text});
  }
  return verdicts;
}

}  // namespace leasehold::worker

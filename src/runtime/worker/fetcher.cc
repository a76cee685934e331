#include "runtime/worker/fetcher.h"

#include <algorithm>
#include <utility>

namespace leasehold::worker {
namespace {

// Wake-ups are hints; this look is reliable.
constexpr Duration look_again = std::chrono::seconds(1);
// For an empty queue, while other queues keep the worker busy.
constexpr Duration look_again_between = std::chrono::milliseconds(100);
// There is work, but another process is claiming it.
constexpr Duration look_again_when_busy = std::chrono::milliseconds(20);
// There should be no more jobs; if there are, they must not wait for long.
constexpr Duration look_again_after_the_rest = std::chrono::milliseconds(20);
// No wake-up comes when a job of another worker frees a place.
constexpr Duration look_again_when_full = std::chrono::milliseconds(100);

/// When to retry a queue that refused, if nothing else happens.
Duration patience_with(const Error& refusal) {
  if (refusal.code == Errc::busy) return look_again_when_busy;
  const auto longest = refusal.code == Errc::at_capacity ? look_again_when_full : look_again;
  return std::clamp<Duration>(refusal.retry_in.value_or(longest), std::chrono::milliseconds(1), longest);
}

}  // namespace

Fetcher::Fetcher(const Surroundings& around, std::vector<std::string> queues, WorkUntil until)
    : around_(around), until_(until) {
  for (auto& name : queues) queues_.push_back({.name = std::move(name)});
}

Result<void> Fetcher::run(const std::stop_token& stop) {
  auto& bench = *around_.bench;
  while (!bench.stopping()) {
    close_retired();
    return_stale();
    const int room = bench.wait_for_room(next_chore());
    if (room == 0) continue;
    const auto before = bench.progress();
    const auto round = go_round(until_ == WorkUntil::once ? 1 : room);
    if (fatal_) return *std::exchange(fatal_, std::nullopt);
    if (is_done(round, before)) return {};
    rest(round, before, stop);
  }
  return {};
}

/// Tries every queue once, beginning with the one in turn, as long as there is room.
Fetcher::Round Fetcher::go_round(int room) {
  if (!open_lease()) return Round::failed;
  auto round = Round::nothing_there;
  const auto first = turn_;
  for (std::size_t i = 0; i < queues_.size() && room > 0; ++i) {
    const auto index = (first + i) % queues_.size();
    auto& queue = queues_[index];
    if (BootClock::now() < queue.not_before) {
      round = std::min(round, Round::left_some_out);
      continue;
    }
    const auto asked_at = BootClock::now();
    auto grant = around_.source.claim(queue.name, room, lease_->work);
    if (grant) {
      const int asked = std::exchange(room, room - static_cast<int>(grant->jobs.size()));
      turn_ = index + 1;
      round = std::min(round, lay_down(queue, std::move(*grant), asked, asked_at));
    } else if (may_wait(grant.error().code)) {
      round = std::min(round, refused(queue, std::move(grant).error()));
    } else {
      return claim_failed(grant.error());
    }
  }
  return round;
}

Fetcher::Round Fetcher::lay_down(Queue& queue, JobGrant grant, int asked, BootTime asked_at) {
  pause_.reset();
  queue.not_before = {};
  queue.patience_ends = BootClock::now() + look_again_after_the_rest;
  // These jobs woke us. Another claim right now would cost a commit, just when the job should start. Skipped only once
  // in a row, because limits make small grants, too.
  const bool the_rest = std::exchange(queue.was_empty, false) && !grant.solo &&
                        grant.jobs.size() < static_cast<std::size_t>(asked) && until_ == WorkUntil::stopped;
  around_.tally.add(&WorkSummary::claimed, grant.jobs.size());
  const auto lease = grant.lease_id == lease_->work.id ? lease_->live : keep_alone(grant);
  std::vector<AttemptPtr> attempts;
  std::vector<AttemptPtr> limited;
  attempts.reserve(grant.jobs.size());
  for (auto& job : grant.jobs) {
    attempts.push_back(std::make_shared<Attempt>(std::move(job), lease, asked_at));
    if (attempts.back()->limit()) limited.push_back(attempts.back());
  }
  around_.bench->put(std::move(attempts));
  // Afterwards, because the limit of a slow claim may be close: what is not on the bench yet cannot be given back.
  for (const auto& attempt : limited) watch_limit(attempt);
  return the_rest ? Round::got_the_rest : Round::got_some;
}

void Fetcher::watch_limit(const AttemptPtr& attempt) {
  const auto give_back = [&bench = *around_.bench, &settler = around_.settler](const AttemptPtr& late) {
    if (!bench.take_back(late)) return false;
    settler.add(late, Verdict::release());
    return true;
  };
  const auto fail = [&settler = around_.settler](const AttemptPtr& late) { settler.add(late, late->timed_out()); };
  attempt->watch_limit({give_back, fail}, attempt);
}

Fetcher::Round Fetcher::refused(Queue& queue, Error why) {
  pause_.reset();
  const auto code = why.code;
  queue.was_empty = code == Errc::empty;
  queue.patience_ends = BootClock::now() + patience_with(why);
  queue.not_before = std::min(queue.patience_ends, BootClock::now() + look_again_between);
  refusal_ = std::move(why);
  return code == Errc::empty || code == Errc::paused ? Round::nothing_there : Round::got_nothing;
}

Fetcher::Round Fetcher::claim_failed(const Error& why) {
  around_.report(why);
  if (why.code == Errc::lost) {
    lease_->live->lose();
  } else if (why.code == Errc::in_doubt) {
    // Jobs that we never received may be attached to the lease, and stay with it until it ends. So attach nothing more
    // to it, and end it with the last job that we know.
    retire_lease();
  } else if (!may_repeat(why.code)) {
    fatal_ = why;
  }
  return Round::failed;
}

bool Fetcher::open_lease() {
  if (lease_ && lease_->live->lost()) retire_lease();
  if (lease_) return true;
  auto opened = around_.source.open_lease();
  if (!opened) {
    around_.report(opened.error());
    if (!may_repeat(opened.error().code)) fatal_ = std::move(opened).error();
    return false;
  }
  auto extend = [&jobs = around_.source.jobs, work = *opened]() -> Result<Beat> {
    auto extended = jobs.extend(work);
    if (!extended) return std::move(extended).error();
    return Beat{extended->heartbeat.trusted_until, std::move(extended->cancelled)};
  };
  auto live = keep(opened->id, opened->ttl, opened->trusted_until, std::move(extend));
  lease_ = OpenLease{std::move(*opened), std::move(live)};
  return true;
}

std::shared_ptr<LiveLease> Fetcher::keep_alone(const JobGrant& grant) {
  auto extend = [&jobs = around_.source.jobs, id = grant.jobs.front().id, token = grant.token]() -> Result<Beat> {
    const auto extended = jobs.heartbeat(id, token);
    if (!extended) return extended.error();
    Beat beat{extended->trusted_until};
    if (extended->cancel_requested) beat.cancelled.push_back(id);
    return beat;
  };
  return keep(grant.lease_id, grant.ttl, grant.trusted_until, std::move(extend));
}

std::shared_ptr<LiveLease> Fetcher::keep(std::int64_t lease_id, Duration ttl, BootTime trusted_until,
                                         LiveLease::Extend extend) {
  auto live = LiveLease::start(ttl, trusted_until, std::move(extend), [bench = around_.bench](const LiveLease& lost) {
    bench->stop_running(&lost, StopReason::lost);
  });
  around_.beater.keep(live, lease_id);
  return live;
}

void Fetcher::retire_lease() {
  retired_.push_back(std::move(*lease_));
  lease_.reset();
}

/// Closes a retired lease when no job runs under it any more: closing gives its jobs to other workers.
void Fetcher::close_retired() {
  std::erase_if(retired_, [this](const OpenLease& retired) {
    if (retired.live.use_count() > 1) return false;
    // From here on the lease is neither extended nor reported as lost.
    retired.live->lose();
    // If this fails, the lease expires by itself.
    static_cast<void>(around_.source.jobs.close(retired.work));
    return true;
  });
}

void Fetcher::close_leases() {
  if (lease_) retire_lease();
  for (const auto& retired : retired_) {
    retired.live->lose();
    if (auto closed = around_.source.jobs.close(retired.work); !closed && !ends_lease(closed.error().code)) {
      around_.report(closed.error());
    }
  }
  retired_.clear();
}

/// Releases jobs that wait here while other workers may have time for them.
void Fetcher::return_stale() {
  if (!lease_) return;
  for (const auto& attempt : around_.bench->take_back(BootClock::now() - lease_->work.ttl / 2)) {
    around_.settler.add(attempt, Verdict::release());
  }
}

BootTime Fetcher::next_chore() const {
  auto next = retired_.empty() ? BootTime::max() : BootClock::now() + look_again;
  const auto oldest = around_.bench->oldest_claim();
  // One tick later, so that the job is stale by then.
  if (lease_ && oldest) next = std::min(next, *oldest + lease_->work.ttl / 2 + Duration(1));
  return next;
}

bool Fetcher::is_done(Round round, const Workbench::Progress& before) const {
  switch (until_) {
    case WorkUntil::stopped: return false;
    // Before the round no job was in hand that could have enqueued new ones.
    case WorkUntil::empty: return round == Round::nothing_there && before.in_hand == 0;
    case WorkUntil::once: break;
  }
  const bool busy = refusal_ && refusal_->code == Errc::busy;
  return around_.tally.summary().claimed > 0 || (round != Round::failed && !busy);
}

/// Sleeps until another round makes sense.
void Fetcher::rest(Round round, const Workbench::Progress& before, const std::stop_token& stop) {
  auto& bench = *around_.bench;
  if (round == Round::got_some) return;
  if (round == Round::failed) {
    bench.sleep(BootClock::now() + pause_.next());
    return;
  }
  auto until = BootTime::max();
  for (auto& queue : queues_) {
    until = std::min(until, queue.patience_ends);
    queue.not_before = {};
  }
  if (round == Round::left_some_out) return;
  // Our own jobs may free a place, or enqueue the last jobs to do.
  const bool ours_may_help = round == Round::got_nothing || until_ == WorkUntil::empty;
  if (ours_may_help && before.in_hand > 0) {
    bench.wait_for_verdict(before, until);
  } else {
    around_.source.wait_for_work(until, stop);
  }
}

}  // namespace leasehold::worker

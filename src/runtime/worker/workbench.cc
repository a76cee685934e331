#include "runtime/worker/workbench.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "leasehold/limits.h"

namespace leasehold::worker {
namespace {

// Claims wait when this many verdicts wait to be written.
constexpr std::size_t most_unwritten = 2000;

}  // namespace

Workbench::Workbench(const Size& size)
    : size_(size), seats_(static_cast<std::size_t>(size.seats)), unlimited_(size.prefetch) {}

int Workbench::prefetch_at_this_pace() const {
  if (pace_ == Duration(0) || unlimited_ < size_.prefetch) return 0;
  return static_cast<int>(std::min<std::int64_t>(size_.prefetch, size_.seats * (size_.lookahead / pace_)));
}

int Workbench::room() const {
  const int prefetch = prefetch_at_this_pace();
  const auto waiting = static_cast<int>(unstarted_.size());
  // Use up half of it first: a claim for every finished job would be a commit for every job.
  if (waiting > prefetch / 2) return 0;
  const auto unwritten = in_hand_ - unstarted_.size() - static_cast<std::size_t>(running_count_);
  if (unwritten >= most_unwritten) return 0;
  return std::clamp(size_.seats + prefetch - waiting - running_count_, 0, bounds::max_claim);
}

int Workbench::wait_for_room(BootTime until) {
  std::unique_lock lock(mutex_);
  wait_until(changed_, lock, until, [this] { return stopping_ || room() > 0; });
  return stopping_ ? 0 : room();
}

void Workbench::put(std::vector<AttemptPtr> attempts) {
  const bool many = attempts.size() > 1;
  {
    const std::lock_guard lock(mutex_);
    in_hand_ += attempts.size();
    for (const auto& attempt : attempts) unlimited_ = attempt->limit() ? 0 : std::min(unlimited_ + 1, size_.prefetch);
    std::move(attempts.begin(), attempts.end(), std::back_inserter(unstarted_));
    unstarted_count_ = unstarted_.size();
  }
  many ? work_came_.notify_all() : work_came_.notify_one();
}

/// The pace was, because this attempt could not be started: prefetch nothing until jobs are quick again.
void Workbench::too_optimistic(const Attempt& attempt) {
  pace_ = std::max(pace_, BootClock::now() - attempt.claimed_at);
}

std::vector<AttemptPtr> Workbench::take_back(BootTime claimed_before) {
  const std::lock_guard lock(mutex_);
  std::vector<AttemptPtr> back;
  // In order of arrival, so the old ones are in front.
  while (!unstarted_.empty() && unstarted_.front()->claimed_at < claimed_before) {
    too_optimistic(*unstarted_.front());
    back.push_back(std::move(unstarted_.front()));
    unstarted_.pop_front();
  }
  unstarted_count_ = unstarted_.size();
  return back;
}

bool Workbench::take_back(const AttemptPtr& attempt) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find(unstarted_.begin(), unstarted_.end(), attempt);
    if (found == unstarted_.end()) return false;
    too_optimistic(*attempt);
    unstarted_.erase(found);
    unstarted_count_ = unstarted_.size();
  }
  // The fetcher waits for the moment at which the oldest is stale.
  changed_.notify_all();
  return true;
}

std::optional<BootTime> Workbench::oldest_claim() const {
  const std::lock_guard lock(mutex_);
  return unstarted_.empty() ? std::nullopt : std::optional(unstarted_.front()->claimed_at);
}

void Workbench::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

bool Workbench::sleep(BootTime until) {
  std::unique_lock lock(mutex_);
  return !wait_until(changed_, lock, until, [this] { return stopping_.load(); });
}

AttemptPtr Workbench::take(int seat) {
  AttemptPtr attempt;
  bool has_room = false;
  {
    std::unique_lock lock(mutex_);
    work_came_.wait(lock, [this] { return closed_ || !unstarted_.empty(); });
    if (unstarted_.empty()) return nullptr;
    attempt = std::move(unstarted_.front());
    unstarted_.pop_front();
    unstarted_count_ = unstarted_.size();
    seats_[static_cast<std::size_t>(seat)] = attempt;
    ++running_count_;
    has_room = room() > 0;
  }
  if (has_room) changed_.notify_all();
  return attempt;
}

void Workbench::leave(int seat, Duration worked) {
  AttemptPtr left;  // dropped after the mutex is free
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    left = std::exchange(seats_[static_cast<std::size_t>(seat)], nullptr);
    --running_count_;
    const auto at_least = std::max(worked, Duration(1));
    pace_ = pace_ == Duration(0) ? at_least : (pace_ * 7 + at_least) / 8;
    wake = no_handler() || room() > 0;
  }
  if (wake) changed_.notify_all();
}

void Workbench::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  work_came_.notify_all();
}

void Workbench::settled(std::size_t count) {
  {
    const std::lock_guard lock(mutex_);
    in_hand_ -= count;
    settled_ += count;
  }
  changed_.notify_all();
}

Workbench::Progress Workbench::progress() const {
  const std::lock_guard lock(mutex_);
  return {in_hand_, settled_};
}

void Workbench::wait_for_verdict(const Progress& before, BootTime until) {
  std::unique_lock lock(mutex_);
  wait_until(changed_, lock, until, [&] { return stopping_ || settled_ != before.settled; });
}

void Workbench::wait_for_quiet() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || in_hand_ == 0; });
}

bool Workbench::wait_for_handlers(BootTime until) {
  std::unique_lock lock(mutex_);
  return wait_until(changed_, lock, until, [this] { return no_handler(); });
}

std::vector<AttemptPtr> Workbench::seated() const {
  std::vector<AttemptPtr> attempts;
  std::copy_if(seats_.begin(), seats_.end(), std::back_inserter(attempts),
               [](const auto& attempt) { return attempt != nullptr; });
  return attempts;
}

std::vector<AttemptPtr> Workbench::running() const {
  const std::lock_guard lock(mutex_);
  return seated();
}

void Workbench::stop_running(const LiveLease* lease, StopReason why) {
  // Not under the mutex: stop callbacks are the user's code.
  for (const auto& attempt : running()) {
    if (lease == nullptr || attempt->lease.get() == lease) attempt->stop(why);
  }
}

void Workbench::cancel(std::span<const JobId> ids) {
  if (ids.empty()) return;
  std::vector<AttemptPtr> in_hand;
  {
    const std::lock_guard lock(mutex_);
    in_hand = seated();
    in_hand.insert(in_hand.end(), unstarted_.begin(), unstarted_.end());
  }
  for (const auto& attempt : in_hand) {
    if (std::find(ids.begin(), ids.end(), attempt->job.id) != ids.end()) attempt->stop(StopReason::cancelled);
  }
}

}  // namespace leasehold::worker

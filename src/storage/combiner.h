// Combines the calls of several threads: one transaction, one commit, and each caller gets its own answer.
//
// It has no thread of its own. The first caller becomes the leader and runs the calls gathered so far; callers that
// arrive meanwhile wait, and one of them leads the next batch. The cost for a single caller is one mutex.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "storage/backend.h"

namespace leasehold::storage {

/// One caller's pending statement.
struct PendingCall {
  const Statement* statement;
  std::span<const Param> params;
  BootTime deadline;
  /// Many calls of this statement cost the store little more than one, so they prefer a batch with their own kind.
  bool alike = false;
  /// The position among its caller's calls. In a batch, every first call precedes every second call.
  int turn = 0;
  Result<Rows> answer{Rows{}};
  /// Set by run_batch instead of an answer: nothing happened, and the caller has to run the call itself.
  bool rerun = false;
};

/// The calls of one caller, in order.
inline std::vector<PendingCall> calls_for(std::span<const Question> questions, BootTime deadline) {
  std::vector<PendingCall> calls;
  calls.reserve(questions.size());
  for (const auto& question : questions) {
    const auto turn = static_cast<int>(calls.size());
    calls.push_back({.statement = question.statement, .params = question.params, .deadline = deadline, .turn = turn});
  }
  return calls;
}

class Combiner {
 public:
  static constexpr std::size_t max_batch = 64;
  /// With this many callers or more, a batch contains only one of the `alike` statements. The others go next, and
  /// callers answered in between send the same statement: in a loop of claim and complete, all claim, then all
  /// complete.
  static constexpr std::size_t worth_sorting = 8;
  /// How long a leader waits for callers that have just been answered to return with their next call.
  static constexpr Duration gather_time = std::chrono::microseconds(100);

  /// Up to `lanes` batches run at once; a further one starts only when it is full: sharing a commit is worth more than
  /// overtaking it.
  explicit Combiner(int lanes = 1) : lanes_(lanes) {}

  /// Runs the calls of one thread, which share one deadline, in one batch led by this thread or another, in the order
  /// of their turns. `run_batch(std::span<PendingCall* const>)` must fill in every answer (or set `rerun`) by the
  /// earliest deadline among them, and must not throw; at most `lanes` threads call it at once. A call whose deadline
  /// passes before a batch takes it is `unavailable`.
  template <typename RunBatch>
  void run(std::span<PendingCall> calls, RunBatch&& run_batch) {
    Entry entry{.calls = calls};
    std::unique_lock lock(mutex_);
    waiting_.push_back(&entry);
    wake_next_leader();
    const auto moved = [&] { return entry.taken || (waiting_.front() == &entry && may_lead()); };
    if (!wait_until(entry.changed, lock, calls.front().deadline, moved)) {
      std::erase(waiting_, &entry);
      wake_next_leader();
      for (auto& call : calls) call.answer = too_late();
      return;
    }
    if (entry.taken) {
      entry.changed.wait(lock, [&] { return entry.done; });
    } else {
      lead(entry, lock, run_batch);
    }
  }

  /// The number of callers that no batch has taken yet.
  [[nodiscard]] std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

 private:
  struct Entry {
    std::span<PendingCall> calls;
    bool taken = false;
    bool done = false;
    /// One per caller: waking all callers for every batch costs more than the batch.
    std::condition_variable changed{};

    [[nodiscard]] bool alike() const { return calls.size() == 1 && calls.front().alike; }
  };

  static Error too_late() {
    return {.code = Errc::unavailable,
            .message = "the store is still busy with earlier calls of this process: nothing was sent"};
  }

  template <typename RunBatch>
  void lead(Entry& leader, std::unique_lock<std::mutex>& lock, RunBatch&& run_batch) {
    ++leading_;
    gather(leader, lock);
    const auto batch = take_batch();
    wake_next_leader();
    lock.unlock();

    std::vector<PendingCall*> calls;
    calls.reserve(batch.size());
    for (const auto* entry : batch) {
      for (auto& call : entry->calls) calls.push_back(&call);
    }
    sort_in_lock_order(calls);
    run_batch(std::span<PendingCall* const>(calls));

    lock.lock();
    --leading_;
    expected_ = std::min(batch.size() + waiting_.size(), max_batch);
    // Needs the mutex: once it is released, a caller may return and destroy its entry.
    for (auto* entry : batch) {
      entry->done = true;
      entry->changed.notify_one();
    }
    wake_next_leader();
  }

  /// Without this, callers in a loop split into two halves that alternate, each with its own commit. A single caller
  /// expects no others and does not wait.
  void gather(Entry& leader, std::unique_lock<std::mutex>& lock) {
    if (waiting_.size() >= expected_ || leading_ > 1) return;
    gathering_ = &leader;
    wait_until(leader.changed, lock, BootClock::now() + gather_time, [&] { return waiting_.size() >= expected_; });
    gathering_ = nullptr;
  }

  std::vector<Entry*> take_batch() {
    const auto fitting = bring_fitting_forward();
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(fitting, max_batch));
    std::vector<Entry*> batch(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    for (auto* entry : batch) entry->taken = true;
    return batch;
  }

  /// Moves `alike` entries with another statement than the first one to the end of the line; returns the number of the
  /// rest.
  std::size_t bring_fitting_forward() {
    const auto first = std::find_if(waiting_.begin(), waiting_.end(), [](const Entry* e) { return e->alike(); });
    if (waiting_.size() < worth_sorting || first == waiting_.end()) return waiting_.size();
    const auto* statement = (*first)->calls.front().statement;
    const auto fits = [&](const Entry* e) { return !e->alike() || e->calls.front().statement == statement; };
    const auto others = std::stable_partition(waiting_.begin(), waiting_.end(), fits);
    return static_cast<std::size_t>(others - waiting_.begin());
  }

  /// Only the front of the line leads. A leader that still gathers is itself the front.
  [[nodiscard]] bool may_lead() const {
    return leading_ == 0 || (leading_ < lanes_ && gathering_ == nullptr && waiting_.size() >= max_batch);
  }

  void wake_next_leader() {
    if (gathering_ != nullptr) {
      if (waiting_.size() >= expected_) gathering_->changed.notify_one();
    } else if (!waiting_.empty() && may_lead()) {
      waiting_.front()->changed.notify_one();
    }
  }

  /// By key, the first parameter of every act, so that two batches never deadlock. (A caller's later calls never wait
  /// for a lock.)
  static void sort_in_lock_order(std::vector<PendingCall*>& calls) {
    std::stable_sort(calls.begin(), calls.end(), [](const PendingCall* a, const PendingCall* b) {
      return std::pair(a->turn, key_of(*a)) < std::pair(b->turn, key_of(*b));
    });
  }

  /// A name or a number.
  static std::pair<std::string_view, std::int64_t> key_of(const PendingCall& call) {
    if (call.params.empty()) return {};
    if (const auto* name = std::get_if<std::string_view>(&call.params.front())) return {*name, 0};
    const auto* number = std::get_if<std::int64_t>(&call.params.front());
    return {{}, number ? *number : 0};
  }

  mutable std::mutex mutex_;
  std::vector<Entry*> waiting_;
  const int lanes_;
  int leading_ = 0;
  Entry* gathering_ = nullptr;  ///< the leader that waits for more callers
  std::size_t expected_ = 0;    ///< callers seen at the end of the last batch
};

}  // namespace leasehold::storage

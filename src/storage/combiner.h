// Calls of several threads travel together: one transaction, one commit, to each caller its own answer.
//
// There is no thread of its own. The first caller becomes the leader and runs what has gathered; whoever
// comes while it works waits, and one of them leads the next batch. A lone caller pays a mutex.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <span>
#include <vector>

#include "storage/backend.h"
#include "storage/boot_wait.h"

namespace leasehold::storage {

/// One caller's statement on its way.
struct Call {
  const Statement* statement;
  std::span<const Param> params;
  BootTime deadline;
  Result<Rows> answer{Rows{}};
  /// Set by run_batch in place of an answer: nothing happened, and the caller has to run it by itself.
  bool alone = false;
};

class Combiner {
 public:
  static constexpr std::size_t max_batch = 64;

  /// So many batches may be under way at once: one can run while another waits for the disk.
  explicit Combiner(int lanes = 1) : lanes_(lanes) {}

  /// Runs `call` in a batch led by this thread or another. `run_batch(std::span<Call* const>)` must
  /// fill in every answer (or set `alone`) by the earliest deadline among them, and must not throw; no
  /// more threads than there are lanes call it at once. A call whose deadline passes before a batch took it
  /// is `unavailable`.
  template <typename RunBatch>
  Result<Rows> run(Call& call, RunBatch&& run_batch) {
    Entry entry{&call};
    std::unique_lock lock(mutex_);
    waiting_.push_back(&entry);
    const auto moved = [&] { return entry.taken || (leading_ < lanes_ && waiting_.front() == &entry); };
    if (!wait_until(changed_, lock, call.deadline, moved)) {
      std::erase(waiting_, &entry);
      return Error{.code = Errc::unavailable,
                   .message = "the store is still busy with earlier calls of this process: nothing was asked"};
    }
    if (entry.taken) {
      changed_.wait(lock, [&] { return entry.done; });
    } else {
      lead(lock, run_batch);
    }
    return std::move(call.answer);
  }

 private:
  struct Entry {
    Call* call;
    bool taken = false;
    bool done = false;
  };

  template <typename RunBatch>
  void lead(std::unique_lock<std::mutex>& lock, RunBatch&& run_batch) {
    ++leading_;
    const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), max_batch));
    const std::vector<Entry*> batch(waiting_.begin(), waiting_.begin() + count);
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    for (auto* entry : batch) entry->taken = true;
    const bool more = !waiting_.empty() && leading_ < lanes_;
    lock.unlock();
    if (more) changed_.notify_all();

    std::vector<Call*> calls;
    calls.reserve(batch.size());
    for (const auto* entry : batch) calls.push_back(entry->call);
    sort_in_lock_order(calls);
    run_batch(std::span<Call* const>(calls));

    lock.lock();
    for (auto* entry : batch) entry->done = true;
    --leading_;
    changed_.notify_all();
  }

  /// By key, which is the first parameter of every act: two batches never wait for each other in a ring.
  static void sort_in_lock_order(std::vector<Call*>& calls) {
    std::stable_sort(calls.begin(), calls.end(), [](const Call* a, const Call* b) { return key_of(*a) < key_of(*b); });
  }

  static std::string_view key_of(const Call& call) {
    if (call.params.empty()) return {};
    const auto* text = std::get_if<std::string_view>(&call.params.front());
    return text ? *text : std::string_view{};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry*> waiting_;
  const int lanes_;
  int leading_ = 0;
};

}  // namespace leasehold::storage

// For tests of programs that use leasehold: a store in memory with a clock that the test moves, workers that run
// without threads, leases that expire on request, and the jobs that the code under test enqueued.
//
//   TestStore store;                                        // a Store: pass it to the code under test
//   sign_up(store, "ann");
//   const auto mail = enqueued(store, "mail");
//   ASSERT_EQ(mail->size(), 1U);
//   EXPECT_EQ(mail->front().payload, R"({"to":"ann"})");
//
//   Worker worker(store);
//   worker.handle("mail", send_mail);
//   EXPECT_EQ(drain(worker)->failed, 1);                    // the mail server is down: the job backs off
//   store.advance(1min);
//   EXPECT_EQ(drain(worker)->completed, 1);
//
// Include it in tests only. It works with every test framework: jobs and summaries print themselves with <<, and the
// value of a Result that holds an error stops the test program with the error's text.
//
// A TestStore is SQLite without a file, so it answers as every other store. It starts empty, belongs to one process,
// prunes nothing by itself, and knows no adopted tables (Store::rows).
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/chunk.h"
#include "leasehold/export.h"
#include "leasehold/held_lease.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "leasehold/store.h"
#include "leasehold/time.h"
#include "leasehold/worker.h"

namespace leasehold {

/// Where the clock of a TestStore starts unless the test says otherwise: 2026-01-01T00:00:00Z.
inline constexpr Timestamp test_start{std::chrono::microseconds(1'767'225'600'000'000)};

/// Copies share the store and its clock. Call its methods from any thread.
class LEASEHOLD_EXPORT TestStore : public Store {
 public:
  explicit TestStore(Timestamp start = test_start);

  /// The store's clock. It stands still until the test moves it: no lease expires and no job becomes due by itself.
  [[nodiscard]] Timestamp now() const;
  /// Moves the clock forward; a negative duration stops the program. What the program itself measures, such as
  /// `trusted_until` and the pauses between heartbeats, is still real time.
  void advance(Duration by) const;
  /// The same, to a moment that is not in the past.
  void advance_to(Timestamp when) const;

  /// Makes the lease of a grant expire, as if its holder had died: heartbeats are refused, and the next claim or
  /// acquire takes over what it held. All that is held under the same lease expires with it. `not_found`: it is not
  /// held any more.
  Result<void> expire(const Grant& grant) const { return expire_lease(grant.lease_id); }
  Result<void> expire(const JobGrant& grant) const { return expire_lease(grant.lease_id); }
  Result<void> expire(const ChunkGrant& grant) const { return expire_lease(grant.lease_id); }
  Result<void> expire(const SharedLease& lease) const { return expire_lease(lease.id); }
  Result<void> expire(const Job& job) const { return expire("job", std::to_string(job.id)); }
  /// Its stop token fires at once, not only with the next heartbeat.
  Result<void> expire(HeldLease& held) const;
  /// By what LeaseInfo says: expire("lock", "deploy"), expire("session", id).
  Result<void> expire(std::string_view kind, std::string_view key) const;

 private:
  class Clock;
  explicit TestStore(const std::shared_ptr<Clock>& clock);
  Result<void> expire_lease(std::int64_t lease_id) const;
  Result<void> expire_those(const std::string& lease_ids, const std::string& what) const;

  std::shared_ptr<Clock> clock_;
};

/// Runs the worker's handlers on the calling thread, one job at a time, until no job of its queues is due: jobs that
/// handlers enqueue are run, too; delayed jobs and retries run in a later drain, after advance(). Queues take turns. No
/// thread is left when it returns, and nothing sleeps.
///
/// There are no heartbeats by time: JobContext::progress() sends one at once, so a handler learns there that its job
/// was cancelled, has timed out, or that its lease is lost. Time limits count on the store's clock: a handler that
/// moves it beyond the limit has failed, whatever it returns. `summary.refusal` is why the last queue had no job
/// (`empty`, `paused` ...). `busy`: after 10,000 jobs there was still one; a handler enqueues, releases or retries it
/// without end.
///
/// For every Worker, also of a store that is not in memory. Do not call it while Worker::run() runs.
LEASEHOLD_EXPORT Result<WorkSummary> drain(Worker& worker);

/// A job and what it carries.
struct EnqueuedJob : JobInfo {
  std::string payload;
};

/// The unfinished jobs of a queue, in the order in which they were enqueued. An empty name: of all queues.
LEASEHOLD_EXPORT Result<std::vector<EnqueuedJob>> enqueued(const Store& store, std::string_view queue = {});
/// The first of them that matches. `not_found`: none; the message lists those that there are.
LEASEHOLD_EXPORT Result<EnqueuedJob> find_enqueued(const Store& store, std::string_view queue,
                                                   const std::function<bool(const EnqueuedJob&)>& matches);

/// "job 3 of mail: deferred until 2026-01-01T00:01:00Z, priority 5, failures 1: {"to":"ann"}"
LEASEHOLD_EXPORT std::string to_string(const EnqueuedJob& job);
LEASEHOLD_EXPORT std::ostream& operator<<(std::ostream& out, const EnqueuedJob& job);

/// For messages of tests: "claimed 3: completed 2, failed 1".
LEASEHOLD_EXPORT std::ostream& operator<<(std::ostream& out, const WorkSummary& summary);

}  // namespace leasehold

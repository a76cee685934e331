// The runtime for workers on rows of your own tables: claims rows, heartbeats them, settles them, and tells handlers
// when to stop.
//
//   auto rows = leasehold::Rows::open("postgresql://loader@db/app", "sync_jobs");
//   leasehold::RowWorker worker(*rows, {.concurrency = 4});
//   auto summary = worker.run([](const RowGrant& row, RowContext& context) -> Verdict {
//     for (const auto& page : pages_of(row.row)) {
//       if (context.stop_requested()) return Verdict::release();  // lost, or the worker is stopping
//       load(page);
//     }
//     return Verdict::complete();
//   });
//
// One heartbeat statement serves all rows of a worker. At least once: a row is claimed again if its worker dies or
// loses its lease. Handlers must be idempotent, or guard their writes with TABLE_fence.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "leasehold/export.h"
#include "leasehold/job.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"
#include "leasehold/row.h"
#include "leasehold/worker.h"

namespace leasehold {

namespace row {
struct HeldRow;
}  // namespace row

/// What a handler can do while it runs. Valid during the call of the handler; call its methods from any thread.
class LEASEHOLD_EXPORT RowContext {
 public:
  /// Fires when the handler must stop, at the latest when the lease can no longer be trusted. Callbacks must be quick.
  [[nodiscard]] std::stop_token stop_token() const;
  [[nodiscard]] bool stop_requested() const;
  /// Why the stop token fired; nothing while the handler may continue.
  [[nodiscard]] std::optional<StopReason> stop_reason() const;
  [[nodiscard]] BootTime trusted_until() const;
  /// A value for the verdict: set("row_count", "41") where the file says on_complete = "n = :row_count".
  void set(std::string name, std::optional<std::string> value);

  /// For the runtime: only it creates these.
  explicit RowContext(std::shared_ptr<row::HeldRow> held) : held_(std::move(held)) {}

 private:
  std::shared_ptr<row::HeldRow> held_;
};

/// Called from several threads at once, one row each. An exception counts as Verdict::fail(what()). Complete, fail and
/// release; the table's file decides what they mean for the row, so a delay or `retryable` has no effect.
using RowHandler = std::function<Verdict(const RowGrant& row, RowContext& context)>;

struct RowWorkerOptions {
  int concurrency = 1;  ///< rows handled at once: 1 to bounds::max_concurrency
  /// Unset: the table's ttl.
  std::optional<Duration> ttl{};
  Duration grace = defaults::handler_grace;  ///< time for running handlers after a stop
  WorkUntil until = WorkUntil::stopped;
  /// How often to look for rows when there were none. On average half of it passes before a new row is claimed.
  Duration poll = std::chrono::seconds(1);
  std::optional<Holder> holder{};  ///< unset: Holder::self()
  /// Receives errors of calls that will be retried, and of verdicts that came too late. Called from any thread; must be
  /// quick and must not throw.
  std::function<void(const Error&)> on_trouble{};
};

/// What happened to the rows that a worker claimed.
struct RowWorkSummary {
  std::int64_t claimed = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t released = 0;
  std::int64_t lost = 0;  ///< taken over by another holder, or the verdict did not reach the database
  /// Why it claimed no more, if it ended by itself: `empty`, `held`.
  std::optional<Error> refusal{};
};

class LEASEHOLD_EXPORT RowWorker {
 public:
  explicit RowWorker(Rows rows, RowWorkerOptions options = {});
  RowWorker(RowWorker&&) noexcept;
  RowWorker& operator=(RowWorker&&) noexcept;
  ~RowWorker();

  /// Works until the condition of `until` is met or `stop` is requested. After a stop, running handlers get `grace` to
  /// finish, then their stop tokens fire. Returns when every handler has returned.
  ///
  /// Returns an error only if a retry cannot help. Only one thread may call it at a time.
  Result<RowWorkSummary> run(const RowHandler& handler, std::stop_token stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold

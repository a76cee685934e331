// Queues: their settings, and how they stand.
#include "core/job_limits.h"
#include "core/limits.h"
#include "queue/answer.h"
#include "queue/jobs.h"
#include "storage/query.h"

namespace leasehold {
namespace queue {
namespace {

constexpr std::int64_t purge_batch = 1000;

QueueInfo queue_info_from(sql::QueueInfo& row) {
  const auto limit = [](const std::optional<std::int64_t>& value) { return static_cast<int>(value.value_or(0)); };
  return {.name = std::move(row.name),
          .paused = row.paused,
          .pause_reason = std::move(row.pause_reason).value_or(""),
          .max_running = limit(row.max_running),
          .max_per_key = limit(row.max_per_key),
          .rate_count = limit(row.rate_count),
          .rate_period = row.rate_period.value_or(Duration{}),
          .default_ttl = row.default_ttl.value_or(Duration{}),
          .available = row.available,
          .deferred = row.deferred,
          .blocked = row.blocked,
          .running = row.running,
          .expired = row.expired,
          .failed = row.failed,
          .oldest_at = row.oldest_at,
          .next_due_at = row.next_due_at,
          .completed_last_minute = row.completed_last_minute,
          .failed_last_minute = row.failed_last_minute,
          .store_now = row.store_now};
}

Result<std::vector<QueueInfo>> list_queues(storage::Backend& backend, std::optional<std::string_view> name,
                                           BootTime deadline) {
  return storage::query_list(backend, sql::QueueList{.name = name}, deadline, queue_info_from);
}

/// After a change. A queue without jobs, of which nothing is set any more, is not there: it is a new one.
Result<QueueInfo> show_changed(storage::Backend& backend, std::string_view name, BootTime deadline) {
  auto queues = list_queues(backend, name, deadline);
  if (!queues) return std::move(queues).error();
  if (queues->empty()) return QueueInfo{.name = std::string(name)};
  return std::move(queues->front());
}

Result<QueueInfo> pause(storage::Backend& backend, const sql::QueuePause& statement, BootTime deadline) {
  if (auto checked = check_name("queue name", statement.name); !checked) return std::move(checked).error();
  auto done = storage::query_one(backend, statement, deadline);
  if (!done) return std::move(done).error();
  return show_changed(backend, statement.name, deadline);
}

}  // namespace
}  // namespace queue

Result<QueueInfo> Queues::set(std::string_view name, const QueueSettings& settings) const {
  if (auto checked = check_name("queue name", name); !checked) return std::move(checked).error();
  if (auto checked = check_queue_settings(settings); !checked) return std::move(checked).error();
  const auto deadline = impl_->deadline();
  const sql::QueueSet statement{.name = name,
                                .max_running = settings.max_running,
                                .max_per_key = settings.max_per_key,
                                .rate_count = settings.rate_count,
                                .rate_period = settings.rate_period,
                                .default_ttl = settings.default_ttl};
  auto done = storage::query_one(*impl_->backend, statement, deadline);
  if (!done) return std::move(done).error();
  return queue::show_changed(*impl_->backend, name, deadline);
}

Result<QueueInfo> Queues::pause(std::string_view name, std::string_view reason) const {
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  sql::QueuePause statement{.name = name, .paused = true};
  if (!reason.empty()) statement.reason = reason;
  return queue::pause(*impl_->backend, statement, impl_->deadline());
}

Result<QueueInfo> Queues::resume(std::string_view name) const {
  return queue::pause(*impl_->backend, sql::QueuePause{.name = name, .paused = false}, impl_->deadline());
}

Result<std::int64_t> Queues::purge(std::string_view name) const {
  if (auto checked = check_name("queue name", name); !checked) return std::move(checked).error();
  const sql::QueuePurge statement{.name = name, .most = queue::purge_batch};
  std::int64_t total = 0;
  for (;;) {
    auto batch = storage::query_one(*impl_->backend, statement, impl_->deadline());
    if (!batch) return std::move(batch).error();
    total += batch->purged;
    if (batch->purged < queue::purge_batch) return total;
  }
}

Result<QueueInfo> Queues::show(std::string_view name) const {
  if (auto checked = check_name("queue name", name); !checked) return std::move(checked).error();
  auto queues = queue::list_queues(*impl_->backend, name, impl_->deadline());
  if (!queues) return std::move(queues).error();
  if (queues->empty()) {
    return Error{.code = Errc::not_found, .message = queue::describe(name) + " has never had a job or a setting"};
  }
  return std::move(queues->front());
}

Result<std::vector<QueueInfo>> Queues::list() const {
  return queue::list_queues(*impl_->backend, std::nullopt, impl_->deadline());
}

}  // namespace leasehold

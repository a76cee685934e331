// Keeps a job's lease alive, and reports progress.
#include "base/text.h"
#include "job/jobs.h"
#include "lease/call.h"
#include "lease/shared_lease.h"
#include "model/bounds.h"
#include "storage/query.h"

namespace leasehold {

namespace job {
namespace {

Result<JobHeartbeat> heartbeat_from(const sql::JobHeartbeat::Row& answer, JobId id, BootTime before_sending) {
  if (!answer.outcome.done()) return settle_refusal(answer, id);
  JobHeartbeat heartbeat{.id = id};
  lease::note_extension(heartbeat, answer, before_sending);
  heartbeat.cancel_requested = answer.cancel_requested;
  return heartbeat;
}

}  // namespace
}  // namespace job

Result<JobHeartbeat> Jobs::heartbeat(JobId id, Token token, const Progress& progress,
                                     std::optional<Duration> ttl) const {
  if (auto checked = check_progress(progress); !checked) return std::move(checked).error();
  if (auto checked = check_new_ttl(ttl); !checked) return std::move(checked).error();
  // Cut, not refused: a long message must not cost the job its lease.
  const auto message = clean_text(progress.message, bounds::message_bytes);
  sql::JobHeartbeat statement{.job_id = id, .token = token.value, .ttl = ttl};
  if (progress.percent) statement.percent = *progress.percent;
  if (!message.empty()) statement.message = message;
  if (!progress.stage.empty()) statement.stage = progress.stage;
  if (progress.cursor) statement.cursor = *progress.cursor;
  auto call = impl_->new_call();
  auto answer = call.ask_again(statement);
  if (!answer) return std::move(answer).error();
  return job::heartbeat_from(*answer, id, call.before_sending());
}

// One lease for many claims: opened, extended and closed by a worker.
namespace job {
namespace {

constexpr std::string_view workers_lease = "the worker's lease";

}  // namespace
}  // namespace job

Result<SharedLease> Jobs::open_lease(Duration ttl, const Call& call, const Listening& listening) const {
  if (auto checked = check_range("concurrency", listening.concurrency, 1, bounds::max_concurrency); !checked) {
    return std::move(checked).error();
  }
  for (const auto& queue : listening.queues) {
    if (auto checked = check_name("queue name", queue); !checked) return std::move(checked).error();
  }
  const std::vector<std::string_view> queues(listening.queues.begin(), listening.queues.end());
  const sql::LeaseOpen statement{.kind = "worker", .queues = queues, .concurrency = listening.concurrency};
  return lease::open_shared_lease(impl_->new_call(call), statement, ttl, call);
}

Result<Jobs::Extended> Jobs::extend(const SharedLease& lease, std::optional<Duration> ttl) const {
  auto call = impl_->new_call();
  auto rows = lease::extend_shared_lease<sql::LeaseExtend>(call, job::workers_lease, lease, ttl);
  if (!rows) return std::move(rows).error();
  Extended extended;
  lease::note_extension(extended.heartbeat, rows->front(), call.before_sending());
  for (const auto& row : *rows) {
    if (row.cancelled_job) extended.cancelled.push_back(*row.cancelled_job);
  }
  extended.heartbeat.cancel_requested = !extended.cancelled.empty();
  return extended;
}

Result<void> Jobs::close(const SharedLease& lease) const {
  return lease::close_shared_lease<sql::LeaseClose>(impl_->new_call(), job::workers_lease, lease);
}

}  // namespace leasehold

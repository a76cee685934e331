// Keeping a job's lease alive, and telling how far the work is.
#include "base/text.h"
#include "job/jobs.h"
#include "lease/ask.h"
#include "lease/shared_lease.h"
#include "model/bounds.h"
#include "storage/query.h"

namespace leasehold {

namespace job {
namespace {

Result<JobHeartbeat> heartbeat_from(const sql::JobHeartbeat::Row& answer, JobId id, BootTime before_sending) {
  if (answer.outcome.done()) {
    JobHeartbeat heartbeat;
    lease::note_extension(heartbeat, answer, before_sending);
    heartbeat.cancel_requested = answer.cancel_requested;
    return heartbeat;
  }
  return settle_refusal(answer, id);
}

}  // namespace
}  // namespace job

Result<JobHeartbeat> Jobs::heartbeat(JobId id, Token token, const Progress& progress, Duration ttl) const {
  if (auto checked = check_progress(progress); !checked) return std::move(checked).error();
  auto new_ttl = lease::new_ttl(ttl);
  if (!new_ttl) return std::move(new_ttl).error();
  // Cut rather than refused: a talkative job must not lose its lease for it.
  const auto message = clean_text(progress.message, bounds::message_bytes);
  sql::JobHeartbeat statement{.job_id = id, .token = token.value, .ttl = *new_ttl};
  if (progress.percent) statement.percent = *progress.percent;
  if (!message.empty()) statement.message = message;
  if (!progress.stage.empty()) statement.stage = progress.stage;
  const auto deadline = impl_->deadline();
  BootTime before_sending;
  auto answer = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return storage::query_one(*impl_->backend, statement, deadline);
  });
  if (!answer) return std::move(answer).error();
  return job::heartbeat_from(*answer, id, before_sending);
}

// One lease for many claims: opened, extended and closed by a worker.
namespace job {
namespace {

constexpr std::string_view what = "the worker's lease";

}  // namespace
}  // namespace job

Result<SharedLease> Jobs::open_lease(const Holder& holder, Duration ttl) const {
  return lease::open_shared_lease(*impl_->backend, sql::LeaseOpen{.kind = "worker"}, holder, ttl, impl_->deadline());
}

Result<Jobs::Extended> Jobs::extend(const SharedLease& lease, Duration ttl) const {
  auto new_ttl = lease::new_ttl(ttl);
  if (!new_ttl) return std::move(new_ttl).error();
  if (auto checked = check_text("instance", lease.instance); !checked) return std::move(checked).error();
  const sql::LeaseExtend statement{.lease_id = lease.id, .instance = lease.instance, .ttl = *new_ttl};
  const auto deadline = impl_->deadline();
  BootTime before_sending;
  auto rows = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return storage::query(*impl_->backend, statement, deadline);
  });
  if (!rows) return std::move(rows).error();
  if (rows->empty()) return job::odd_answer(job::what, "nothing");
  const auto& first = rows->front();
  if (!first.outcome.done()) return lease::shared_lease_refusal(job::what, first.outcome, first.why);
  Extended extended;
  lease::note_extension(extended.heartbeat, first, before_sending);
  for (const auto& row : *rows) {
    if (row.cancelled_job) extended.cancelled.push_back(*row.cancelled_job);
  }
  extended.heartbeat.cancel_requested = !extended.cancelled.empty();
  return extended;
}

Result<void> Jobs::close(const SharedLease& lease) const {
  const sql::LeaseClose statement{.lease_id = lease.id, .instance = lease.instance, .reason = "closed"};
  return lease::close_shared_lease(*impl_->backend, statement, job::what, impl_->deadline());
}

}  // namespace leasehold

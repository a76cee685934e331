// Keeping a job's lease alive, and telling how far the work is.
#include "lease/heartbeat.h"

#include "base/text.h"
#include "core/job_limits.h"
#include "lease/retry.h"
#include "queue/answer.h"
#include "queue/jobs.h"
#include "storage/query.h"

namespace leasehold {
namespace queue {
namespace {

Result<JobHeartbeat> heartbeat_from(const sql::JobHeartbeat::Row& answer, JobId id, BootTime before_sending) {
  if (answer.outcome == "extended") {
    JobHeartbeat heartbeat;
    lease::note_extension(heartbeat, answer, before_sending);
    heartbeat.cancel_requested = answer.cancel_requested;
    return heartbeat;
  }
  if (answer.outcome == "not_found") return no_such_job(id);
  if (answer.outcome != "lost") return odd_answer(describe(id), answer.outcome);
  return lost_error(describe(id), answer.why.value_or(""), lease::present_holder(answer, "job", std::to_string(id)));
}

}  // namespace
}  // namespace queue

Result<JobHeartbeat> Jobs::heartbeat(JobId id, Token token, const Progress& progress, Duration ttl) const {
  if (auto checked = check_progress(progress); !checked) return std::move(checked).error();
  auto new_ttl = lease::new_ttl(ttl);
  if (!new_ttl) return std::move(new_ttl).error();
  // Cut rather than refused: a talkative job must not lose its lease for it.
  const auto message = clean_text(progress.message, max_message_bytes);
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
  return queue::heartbeat_from(*answer, id, before_sending);
}

}  // namespace leasehold

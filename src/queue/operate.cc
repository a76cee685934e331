// What operators do to jobs: cancel, retry, redrive, delete.
#include <fmt/format.h>

#include "base/names.h"
#include "core/limits.h"
#include "queue/answer.h"
#include "queue/jobs.h"
#include "storage/query.h"

namespace leasehold {
namespace queue {
namespace {

constexpr std::int64_t redrive_batch = 1000;

Error refuse(Errc code, JobId id, std::string_view why) {
  return {.code = code, .message = fmt::format("{} {}", describe(id), why)};
}

Error retry_refusal(JobId id, std::string_view outcome) {
  if (outcome == "not_found") return no_such_job(id);
  if (outcome == "running") return refuse(Errc::held, id, "is running: it goes on, or back by itself");
  if (outcome == "completed") return refuse(Errc::invalid_argument, id, "has completed: enqueue it as a new one");
  if (outcome == "blocked") return refuse(Errc::invalid_argument, id, "waits for other jobs: see `after`");
  if (outcome == "duplicate") {
    return refuse(Errc::invalid_argument, id, "has a dedupe key that another job has taken meanwhile");
  }
  return odd_answer(describe(id), outcome);
}

}  // namespace
}  // namespace queue

Result<JobState> Jobs::cancel(JobId id, std::string_view reason) const {
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  sql::JobCancel statement{.job_id = id};
  if (!reason.empty()) statement.reason = reason;
  auto answer = storage::query_one(*impl_->backend, statement, impl_->deadline());
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "cancelled") return JobState::cancelled;
  if (answer->outcome == "requested") return JobState::running;
  if (answer->outcome == "not_found") return queue::no_such_job(id);
  const auto state = job_state_from(answer->state.value_or(""));
  if (answer->outcome == "final" && state) return *state;
  return queue::odd_answer(queue::describe(id), answer->outcome);
}

Result<JobState> Jobs::retry(JobId id) const {
  auto answer = storage::query_one(*impl_->backend, sql::JobRetry{.job_id = id}, impl_->deadline());
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "retried" || answer->outcome == "available") return JobState::available;
  return queue::retry_refusal(id, answer->outcome);
}

Result<std::int64_t> Jobs::redrive(std::string_view queue) const {
  if (auto checked = check_text("queue name", queue); !checked) return std::move(checked).error();
  sql::JobRedrive statement{.queue = std::nullopt, .most = queue::redrive_batch};
  if (!queue.empty()) statement.queue = queue;
  std::int64_t total = 0;
  for (;;) {
    auto batch = storage::query_one(*impl_->backend, statement, impl_->deadline());
    if (!batch) return std::move(batch).error();
    total += batch->redriven;
    // Fewer than asked for is not the end: of several with one dedupe key, one goes at a time.
    if (batch->redriven == 0) return total;
  }
}

Result<void> Jobs::remove(JobId id) const {
  auto answer = storage::query_one(*impl_->backend, sql::JobDelete{.job_id = id}, impl_->deadline());
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "deleted") return {};
  if (answer->outcome == "not_found") return queue::no_such_job(id);
  if (answer->outcome == "running") return queue::refuse(Errc::held, id, "is running: cancel it first");
  return queue::odd_answer(queue::describe(id), answer->outcome);
}

}  // namespace leasehold

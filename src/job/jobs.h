// Converts the store's answers about jobs to results of the public API.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job/claim.h"
#include "lease/answer.h"
#include "lease/call.h"
#include "lease/patience.h"
#include "lease/reap.h"
#include "lease/recall.h"
#include "leasehold/job.h"
#include "leasehold/queue.h"
#include "leasehold/result.h"
#include "model/words.h"
#include "storage/statements.h"

namespace leasehold {

namespace job {

/// "job 17"
std::string describe(JobId id);
/// "queue \"mail\""
std::string describe(std::string_view queue);

Error no_such_job(JobId id);
using lease::lost_error;
using lease::odd_answer;

/// For `empty`, `at_capacity`, `paused`, `rate_limited`, `busy` and `lost`.
Error claim_refusal(const sql::JobClaimed& answer, std::string_view queue);

/// The refusal of a verdict or a heartbeat: `lost` or `not_found`.
template <typename Row>
Error settle_refusal(const Row& answer, JobId id) {
  switch (answer.outcome.refusal()) {
    case Errc::lost:
      return lost_error(describe(id), answer.why.value_or(""),
                        lease::present_holder(answer, "job", std::to_string(id)));
    case Errc::not_found: return no_such_job(id);
    default: return odd_answer(describe(id), answer.outcome.word());
  }
}

Result<JobSettled> settled_from(const sql::JobSettled& answer);

JobInfo job_info_from(sql::JobInfo& row);

template <typename T>
std::optional<std::string_view> unless_empty(const T& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

/// Why a job is not running, from the row of a job or of a queue.
template <typename Row>
std::optional<JobWait> wait_from(Row& row) {
  const auto reason = from_word<WaitReason>(row.wait_reason.value_or(""));
  if (!reason) return std::nullopt;
  return JobWait{.reason = *reason,
                 .text = std::move(row.wait_text).value_or(""),
                 .job_id = row.wait_job_id,
                 .until = row.wait_until};
}

}  // namespace job

// A new job as a statement; also for enqueues in the caller's own transaction.
namespace job {

Result<void> check_enqueue(std::string_view queue, std::span<const NewJob> jobs);

/// Borrows the job and the queue's name.
class EnqueueStatement {
 public:
  EnqueueStatement(std::string_view queue, const NewJob& job);
  EnqueueStatement(const EnqueueStatement&) = delete;
  EnqueueStatement& operator=(const EnqueueStatement&) = delete;

  [[nodiscard]] const sql::JobEnqueue& get() const { return statement_; }

 private:
  std::vector<std::string_view> tags_;
  sql::JobEnqueue statement_;
};

/// `invalid_argument` if the job depends on one that does not exist.
Result<Enqueued> enqueued_from(const sql::JobEnqueue::Row& row);

}  // namespace job

// A verdict as a statement.
namespace job {

/// Borrows the verdict's result.
class VerdictStatement {
 public:
  explicit VerdictStatement(const Settlement& settlement);
  VerdictStatement(const VerdictStatement&) = delete;
  VerdictStatement& operator=(const VerdictStatement&) = delete;

  [[nodiscard]] const sql::JobSettle& get() const { return statement_; }

 private:
  std::string error_;
  sql::JobSettle statement_;
};

}  // namespace job

// The state of Jobs and Queues.
struct Jobs::Impl : lease::StoreAccess {
  /// Shared by all handles of a store.
  std::shared_ptr<lease::Reaper> reaper;
  std::shared_ptr<lease::Awaited> awaited;
  std::shared_ptr<lease::Recalls> recalls;
  /// Shared by the copies of this handle.
  std::shared_ptr<job::Positions> positions = std::make_shared<job::Positions>();

  /// Tries once, and once more if a dead process of this host was in the way. With a wait: until a grant, the end of
  /// the wait or `call.stop`; then returns the last refusal. `first`: an answer that is there already.
  [[nodiscard]] Result<JobGrant> claim(const job::Request& request, Duration wait, const Call& call,
                                       std::optional<Result<JobGrant>> first = {}) const;
  /// `first`: an answer that is there already.
  [[nodiscard]] Result<JobSettled> settle(const job::VerdictStatement& statement,
                                          std::optional<Result<sql::JobSettled>> first = {}) const;
};

struct Queues::Impl : lease::StoreAccess {};

}  // namespace leasehold

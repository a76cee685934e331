// Looking at jobs: one, many, what they carry, what became of them.
#include <algorithm>

#include "base/json_list.h"
#include "base/names.h"
#include "core/limits.h"
#include "queue/answer.h"
#include "queue/jobs.h"
#include "storage/query.h"

namespace leasehold {
namespace queue {
namespace {

constexpr Duration look_again = std::chrono::seconds(1);

int small(std::int64_t number) { return static_cast<int>(number); }

template <typename T>
std::optional<std::string_view> unless_empty(const T& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

JobInfo job_info_from(sql::JobInfo& row) {
  JobInfo info;
  info.id = row.id;
  info.queue = std::move(row.queue);
  info.state = job_state_from(row.state).value_or(JobState::available);
  info.priority = small(row.priority);
  info.attempts = small(row.attempts);
  info.failures = small(row.failures);
  info.crashes = small(row.crashes);
  info.failure_budget = small(row.failure_budget);
  info.crash_budget = small(row.crash_budget);
  info.created_at = row.created_at;
  info.due_at = row.due_at;
  info.finished_at = row.finished_at;
  info.token = {row.token};
  info.holder = std::move(row.holder).value_or("");
  info.host = std::move(row.host).value_or("");
  info.pid = row.pid.value_or(0);
  info.heartbeat_at = row.heartbeat_at;
  info.expires_at = row.expires_at;
  if (row.percent) info.percent = small(*row.percent);
  info.message = std::move(row.message).value_or("");
  info.stage = std::move(row.stage).value_or("");
  info.cancel_requested = row.cancel_requested;
  info.dedupe_key = std::move(row.dedupe_key).value_or("");
  info.limit_key = std::move(row.limit_key).value_or("");
  info.tags = texts_from_json(row.tags);
  info.after = integers_from_json(row.after);
  info.error = std::move(row.error).value_or("");
  info.store_now = row.store_now;
  return info;
}

JobAttempt attempt_from(sql::JobAttempts::Row& row) {
  return {.number = small(row.number),
          .token = {row.token},
          .outcome = std::move(row.outcome),
          .holder = std::move(row.holder).value_or(""),
          .host = std::move(row.host).value_or(""),
          .pid = row.pid.value_or(0),
          .started_at = row.started_at,
          .ended_at = row.ended_at,
          .error = std::move(row.error).value_or("")};
}

JobError error_from(sql::JobErrors::Row& row) {
  return {.id = row.job_id,
          .queue = std::move(row.queue),
          .token = {row.token},
          .at = row.at,
          .outcome = std::move(row.outcome),
          .holder = std::move(row.holder).value_or(""),
          .error = std::move(row.error)};
}

bool is_final(JobState state) {
  return state == JobState::completed || state == JobState::failed || state == JobState::cancelled;
}

}  // namespace
}  // namespace queue

Result<JobInfo> Jobs::show(JobId id) const {
  auto jobs = storage::query_list(*impl_->backend, sql::JobShow{.job_id = id}, impl_->deadline(), queue::job_info_from);
  if (!jobs) return std::move(jobs).error();
  if (jobs->empty()) return queue::no_such_job(id);
  return std::move(jobs->front());
}

Result<std::string> Jobs::payload(JobId id) const {
  auto bodies = storage::query(*impl_->backend, sql::JobBody{.job_id = id}, impl_->deadline());
  if (!bodies) return std::move(bodies).error();
  if (bodies->empty()) return queue::no_such_job(id);
  return std::move(bodies->front().payload);
}

Result<std::string> Jobs::result(JobId id) const {
  auto bodies = storage::query(*impl_->backend, sql::JobBody{.job_id = id}, impl_->deadline());
  if (!bodies) return std::move(bodies).error();
  if (bodies->empty()) return queue::no_such_job(id);
  auto& result = bodies->front().result;
  if (!result) return Error{.code = Errc::not_found, .message = queue::describe(id) + " has no result"};
  return std::move(*result);
}

Result<std::vector<JobAttempt>> Jobs::attempts(JobId id) const {
  auto attempts =
      storage::query_list(*impl_->backend, sql::JobAttempts{.job_id = id}, impl_->deadline(), queue::attempt_from);
  if (!attempts || !attempts->empty()) return attempts;
  // Never claimed, or never there?
  if (auto job = show(id); !job) return std::move(job).error();
  return attempts;
}

Result<std::vector<JobInfo>> Jobs::list(const JobFilter& filter) const {
  if (auto checked = check_text("queue name", filter.queue); !checked) return std::move(checked).error();
  if (auto checked = check_text("tag", filter.tag); !checked) return std::move(checked).error();
  if (auto checked = check_limit(filter.limit); !checked) return std::move(checked).error();
  sql::JobList statement{.queue = queue::unless_empty(filter.queue)};
  if (filter.state) statement.state = to_string(*filter.state);
  statement.tag = queue::unless_empty(filter.tag);
  if (filter.before_id > 0) statement.before_id = filter.before_id;
  statement.most = filter.limit;
  return storage::query_list(*impl_->backend, statement, impl_->deadline(), queue::job_info_from);
}

Result<std::vector<JobError>> Jobs::errors(std::string_view queue, int limit) const {
  if (auto checked = check_text("queue name", queue); !checked) return std::move(checked).error();
  if (auto checked = check_limit(limit); !checked) return std::move(checked).error();
  const sql::JobErrors statement{.queue = queue::unless_empty(queue), .most = limit};
  return storage::query_list(*impl_->backend, statement, impl_->deadline(), queue::error_from);
}

Result<JobInfo> Jobs::wait(JobId id, Duration timeout, std::stop_token stop) const {
  if (auto checked = check_wait(timeout); !checked) return std::move(checked).error();
  const auto until = BootClock::now() + bounded_wait(timeout);
  const auto topic = "job:" + std::to_string(id);
  const auto watch = impl_->backend->watch(topic);
  const std::stop_callback on_stop(stop, [&watch] { watch->wake(); });
  for (;;) {
    const bool awaited_already = impl_->awaited->known(topic, BootClock::now());
    auto job = show(id);
    if (!job || queue::is_final(job->state)) return job;
    if (stop.stop_requested() || BootClock::now() >= until) {
      return Error{.code = Errc::busy,
                   .message = queue::describe(id) + " is still " + to_string(job->state) + ", and the waiting is over"};
    }
    if (awaited_already) {
      watch->wait(std::min(until, BootClock::now() + queue::look_again));
    } else {
      impl_->awaited->tell_store(*impl_->backend, topic, impl_->deadline());
    }
  }
}

}  // namespace leasehold

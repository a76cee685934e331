// Operators' actions on jobs: cancel, retry, redrive, remove.
#include <fmt/format.h>

#include "base/json.h"
#include "job/jobs.h"
#include "lease/answer.h"
#include "model/bounds.h"
#include "model/words.h"
#include "storage/query.h"

namespace leasehold {

namespace job {
namespace {

constexpr std::int64_t redrive_batch = 1000;

Error refuse(Errc code, JobId id, std::string_view why) {
  return {.code = code, .message = fmt::format("{} {}", describe(id), why)};
}

Error retry_refusal(JobId id, const storage::Outcome& outcome) {
  if (outcome.refusal() == Errc::not_found) return no_such_job(id);
  if (outcome.is(Reply::running)) return refuse(Errc::held, id, "is running: wait for it, or cancel it");
  if (outcome.is(Reply::completed)) return refuse(Errc::invalid_argument, id, "has completed: enqueue a new job");
  if (outcome.is(Reply::blocked)) return refuse(Errc::invalid_argument, id, "waits for other jobs");
  if (outcome.is(Reply::duplicate)) {
    return refuse(Errc::invalid_argument, id, "has a dedupe key that another job uses now");
  }
  return odd_answer(describe(id), outcome.word());
}

bool is_dead(JobState state) {
  return state == JobState::failed || state == JobState::cancelled || state == JobState::lapsed;
}

/// A job must not run after a dead one. A second look finds which one that is.
Error dead_predecessor(const Jobs& jobs, JobId id) {
  const auto job = jobs.show(id);
  if (job) {
    for (const auto& before : job->depends_on) {
      if (!is_dead(before.state)) continue;
      return refuse(
          Errc::invalid_argument, id,
          fmt::format("depends on job {}, which is {}: retry that one first", before.id, to_string(before.state)));
    }
  }
  return refuse(Errc::invalid_argument, id, "depends on a dead job: retry that one first");
}

}  // namespace
}  // namespace job

Result<JobState> Jobs::cancel(JobId id, std::string_view reason) const {
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  sql::JobCancel statement{.job_id = id};
  if (!reason.empty()) statement.reason = reason;
  auto answer = impl_->new_call().ask(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.is(Reply::cancelled)) return JobState::cancelled;
  if (answer->outcome.is(Reply::requested)) return JobState::running;
  if (answer->outcome.refusal() == Errc::not_found) return job::no_such_job(id);
  const auto state = from_word<JobState>(answer->state.value_or(""));
  if (answer->outcome.is(Reply::final) && state) return *state;
  return job::odd_answer(job::describe(id), answer->outcome.word());
}

Result<JobState> Jobs::retry(JobId id) const {
  auto answer = impl_->new_call().ask(sql::JobRetry{.job_id = id});
  if (!answer) return std::move(answer).error();
  if (answer->outcome.is(Reply::retried) || answer->outcome.is(Reply::available)) return JobState::available;
  if (answer->outcome.is(Reply::waits)) return JobState::blocked;
  if (answer->outcome.is(Reply::dead)) return job::dead_predecessor(*this, id);
  return job::retry_refusal(id, answer->outcome);
}

Result<std::int64_t> Jobs::redrive(std::string_view queue) const {
  if (auto checked = check_text("queue name", queue); !checked) return std::move(checked).error();
  sql::JobRedrive statement{.queue = std::nullopt, .max = job::redrive_batch};
  if (!queue.empty()) statement.queue = queue;
  std::int64_t total = 0;
  for (;;) {
    auto batch = impl_->new_call().ask(statement);
    if (!batch) return std::move(batch).error();
    total += batch->redriven;
    // A smaller batch is not the end: of several jobs with one dedupe key, each batch takes one.
    if (batch->redriven == 0) return total;
  }
}

Result<void> Jobs::remove(JobId id) const {
  auto answer = impl_->new_call().ask(sql::JobRemove{.job_id = id});
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  if (answer->outcome.refusal() == Errc::not_found) return job::no_such_job(id);
  if (answer->outcome.is(Reply::running)) return job::refuse(Errc::held, id, "is running: cancel it first");
  return job::odd_answer(job::describe(id), answer->outcome.word());
}

// Queues: their settings and their state.
namespace job {
namespace {

constexpr std::int64_t purge_batch = 1000;

QueueInfo queue_info_from(sql::QueueInfo& row) {
  auto wait = wait_from(row);
  auto queue = std::move(row).as<QueueInfo, 1>();
  queue.wait = std::move(wait);
  return queue;
}

WorkerInfo worker_info_from(sql::WorkerInfo& row) {
  auto holder = lease::holder_in(row).value_or(Holder{});
  auto queues = texts_from_json(row.queues);
  auto worker = std::move(row).as<WorkerInfo, 1>();
  worker.holder = std::move(holder);
  worker.queues = std::move(queues);
  return worker;
}

Result<std::vector<QueueInfo>> list_queues(storage::Backend& backend, std::optional<std::string_view> name,
                                           BootTime deadline) {
  return storage::query_list(backend, sql::QueueList{.name = name}, deadline, queue_info_from);
}

/// For after a change. A queue without jobs and settings does not exist; it is shown as a new one.
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
}  // namespace job

Result<QueueInfo> Queues::set(std::string_view name, const QueueSettings& settings) const {
  if (auto checked = check_name("queue name", name); !checked) return std::move(checked).error();
  if (auto checked = check_queue_settings(settings); !checked) return std::move(checked).error();
  const auto deadline = impl_->deadline();
  const sql::QueueSet statement{.name = name,
                                .max_running = settings.max_running,
                                .max_per_group = settings.max_per_group,
                                .rate_count = settings.rate_count,
                                .rate_period = settings.rate_period,
                                .default_ttl = settings.default_ttl,
                                .timeout = settings.timeout};
  auto done = storage::query_one(*impl_->backend, statement, deadline);
  if (!done) return std::move(done).error();
  return job::show_changed(*impl_->backend, name, deadline);
}

Result<QueueInfo> Queues::pause(std::string_view name, std::string_view reason) const {
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  sql::QueuePause statement{.name = name, .paused = true};
  if (!reason.empty()) statement.reason = reason;
  return job::pause(*impl_->backend, statement, impl_->deadline());
}

Result<QueueInfo> Queues::resume(std::string_view name) const {
  return job::pause(*impl_->backend, sql::QueuePause{.name = name, .paused = false}, impl_->deadline());
}

Result<std::int64_t> Queues::purge(std::string_view name) const {
  if (auto checked = check_name("queue name", name); !checked) return std::move(checked).error();
  const sql::QueuePurge statement{.name = name, .max = job::purge_batch};
  std::int64_t total = 0;
  for (;;) {
    auto batch = impl_->new_call().ask(statement);
    if (!batch) return std::move(batch).error();
    total += batch->purged;
    if (batch->purged < job::purge_batch) return total;
  }
}

Result<QueueInfo> Queues::show(std::string_view name) const {
  if (auto checked = check_name("queue name", name); !checked) return std::move(checked).error();
  auto queues = job::list_queues(*impl_->backend, name, impl_->deadline());
  if (!queues) return std::move(queues).error();
  if (queues->empty()) {
    return Error{.code = Errc::not_found, .message = job::describe(name) + " has never had a job or a setting"};
  }
  return std::move(queues->front());
}

Result<std::vector<QueueInfo>> Queues::list() const {
  return job::list_queues(*impl_->backend, std::nullopt, impl_->deadline());
}

Result<std::vector<WorkerInfo>> Queues::workers(std::string_view queue) const {
  if (auto checked = check_text("queue name", queue); !checked) return std::move(checked).error();
  sql::WorkerList statement;
  if (!queue.empty()) statement.queue = queue;
  return storage::query_list(*impl_->backend, statement, impl_->deadline(), job::worker_info_from);
}

}  // namespace leasehold

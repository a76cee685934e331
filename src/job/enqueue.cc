// Enqueues jobs: one by one, or many in one transaction.
#include <fmt/format.h>
#include <algorithm>
#include <memory>

#include "job/jobs.h"
#include "lease/call.h"
#include "model/bounds.h"
#include "model/words.h"
#include "storage/query.h"

namespace leasehold {

namespace job {
namespace {

// Payloads in one statement.
constexpr std::size_t most_payloads = 1000;

std::optional<std::string_view> unless_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Only its payload and shared settings: it can be enqueued together with jobs that have the same settings.
bool shares_statement(const NewJob& job) {
  return job.dedupe_key.empty() && job.group.empty() && job.depends_on.empty() && job.on_batch_end.empty() &&
         job.request_id.empty();
}

bool share_settings(const NewJob& a, const NewJob& b) {
  const auto& x = a.backoff;
  const auto& y = b.backoff;
  return a.priority == b.priority && a.delay == b.delay && a.run_at == b.run_at && a.max_failures == b.max_failures &&
         a.max_crashes == b.max_crashes && x.base == y.base && x.max == y.max && x.exponential == y.exponential &&
         a.tags == b.tags && a.timeout == b.timeout && a.expires_in == b.expires_in && a.expires_at == b.expires_at &&
         a.metadata == b.metadata && a.batch == b.batch;
}

/// No settings except for a priority.
bool has_defaults(const NewJob& job) {
  return shares_statement(job) && share_settings(job, NewJob{.priority = job.priority});
}

/// How many jobs at the front share a statement.
std::size_t length_of_run(std::span<const NewJob> jobs) {
  const auto& first = jobs.front();
  if (!shares_statement(first)) return 1;
  const auto max = std::min(jobs.size(), most_payloads);
  std::size_t length = 1;
  while (length < max && shares_statement(jobs[length]) && share_settings(first, jobs[length])) ++length;
  return length;
}

/// Runs a statement in its own transaction, or as a part of one.
class Runner {
 public:
  Runner(storage::Backend& backend, BootTime deadline) : backend_(&backend), deadline_(deadline) {}
  explicit Runner(storage::Transaction& transaction) : transaction_(&transaction) {}

  template <typename S>
  Result<std::vector<typename S::Row>> run(const S& statement) const {
    return transaction_ != nullptr ? storage::query(*transaction_, statement)
                                   : storage::query(*backend_, statement, deadline_);
  }

 private:
  storage::Backend* backend_ = nullptr;
  storage::Transaction* transaction_ = nullptr;
  BootTime deadline_{};
};

Error no_answer() {
  return {.code = Errc::damaged, .message = "the store returned no ids: run `leasehold migrate verify`"};
}

Result<void> put_one(const Runner& runner, std::string_view queue, const NewJob& job, std::vector<Enqueued>& out) {
  auto rows = runner.run(sql::JobEnqueueOne{.queue = queue, .payload = job.payload, .priority = job.priority});
  if (!rows) return std::move(rows).error();
  if (rows->size() != 1) return no_answer();
  out.push_back({.id = rows->front().id, .created = true, .state = JobState::available});
  return {};
}

Result<void> put_single(const Runner& runner, std::string_view queue, const NewJob& job, std::vector<Enqueued>& out) {
  if (has_defaults(job)) return put_one(runner, queue, job, out);
  const EnqueueStatement statement(queue, job);
  auto rows = runner.run(statement.get());
  if (!rows) return std::move(rows).error();
  if (rows->size() != 1) return no_answer();
  auto enqueued = enqueued_from(rows->front());
  if (!enqueued) return std::move(enqueued).error();
  out.push_back(*enqueued);
  return {};
}

Result<void> put_many(const Runner& runner, std::string_view queue, std::span<const NewJob> jobs,
                      std::vector<Enqueued>& out) {
  const auto& first = jobs.front();
  std::vector<std::string_view> payloads;
  payloads.reserve(jobs.size());
  for (const auto& job : jobs) payloads.push_back(job.payload);
  const std::vector<std::string_view> tags(first.tags.begin(), first.tags.end());
  auto rows = runner.run(sql::JobEnqueueMany{.queue = queue,
                                             .payloads = payloads,
                                             .priority = first.priority,
                                             .delay = first.delay,
                                             .run_at = first.run_at,
                                             .max_failures = first.max_failures,
                                             .max_crashes = first.max_crashes,
                                             .backoff_base = first.backoff.base,
                                             .backoff_max = first.backoff.max,
                                             .backoff_exponential = first.backoff.exponential,
                                             .tags = tags,
                                             .timeout = first.timeout,
                                             .expires_in = first.expires_in,
                                             .expires_at = first.expires_at,
                                             .metadata = unless_empty(first.metadata),
                                             .batch = unless_empty(first.batch)});
  if (!rows) return std::move(rows).error();
  if (rows->size() != 1 || rows->front().ids.size() != jobs.size()) return no_answer();
  // Only the store knows whether the moment is in the future; see Enqueued::state.
  const bool later = first.delay > Duration(0) || first.run_at.has_value();
  const auto state = later ? JobState::deferred : JobState::available;
  for (const auto id : rows->front().ids) out.push_back({.id = id, .created = true, .updated = false, .state = state});
  return {};
}

Result<void> put_all(const Runner& runner, std::string_view queue, std::span<const NewJob> jobs,
                     std::vector<Enqueued>& out) {
  out.reserve(jobs.size());
  while (!jobs.empty()) {
    const auto length = length_of_run(jobs);
    auto put =
        length == 1 ? put_single(runner, queue, jobs.front(), out) : put_many(runner, queue, jobs.first(length), out);
    if (!put) return put;
    jobs = jobs.subspan(length);
  }
  return {};
}

Result<std::vector<Enqueued>> put_in_transaction(storage::Backend& backend, std::string_view queue,
                                                 std::span<const NewJob> jobs, BootTime deadline) {
  auto transaction = backend.begin(deadline);
  if (!transaction) return std::move(transaction).error();
  std::vector<Enqueued> out;
  if (auto put = put_all(Runner(**transaction), queue, jobs, out); !put) return std::move(put).error();
  if (auto committed = (*transaction)->commit(); !committed) return std::move(committed).error();
  return out;
}

Result<std::vector<Enqueued>> put_at_once(storage::Backend& backend, std::string_view queue,
                                          std::span<const NewJob> jobs, BootTime deadline) {
  std::vector<Enqueued> out;
  if (auto put = put_all(Runner(backend, deadline), queue, jobs, out); !put) return std::move(put).error();
  return out;
}

}  // namespace

Result<void> check_enqueue(std::string_view queue, std::span<const NewJob> jobs) {
  if (auto checked = check_name("queue name", queue); !checked) return checked;
  for (const auto& job : jobs) {
    if (auto checked = check_new_job(job); !checked) return checked;
  }
  return {};
}

EnqueueStatement::EnqueueStatement(std::string_view queue, const NewJob& job)
    : tags_(job.tags.begin(), job.tags.end()) {
  statement_ = {.queue = queue,
                .payload = job.payload,
                .priority = job.priority,
                .delay = job.delay,
                .run_at = job.run_at,
                .dedupe_key = unless_empty(job.dedupe_key),
                .job_group = unless_empty(job.group),
                .max_failures = job.max_failures,
                .max_crashes = job.max_crashes,
                .backoff_base = job.backoff.base,
                .backoff_max = job.backoff.max,
                .backoff_exponential = job.backoff.exponential,
                .tags = tags_,
                .depends_on = job.depends_on,
                .if_failed = to_string(job.if_failed),
                .timeout = job.timeout,
                .expires_in = job.expires_in,
                .expires_at = job.expires_at,
                .metadata = unless_empty(job.metadata),
                .batch = unless_empty(job.batch),
                .on_batch_end = unless_empty(job.on_batch_end),
                .dedupe_mode = to_string(job.dedupe_mode),
                .dedupe_for = job.dedupe_for,
                .request_id = unless_empty(job.request_id)};
}

Result<Enqueued> enqueued_from(const sql::JobEnqueue::Row& row) {
  if (row.state == "not_found") {
    return Error{.code = Errc::invalid_argument,
                 .message = fmt::format("it cannot depend on job {}, which does not exist", row.id)};
  }
  if (row.state == "taken") {
    return Error{.code = Errc::invalid_argument,
                 .message = fmt::format("the batch has an end job already: job {}; a batch has one at a time", row.id)};
  }
  const auto state = from_word<JobState>(row.state);
  if (!state) return odd_answer(describe(row.id), row.state);
  return Enqueued{.id = row.id, .created = row.created, .updated = row.updated, .state = *state};
}

}  // namespace job

Result<Enqueued> Jobs::enqueue(std::string_view queue, const NewJob& job) const {
  auto enqueued = enqueue(queue, std::span(&job, 1));
  if (!enqueued) return std::move(enqueued).error();
  return enqueued->front();
}

Result<std::vector<Enqueued>> Jobs::enqueue(std::string_view queue, std::span<const NewJob> jobs) const {
  if (auto checked = job::check_enqueue(queue, jobs); !checked) return std::move(checked).error();
  if (jobs.empty()) return std::vector<Enqueued>{};
  const bool one_statement = job::length_of_run(jobs) == jobs.size();
  const bool repeatable =
      std::all_of(jobs.begin(), jobs.end(), [](const auto& job) { return !job.request_id.empty(); });
  auto call = impl_->new_call();
  // Without request ids it is not repeated if the answer was lost: that would be another job.
  return call.repeat(repeatable ? lease::IfLost::ask_again : lease::IfLost::give_up, [&] {
    return one_statement ? job::put_at_once(call.backend(), queue, jobs, call.deadline())
                         : job::put_in_transaction(call.backend(), queue, jobs, call.deadline());
  });
}

}  // namespace leasehold

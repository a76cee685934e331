// Reads jobs: one, many, their payloads, results and errors.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "job/jobs.h"
#include "lease/answer.h"
#include "lease/page.h"
#include "model/bounds.h"
#include "model/described.h"
#include "model/words.h"
#include "storage/query.h"

namespace leasehold {

namespace job {
namespace {

constexpr Duration look_again = std::chrono::seconds(1);

std::vector<Predecessor> dependencies_from(const sql::JobInfo& row) {
  const auto ids = integers_from_json(row.depends_on);
  const auto states = texts_from_json(row.depends_on_states);
  std::vector<Predecessor> all;
  for (std::size_t i = 0; i < std::min(ids.size(), states.size()); ++i) {
    all.push_back({.id = ids[i], .state = from_word<JobState>(states[i]).value_or(JobState::available)});
  }
  return all;
}

JobAttempt attempt_from(sql::JobAttempts::Row& row) {
  auto holder = lease::holder_in(row);
  auto attempt = std::move(row).as<JobAttempt, 1>();
  attempt.holder = std::move(holder);
  return attempt;
}

JobError error_from(sql::JobErrors::Row& row) {
  const auto id = row.job_id;
  auto holder = lease::holder_in(row);
  auto error = std::move(row).as<JobError, 2>();
  error.id = id;
  error.holder = std::move(holder);
  return error;
}

bool is_final(JobState state) {
  return state == JobState::completed || state == JobState::failed || state == JobState::cancelled ||
         state == JobState::lapsed;
}

}  // namespace

JobInfo job_info_from(sql::JobInfo& row) {
  auto depends_on = dependencies_from(row);
  auto group = std::move(row.job_group).value_or("");
  auto holder = lease::holder_in(row);
  auto wait = wait_from(row);
  auto info = std::move(row).as<JobInfo, 4>();
  info.depends_on = std::move(depends_on);
  info.group = std::move(group);
  info.holder = std::move(holder);
  info.wait = std::move(wait);
  return info;
}

}  // namespace job

Result<JobInfo> Jobs::show(JobId id) const {
  auto jobs = impl_->new_call().list(sql::JobShow{.job_id = id}, job::job_info_from);
  if (!jobs) return std::move(jobs).error();
  if (jobs->empty()) return job::no_such_job(id);
  return std::move(jobs->front());
}

Result<std::string> Jobs::payload(JobId id) const {
  auto bodies = impl_->new_call().ask_rows(sql::JobBody{.job_id = id});
  if (!bodies) return std::move(bodies).error();
  if (bodies->empty()) return job::no_such_job(id);
  return std::move(bodies->front().payload);
}

Result<std::string> Jobs::result(JobId id) const {
  auto bodies = impl_->new_call().ask_rows(sql::JobBody{.job_id = id});
  if (!bodies) return std::move(bodies).error();
  if (bodies->empty()) return job::no_such_job(id);
  auto& result = bodies->front().result;
  if (!result) return Error{.code = Errc::not_found, .message = job::describe(id) + " has no result"};
  return std::move(*result);
}

Result<std::vector<JobAttempt>> Jobs::attempts(JobId id) const {
  auto attempts = impl_->new_call().list(sql::JobAttempts{.job_id = id}, job::attempt_from);
  if (!attempts || !attempts->empty()) return attempts;
  // Never claimed, or never there?
  if (auto job = show(id); !job) return std::move(job).error();
  return attempts;
}

Result<Page<JobError>> Jobs::errors(const JobErrorFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto skip = lease::page_number(filter.page);
  if (!skip) return std::move(skip).error();
  const sql::JobErrors statement{
      .queue = job::unless_empty(filter.queue), .max = lease::rows_for(filter.max), .skip = *skip};
  return lease::page_of(impl_->new_call().list(statement, job::error_from), filter.max, lease::counted(*skip));
}

Result<BatchInfo> Jobs::batch(std::string_view id) const {
  if (auto checked = check_name("batch", id); !checked) return std::move(checked).error();
  auto batches = impl_->new_call().list(sql::BatchShow{.name = id},
                                        [](sql::BatchInfo& row) { return std::move(row).as<BatchInfo>(); });
  if (!batches) return std::move(batches).error();
  if (batches->empty()) {
    return Error{.code = Errc::not_found, .message = "no job was added with the batch " + quoted(id)};
  }
  return std::move(batches->front());
}

Result<JobInfo> Jobs::wait(JobId id, Duration wait, const Call& call) const {
  if (auto checked = check_wait(wait); !checked) return std::move(checked).error();
  if (auto checked = check_call(call); !checked) return std::move(checked).error();
  const auto until = BootClock::now() + bounded_wait(wait);
  const auto topic = "job:" + std::to_string(id);
  const auto watch = impl_->backend->watch(topic);
  const std::stop_callback on_stop(call.stop, [&watch] { watch->wake(); });
  for (;;) {
    const bool awaited_already = impl_->awaited->known(topic, BootClock::now());
    auto job = show(id);
    if (!job || job::is_final(job->state)) return job;
    if (call.stop.stop_requested() || BootClock::now() >= until) {
      return Error{.code = Errc::busy,
                   .message = job::describe(id) + " is still " + to_string(job->state) + ": the wait ran out"};
    }
    if (awaited_already) {
      watch->wait(std::min(until, BootClock::now() + job::look_again));
    } else {
      impl_->awaited->announce(*impl_->backend, topic, impl_->deadline(call));
    }
  }
}

// Waiting for jobs of several queues at once.
struct JobWatch::Impl {
  std::shared_ptr<const Jobs::Impl> jobs;
  std::vector<std::string> topics;
  std::unique_ptr<storage::ChangeWatch> watch;

  /// True: the store did not know some of the topics, so changes before this call went unnoticed.
  bool announce() {
    bool woken = false;
    for (const auto& topic : topics) {
      if (jobs->awaited->known(topic, BootClock::now())) continue;
      jobs->awaited->announce(*jobs->backend, topic, jobs->deadline());
      woken = true;
    }
    return woken;
  }
};

JobWatch::JobWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JobWatch::JobWatch(JobWatch&&) noexcept = default;
JobWatch& JobWatch::operator=(JobWatch&&) noexcept = default;
JobWatch::~JobWatch() = default;

void JobWatch::wait(BootTime until) {
  if (!impl_->announce()) impl_->watch->wait(until);
}

void JobWatch::wake() { impl_->watch->wake(); }

std::shared_ptr<void> Jobs::watch_lease(std::int64_t lease_id, std::function<void(const LeaseNews&)> on_news) const {
  return impl_->recalls->watch(lease_id, std::move(on_news));
}

JobWatch Jobs::watch(std::span<const std::string> queues) const {
  auto impl = std::make_unique<JobWatch::Impl>();
  impl->jobs = impl_;
  for (const auto& queue : queues) impl->topics.push_back("queue:" + queue);
  // A watch has one topic, or all of them.
  impl->watch = impl_->backend->watch(impl->topics.size() == 1 ? impl->topics.front() : "");
  return JobWatch(std::move(impl));
}

}  // namespace leasehold

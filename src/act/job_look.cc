// Acts that look at jobs and operate on them.
#include "act/act.h"
#include "act/answers.h"
#include "act/arguments.h"
#include "act/confirmations.h"

namespace leasehold::act {
namespace {

struct JobById {
  JobId id = 0;
};

Described describe(Type<JobById>) {
  static constexpr auto fields = fields_of<JobById>({field<&JobById::id>("id").needed().means("the job's id")});
  static const JobById fresh;
  return {"JobById", fields, &fresh};
}

struct JobCancel {
  JobId id = 0;
  std::string reason{};
};

Described describe(Type<JobCancel>) {
  static constexpr auto fields = fields_of<JobCancel>({
      field<&JobCancel::id>("id").needed().means("the job's id"),
      field<&JobCancel::reason>("reason").as_text(),
  });
  static const JobCancel fresh;
  return {"JobCancel", fields, &fresh};
}

struct JobAwait {
  JobId id = 0;
  Duration wait{0};
};

Described describe(Type<JobAwait>) {
  static constexpr auto fields = fields_of<JobAwait>({
      field<&JobAwait::id>("id").needed().means("the job's id"),
      field<&JobAwait::wait>("wait_seconds").from(Duration(0), Duration::max()),
  });
  static const JobAwait fresh;
  return {"JobAwait", fields, &fresh};
}

struct JobSearch {
  std::string text{};
  JobFilter filter{};
};

Described describe(Type<JobSearch>) {
  static constexpr auto fields = fields_of<JobSearch>({
      field<&JobSearch::text>("text").as_text().needed().means("what payload, errors, tags or metadata contain"),
      inlined<&JobSearch::filter>(),
  });
  static const JobSearch fresh;
  return {"JobSearch", fields, &fresh};
}

struct QueueOrAll {
  std::string queue{};
};

Described describe(Type<QueueOrAll>) {
  static constexpr auto fields =
      fields_of<QueueOrAll>({field<&QueueOrAll::queue>("queue").as_name().or_null().means("null: every queue")});
  static const QueueOrAll fresh;
  return {"QueueOrAll", fields, &fresh};
}

struct BatchById {
  std::string id{};
};

Described describe(Type<BatchById>) {
  static constexpr auto fields =
      fields_of<BatchById>({field<&BatchById::id>("id").as_name().needed().means("the batch, as its jobs name it")});
  static const BatchById fresh;
  return {"BatchById", fields, &fresh};
}

Result<JobChanged> changed(JobId id, Result<JobState> state) {
  if (!state) return std::move(state).error();
  return JobChanged{id, *state};
}

Result<JobDetails> job_show(const Store& store, const JobById& given, const Call& /*call*/) {
  const auto jobs = store.jobs();
  auto job = jobs.show(given.id);
  if (!job) return std::move(job).error();
  auto attempts = jobs.attempts(given.id);
  if (!attempts) return std::move(attempts).error();
  auto payload = jobs.payload(given.id);
  if (!payload) return std::move(payload).error();
  auto result = jobs.result(given.id);
  if (!result && result.error().code != Errc::not_found) return std::move(result).error();
  return JobDetails{std::move(*job), std::move(*attempts), std::move(*payload),
                    result ? std::optional(std::move(*result)) : std::nullopt};
}

Result<Page<JobInfo>> job_list(const Store& store, const JobFilter& given, const Call& /*call*/) {
  return store.jobs().list(given);
}

Result<JobsFound> job_search(const Store& store, const JobSearch& given, const Call& /*call*/) {
  return store.jobs().search(given.text, given.filter);
}

Result<JobsChanged> job_bulk(const Store& store, const JobBulk& given, const Call& /*call*/) {
  return store.jobs().bulk(given);
}

Result<Page<JobAttempt>> job_attempts(const Store& store, const JobById& given, const Call& /*call*/) {
  auto attempts = store.jobs().attempts(given.id);
  if (!attempts) return std::move(attempts).error();
  return Page<JobAttempt>{.items = std::move(*attempts)};
}

Result<Page<JobError>> job_errors(const Store& store, const JobErrorFilter& given, const Call& /*call*/) {
  return store.jobs().errors(given);
}

Result<JobInfo> job_wait(const Store& store, const JobAwait& given, const Call& call) {
  return store.jobs().wait(given.id, given.wait, call);
}

Result<BatchInfo> job_batch(const Store& store, const BatchById& given, const Call& /*call*/) {
  return store.jobs().batch(given.id);
}

Result<JobChanged> job_cancel(const Store& store, const JobCancel& given, const Call& /*call*/) {
  return changed(given.id, store.jobs().cancel(given.id, given.reason));
}

Result<JobChanged> job_retry(const Store& store, const JobById& given, const Call& /*call*/) {
  return changed(given.id, store.jobs().retry(given.id));
}

Result<JobsRedriven> job_redrive(const Store& store, const QueueOrAll& given, const Call& /*call*/) {
  auto count = store.jobs().redrive(given.queue);
  if (!count) return std::move(count).error();
  return JobsRedriven{*count};
}

Result<JobRemoved> job_remove(const Store& store, const JobById& given, const Call& /*call*/) {
  if (auto removed = store.jobs().remove(given.id); !removed) return std::move(removed).error();
  return JobRemoved{given.id};
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table.
std::span<const Act> job_look_acts() {
  static constexpr Act acts[] = {
      act<job_show>({
          .name = "job.show",
          .help = "Show a job with its attempts, payload and result",
          .sql = "job_show",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"id":17})",
      }),
      act<job_list>({
          .name = "job.list",
          .help = "List jobs, the newest first",
          .sql = "job_list",
          .idempotent = true,
          .example = R"({"queue":"mail","state":"failed","max":20})",
      }),
      act<job_search>({
          .name = "job.search",
          .help = "Search jobs for a text, the newest first; the answer says how far it looked",
          .sql = "job_search",
          .idempotent = true,
          .example = R"({"text":"ann@example.com","queue":"mail"})",
      }),
      act<job_attempts>({
          .name = "job.attempts",
          .help = "List the attempts of a job",
          .sql = "job_attempts",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"id":17})",
      }),
      act<job_errors>({
          .name = "job.errors",
          .help = "List the latest errors of jobs",
          .idempotent = true,
          .example = R"({"queue":"mail"})",
      }),
      act<job_wait>({
          .name = "job.wait",
          .help = "Wait until a job is completed, failed, cancelled or lapsed",
          .idempotent = true,
          .waits = true,
          .refusals = refusals<Errc::not_found, Errc::busy>,
          .example = R"({"id":17,"wait_seconds":0})",
      }),
      act<job_batch>({
          .name = "job.batch",
          .help = "Count the jobs of a batch",
          .sql = "batch_show",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"id":"import-7"})",
      }),
      act<job_cancel>({
          .name = "job.cancel",
          .help = "Cancel a job; the worker of a running one is notified",
          .scope = Scope::work,
          .sql = "job_cancel",
          .idempotent = true,
          .refusals = refusals<Errc::not_found, Errc::terminal, Errc::busy>,
          .example = R"({"id":17,"reason":"sent by hand"})",
      }),
      act<job_retry>({
          .name = "job.retry",
          .help = "Make a failed, cancelled, lapsed or deferred job available now, with fresh budgets",
          .scope = Scope::work,
          .sql = "job_retry",
          .idempotent = true,
          .refusals = refusals<Errc::not_found, Errc::terminal, Errc::busy, Errc::held, Errc::blocked>,
          .example = R"({"id":17})",
      }),
      act<job_redrive>({
          .name = "job.redrive",
          .help = "Retry every dead letter of a queue, or of all queues",
          .scope = Scope::admin,
          .idempotent = true,
          .example = R"({"queue":"mail"})",
      }),
      act<job_bulk>({
          .name = "job.bulk",
          .help = "Cancel, retry or remove all jobs that match, batch by batch",
          .scope = Scope::admin,
          .sql = "job_bulk",
          .example = R"({"action":"cancel","queue":"mail","state":"deferred","preview":true})",
      }),
      act<job_remove>({
          .name = "job.remove",
          .help = "Remove a job that is not running",
          .scope = Scope::admin,
          .sql = "job_remove",
          .refusals = refusals<Errc::not_found, Errc::busy, Errc::held>,
          .example = R"({"id":17})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act

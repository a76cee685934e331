// Acts on jobs: enqueue, claim, settle. Looking at them and operating is in job_look.cc.
#include "act/act.h"
#include "act/arguments.h"

namespace leasehold::act {
namespace {

struct JobEnqueue {
  std::string queue{};
  NewJob job{};
};

Described describe(Type<JobEnqueue>) {
  static constexpr auto fields = fields_of<JobEnqueue>({
      field<&JobEnqueue::queue>("queue").as_name().needed(),
      inlined<&JobEnqueue::job>(),
  });
  static const JobEnqueue fresh;
  return {"JobEnqueue", fields, &fresh};
}

struct JobsEnqueue {
  std::string queue{};
  std::vector<NewJob> jobs{};
};

Described describe(Type<JobsEnqueue>) {
  static constexpr auto fields = fields_of<JobsEnqueue>({
      field<&JobsEnqueue::queue>("queue").as_name().needed(),
      field<&JobsEnqueue::jobs>("jobs").needed().means("the jobs, all or none"),
  });
  static const JobsEnqueue fresh;
  return {"JobsEnqueue", fields, &fresh};
}

struct JobClaim {
  std::string queue{};
  std::string holder{};
  JobClaimOptions options{};
};

Described describe(Type<JobClaim>) {
  static constexpr auto fields = fields_of<JobClaim>({
      field<&JobClaim::queue>("queue").as_name().needed(),
      inlined<&JobClaim::options>(),
      field<&JobClaim::holder>("holder").as_name().or_null().means("the name that other callers see"),
  });
  static const JobClaim fresh;
  return {"JobClaim", fields, &fresh};
}

struct JobBeat {
  JobId id = 0;
  Token token{};
  std::optional<Duration> ttl{};
  Progress progress{};
};

Described describe(Type<JobBeat>) {
  static constexpr auto fields = fields_of<JobBeat>({
      field<&JobBeat::id>("id").needed().means("the job's id"),
      field<&JobBeat::token>("token").needed(),
      field<&JobBeat::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
      inlined<&JobBeat::progress>(),
  });
  static const JobBeat fresh;
  return {"JobBeat", fields, &fresh};
}

struct JobHeld {
  JobId id = 0;
  Token token{};
};

Described describe(Type<JobHeld>) {
  static constexpr auto fields = fields_of<JobHeld>({
      field<&JobHeld::id>("id").needed().means("the job's id"),
      field<&JobHeld::token>("token").needed(),
  });
  static const JobHeld fresh;
  return {"JobHeld", fields, &fresh};
}

struct JobComplete {
  JobHeld job{};
  std::string result{};
};

Described describe(Type<JobComplete>) {
  static constexpr auto fields = fields_of<JobComplete>({
      inlined<&JobComplete::job>(),
      field<&JobComplete::result>("result").as(model::Kind::bytes).up_to(bounds::result_bytes),
  });
  static const JobComplete fresh;
  return {"JobComplete", fields, &fresh};
}

struct JobFail {
  JobHeld job{};
  std::string error{};
  bool retryable = true;
  std::optional<Duration> delay{};
};

Described describe(Type<JobFail>) {
  static constexpr auto fields = fields_of<JobFail>({
      inlined<&JobFail::job>(),
      field<&JobFail::error>("error").means("what went wrong; kept with the attempt"),
      field<&JobFail::retryable>("retryable"),
      field<&JobFail::delay>("delay_seconds")
          .from(Duration(0), bounds::max_delay)
          .means("retry after this time instead of the backoff"),
  });
  static const JobFail fresh;
  return {"JobFail", fields, &fresh};
}

struct JobSnooze {
  JobHeld job{};
  Duration delay{};
};

Described describe(Type<JobSnooze>) {
  static constexpr auto fields = fields_of<JobSnooze>({
      inlined<&JobSnooze::job>(),
      field<&JobSnooze::delay>("delay_seconds")
          .from(Duration(0), bounds::max_delay)
          .needed()
          .means("run it after this time at the earliest"),
  });
  static const JobSnooze fresh;
  return {"JobSnooze", fields, &fresh};
}

Result<Enqueued> job_enqueue(const Store& store, const JobEnqueue& given, const Call& /*call*/) {
  return store.jobs().enqueue(given.queue, given.job);
}

Result<Page<Enqueued>> job_enqueue_all(const Store& store, const JobsEnqueue& given, const Call& /*call*/) {
  auto added = store.jobs().enqueue(given.queue, given.jobs);
  if (!added) return std::move(added).error();
  return Page<Enqueued>{.items = std::move(*added)};
}

Result<JobGrant> job_claim(const Store& store, const JobClaim& given, const Call& call) {
  return store.jobs().claim(given.queue, given.options, as_holder(call, given.holder));
}

Result<JobHeartbeat> job_heartbeat(const Store& store, const JobBeat& given, const Call& /*call*/) {
  return store.jobs().heartbeat(given.id, given.token, given.progress, given.ttl);
}

Result<JobSettled> job_complete(const Store& store, const JobComplete& given, const Call& /*call*/) {
  return store.jobs().complete(given.job.id, given.job.token, given.result);
}

Result<JobSettled> job_fail(const Store& store, const JobFail& given, const Call& /*call*/) {
  return store.jobs().settle(
      {given.job.id,
       given.job.token,
       {.kind = Verdict::Kind::fail, .text = given.error, .retryable = given.retryable, .delay = given.delay}});
}

Result<JobSettled> job_release(const Store& store, const JobHeld& given, const Call& /*call*/) {
  return store.jobs().release(given.id, given.token);
}

Result<JobSettled> job_snooze(const Store& store, const JobSnooze& given, const Call& /*call*/) {
  return store.jobs().snooze(given.job.id, given.job.token, given.delay);
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table.
std::span<const Act> job_acts() {
  static constexpr Act acts[] = {
      act<job_enqueue>({
          .name = "job.enqueue",
          .help = "Add a job to a queue",
          .scope = Scope::produce,
          .sql = "job_enqueue",
          .refusals = refusals<Errc::not_found, Errc::busy>,
          .example = R"({"queue":"mail","payload":{"to":"ann"},"priority":5})",
      }),
      act<job_enqueue_all>({
          .name = "job.enqueue_all",
          .help = "Add several jobs to a queue, all or none",
          .scope = Scope::produce,
          .sql = "job_enqueue_many",
          .refusals = refusals<Errc::not_found, Errc::busy>,
          .example = R"({"queue":"mail","jobs":[{"payload":{"to":"ann"}},{"payload":{"to":"ben"}}]})",
      }),
      act<job_claim>({
          .name = "job.claim",
          .help = "Claim jobs of a queue under one lease",
          .scope = Scope::work,
          .sql = "job_claim",
          .waits = true,
          .refusals = refusals<Errc::empty, Errc::at_capacity, Errc::paused, Errc::rate_limited, Errc::busy, Errc::lost,
                               Errc::not_found>,
          .example = R"({"queue":"mail","ttl_seconds":30})",
      }),
      act<job_heartbeat>({
          .name = "job.heartbeat",
          .help = "Extend the lease of a job, and report its progress",
          .scope = Scope::work,
          .sql = "job_heartbeat",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"id":17,"token":1763200000000000,"percent":40,"stage":"testing"})",
      }),
      act<job_complete>({
          .name = "job.complete",
          .help = "Complete a job",
          .scope = Scope::work,
          .sql = "job_complete",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found>,
          .example = R"({"id":17,"token":1763200000000000,"result":{"sent":true}})",
      }),
      act<job_fail>({
          .name = "job.fail",
          .help = "Fail a job; it is retried after a backoff until its budget is spent",
          .scope = Scope::work,
          .sql = "job_fail",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found>,
          .example = R"({"id":17,"token":1763200000000000,"error":"no route to host"})",
      }),
      act<job_release>({
          .name = "job.release",
          .help = "Release a job; it is available at once, and no budget is charged",
          .scope = Scope::work,
          .sql = "job_release",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found>,
          .example = R"({"id":17,"token":1763200000000000})",
      }),
      act<job_snooze>({
          .name = "job.snooze",
          .help = "Return a job to its queue for later; no budget is charged",
          .scope = Scope::work,
          .sql = "job_snooze",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found>,
          .example = R"({"id":17,"token":1763200000000000,"delay_seconds":600})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act

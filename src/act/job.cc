// Acts on jobs: enqueue, claim, heartbeat. Verdicts are in job_settle.cc, the acts that read and operate in
// job_look.cc.
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
  };
  return acts;
}

}  // namespace leasehold::act

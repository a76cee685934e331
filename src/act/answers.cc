#include "act/answers.h"

#include <algorithm>

#include "model/describe.h"

namespace leasehold::act {

using model::Described;
using model::field;
using model::fields_of;
using model::hidden;
using model::inlined;
using model::inlined_as;
using model::Kind;
using model::Type;

namespace {

constexpr auto are_several = [](const LockGrant& grant) { return grant.names.size() > 1; };
constexpr auto is_share = [](const LockGrant& grant) { return grant.share.has_value(); };
constexpr auto is_settled = [](const JobVerdictAnswer& answer) { return answer.settled.has_value(); };
constexpr auto has_job = [](const PlanReport& report) { return report.job_id && report.job_state; };

constexpr std::string_view settled_it = "the store took the verdict";

}  // namespace

Described describe(Type<LockGrant>) {
  static constexpr auto fields = fields_of<LockGrant>({
      field<&LockGrant::grant, &Grant::key>("name"),
      inlined<&LockGrant::grant>(),
      field<&LockGrant::names>("names").when<are_several>("several were acquired together"),
      field<[](const LockGrant& grant) { return grant.share->permits; }>("permits")
          .means("how many permits this share has")
          .when<is_share>("it is a share"),
      field<[](const LockGrant& grant) { return grant.share->capacity; }>("capacity").when<is_share>("it is a share"),
      hidden<&LockGrant::share>(),
  });
  return {"LockGrant", fields};
}

Described describe(Type<SessionGrant>) {
  static constexpr auto fields = fields_of<SessionGrant>({
      field<&SessionGrant::grant, &Grant::key>("id").means("the session's id"),
      inlined<&SessionGrant::grant>(),
  });
  return {"SessionGrant", fields};
}

Described describe(Type<RunGrant>) {
  static constexpr auto fields = fields_of<RunGrant>({
      field<&RunGrant::grant, &Grant::key>("name"),
      inlined<&RunGrant::grant>(),
  });
  return {"RunGrant", fields};
}

Described describe(Type<LockDetails>) {
  static constexpr auto fields = fields_of<LockDetails>({
      inlined<&LockDetails::lock>(),
      field<&LockDetails::leases>("leases").means("every lease on the lock"),
  });
  return {"LockDetails", fields};
}

Described describe(Type<EndedLock>) {
  static constexpr auto fields = fields_of<EndedLock>({
      field<&EndedLock::lease, &LeaseInfo::key>("name"),
      inlined_as<&EndedLock::lease, model::lease_body>(),
      field<&EndedLock::together>("together"),
  });
  return {"EndedLock", fields};
}

Described describe(Type<JobDetails>) {
  static constexpr auto fields = fields_of<JobDetails>({
      inlined<&JobDetails::job>(),
      field<&JobDetails::attempts>("history"),
      field<&JobDetails::payload>("payload").as(Kind::bytes),
      field<&JobDetails::result>("result").as(Kind::bytes).if_any(),
  });
  return {"JobDetails", fields};
}

Described describe(Type<JobVerdictAnswer>) {
  static constexpr auto fields = fields_of<JobVerdictAnswer>({
      field<&JobVerdictAnswer::id>("id").means("the job's id"),
      field<[](const JobVerdictAnswer& answer) { return answer.settled->state; }>("state").when<is_settled>(settled_it),
      field<[](const JobVerdictAnswer& answer) { return answer.settled->due_at; }>("due_at").when<is_settled>(
          settled_it),
      field<[](const JobVerdictAnswer& answer) { return answer.settled->replayed; }>("replayed")
          .when<is_settled>(settled_it),
      hidden<&JobVerdictAnswer::settled>(),
      field<&JobVerdictAnswer::error>("error").means("why this verdict was refused").if_any(),
  });
  return {"JobVerdictAnswer", fields};
}

Described describe(Type<JobsSettled>) {
  static constexpr auto fields = fields_of<JobsSettled>({
      field<&JobsSettled::settled>("settled").means("how many verdicts the store took"),
      field<&JobsSettled::refused>("refused").means("how many it refused"),
      field<&JobsSettled::items>("items").means("the answer to each verdict, in their order"),
  });
  return {"JobsSettled", fields};
}

Described describe(Type<ChunkDetails>) {
  static constexpr auto fields = fields_of<ChunkDetails>({
      inlined<&ChunkDetails::chunk>(),
      field<&ChunkDetails::events>("events").means("the chunk's events"),
  });
  return {"ChunkDetails", fields};
}

Described describe(Type<ChunkSetDetails>) {
  static constexpr auto fields = fields_of<ChunkSetDetails>({
      inlined<&ChunkSetDetails::set>(),
      field<&ChunkSetDetails::held>("held_chunks"),
      field<&ChunkSetDetails::exhausted>("exhausted_chunks"),
  });
  return {"ChunkSetDetails", fields};
}

Described describe(Type<PlanReport>) {
  static constexpr auto fields = fields_of<PlanReport>({
      inlined<&PlanReport::outcome>(),
      field<&PlanReport::job_id>("job_id").when<has_job>("a job waits for the set"),
      field<&PlanReport::job_state>("job_state").when<has_job>("a job waits for the set"),
  });
  return {"PlanReport", fields};
}

Described describe(Type<Occurrence>) {
  static constexpr auto fields =
      fields_of<Occurrence>({field<&Occurrence::at>("at").means("when it is due, without jitter")});
  return {"Occurrence", fields};
}

Described describe(Type<StoreReport>) {
  static constexpr auto fields = fields_of<StoreReport>({
      inlined<&StoreReport::status>(),
      field<&StoreReport::retention>("retention"),
      field<&StoreReport::queues>("queues"),
      field<&StoreReport::recovery>("recovery"),
      field<&StoreReport::status, &StoreStatus::store_now>("store_now"),
  });
  return {"StoreReport", fields};
}

}  // namespace leasehold::act

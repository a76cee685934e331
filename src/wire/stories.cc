#include "wire/stories.h"

#include <algorithm>

#include "model/describe.h"

namespace leasehold::wire {

using model::Described;
using model::field;
using model::fields_of;
using model::hidden;
using model::inlined;
using model::Kind;
using model::Type;

namespace {

constexpr auto are_several = [](const LockGrant& grant) { return grant.names.size() > 1; };
constexpr auto is_share = [](const LockGrant& grant) { return grant.share.has_value(); };
constexpr auto has_job = [](const PlanReport& report) { return report.job_id && report.job_state; };

constexpr auto is_not_due = [](const SkippedRun& run) { return run.refusal.code == Errc::not_due; };
constexpr auto is_held = [](const SkippedRun& run) { return run.refusal.code == Errc::held && run.refusal.current; };
constexpr auto is_paused = [](const SkippedRun& run) { return run.refusal.code == Errc::paused; };

constexpr auto since = [](const SkippedRun& run) -> std::optional<Timestamp> {
  if (is_held(run)) return run.refusal.current->acquired_at;
  const auto* paused_at = run.refusal.find<Timestamp>("paused_at");
  return paused_at != nullptr ? std::optional(*paused_at) : std::nullopt;
};
constexpr auto paused_reason = [](const SkippedRun& run) {
  const auto* reason = run.refusal.find<std::string>("pause_reason");
  return reason != nullptr ? *reason : std::string();
};
constexpr auto frees_in_time = [](const SkippedRun& run) {
  return std::max(run.refusal.current->frees_in(), Duration::zero());
};
constexpr auto current = [](const SkippedRun& run) -> const LeaseInfo& { return *run.refusal.current; };

}  // namespace

Described describe(Type<LockGrant>) {
  static constexpr auto fields = fields_of<LockGrant>({
      inlined<&LockGrant::grant>(),
      field<&LockGrant::names>("names").when<are_several>(),
      field<[](const LockGrant& grant) { return grant.share->permits; }>("permits").when<is_share>(),
      field<[](const LockGrant& grant) { return grant.share->capacity; }>("capacity").when<is_share>(),
      hidden<&LockGrant::share>(),
  });
  return {"LockGrant", fields};
}

Described describe(Type<LockStory>) {
  static constexpr auto fields = fields_of<LockStory>({
      inlined<&LockStory::lock>(),
      field<&LockStory::held_by>("held_by"),
  });
  return {"LockStory", fields};
}

Described describe(Type<EndedLock>) {
  static constexpr auto fields = fields_of<EndedLock>({
      inlined<&EndedLock::lease>(),
      field<&EndedLock::together>("together"),
  });
  return {"EndedLock", fields};
}

Described describe(Type<JobStory>) {
  static constexpr auto fields = fields_of<JobStory>({
      inlined<&JobStory::job>(),
      field<&JobStory::attempts>("history"),
      field<&JobStory::payload>("payload").as(Kind::bytes),
      field<&JobStory::result>("result").as(Kind::bytes).if_any(),
  });
  return {"JobStory", fields};
}

Described describe(Type<ChunkStory>) {
  static constexpr auto fields = fields_of<ChunkStory>({
      inlined<&ChunkStory::chunk>(),
      field<&ChunkStory::events>("events"),
  });
  return {"ChunkStory", fields};
}

Described describe(Type<ChunkPicture>) {
  static constexpr auto fields = fields_of<ChunkPicture>({
      inlined<&ChunkPicture::set>(),
      field<&ChunkPicture::held>("held_chunks"),
      field<&ChunkPicture::exhausted>("exhausted_chunks"),
  });
  return {"ChunkPicture", fields};
}

Described describe(Type<PlanReport>) {
  static constexpr auto fields = fields_of<PlanReport>({
      inlined<&PlanReport::outcome>(),
      field<&PlanReport::job_id>("job_id").when<has_job>(),
      field<&PlanReport::job_state>("job_state").when<has_job>(),
  });
  return {"PlanReport", fields};
}

Described describe(Type<SkippedRun>) {
  static constexpr auto fields = fields_of<SkippedRun>({
      field<[](const SkippedRun&) { return true; }>("ok"),
      field<[](const SkippedRun&) { return true; }>("skipped"),
      field<[](const SkippedRun& run) { return to_string(run.refusal.code); }>("reason"),
      field<&SkippedRun::schedule>("schedule"),
      field<&SkippedRun::refusal, &Error::retry_at>("next_run_at").when<is_not_due>(),
      field<&SkippedRun::refusal, &Error::retry_in>("next_in_seconds").when<is_not_due>(),
      field<current, &LeaseInfo::holder, &Holder::name>("holder").when<is_held>(),
      field<current, &LeaseInfo::holder, &Holder::host>("host").or_null().when<is_held>(),
      field<since>("since").when<[](const SkippedRun& run) { return is_held(run) || is_paused(run); }>(),
      field<current, &LeaseInfo::expires_at>("frees_at").when<is_held>(),
      field<frees_in_time>("frees_in_seconds").when<is_held>(),
      field<paused_reason>("paused_reason").or_null().when<is_paused>(),
  });
  return {"SkippedRun", fields};
}

Described describe(Type<StoreReport>) {
  static constexpr auto fields = fields_of<StoreReport>({
      inlined<&StoreReport::status>(),
      field<&StoreReport::queues>("queues"),
      field<&StoreReport::recovery>("recovery"),
      field<&StoreReport::status, &StoreStatus::store_now>("store_now"),
  });
  return {"StoreReport", fields};
}

}  // namespace leasehold::wire

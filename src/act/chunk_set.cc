// Acts on chunk sets: plan, look, operate.
#include "act/act.h"
#include "act/answers.h"
#include "act/arguments.h"
#include "act/confirmations.h"

namespace leasehold::act {
namespace {

struct ChunkPlan {
  std::string set{};
  std::vector<PlannedChunk> chunks{};
  PlanOptions options{};
};

Described describe(Type<ChunkPlan>) {
  static constexpr auto fields = fields_of<ChunkPlan>({
      field<&ChunkPlan::set>("set").as_name().needed(),
      field<&ChunkPlan::chunks>("chunks").needed().means("every chunk of the set"),
      inlined<&ChunkPlan::options>(),
  });
  static const ChunkPlan fresh;
  return {"ChunkPlan", fields, &fresh};
}

struct ChunkPlanRange {
  std::string set{};
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t size = 0;
  PlanOptions options{};
};

Described describe(Type<ChunkPlanRange>) {
  static constexpr auto fields = fields_of<ChunkPlanRange>({
      field<&ChunkPlanRange::set>("set").as_name().needed(),
      field<&ChunkPlanRange::first>("first").needed().means("the first number of the range"),
      field<&ChunkPlanRange::last>("last").needed().means("the last number of the range"),
      field<&ChunkPlanRange::size>("size").needed().means("how many numbers a chunk has"),
      inlined<&ChunkPlanRange::options>(),
  });
  static const ChunkPlanRange fresh;
  return {"ChunkPlanRange", fields, &fresh};
}

struct ChunkSetSet {
  std::string set{};
  ChunkSetSettings settings{};
};

Described describe(Type<ChunkSetSet>) {
  static constexpr auto fields = fields_of<ChunkSetSet>({
      field<&ChunkSetSet::set>("set").as_name().needed(),
      inlined<&ChunkSetSet::settings>(),
  });
  static const ChunkSetSet fresh;
  return {"ChunkSetSet", fields, &fresh};
}

struct ChunkSetReset {
  std::string set{};
  ChunkReset reset{};
};

Described describe(Type<ChunkSetReset>) {
  static constexpr auto fields = fields_of<ChunkSetReset>({
      field<&ChunkSetReset::set>("set").as_name().needed(),
      inlined<&ChunkSetReset::reset>(),
  });
  static const ChunkSetReset fresh;
  return {"ChunkSetReset", fields, &fresh};
}

struct ChunkList {
  std::string set{};
  ChunkFilter filter{};
};

Described describe(Type<ChunkList>) {
  static constexpr auto fields = fields_of<ChunkList>({
      field<&ChunkList::set>("set").as_name().needed(),
      inlined<&ChunkList::filter>(),
  });
  static const ChunkList fresh;
  return {"ChunkList", fields, &fresh};
}

struct ChunkSetByName {
  std::string set{};
};

Described describe(Type<ChunkSetByName>) {
  static constexpr auto fields = fields_of<ChunkSetByName>({field<&ChunkSetByName::set>("set").as_name().needed()});
  static const ChunkSetByName fresh;
  return {"ChunkSetByName", fields, &fresh};
}

struct ChunkTieJob {
  std::string set{};
  JobId job = 0;
  std::optional<Token> token{};
};

Described describe(Type<ChunkTieJob>) {
  static constexpr auto fields = fields_of<ChunkTieJob>({
      field<&ChunkTieJob::set>("set").as_name().needed(),
      field<&ChunkTieJob::job>("job_id").needed(),
      field<&ChunkTieJob::token>("token").means("of the caller's claim of the job; null: the job waits in its queue"),
  });
  static const ChunkTieJob fresh;
  return {"ChunkTieJob", fields, &fresh};
}

struct JobTied {
  std::string set{};
  JobId job = 0;
  JobState state = JobState::available;
};

Described describe(Type<JobTied>) {
  static constexpr auto fields = fields_of<JobTied>({
      field<&JobTied::set>("set"),
      field<&JobTied::job>("job_id"),
      field<&JobTied::state>("job_state"),
  });
  return {"JobTied", fields};
}

Result<PlanOutcome> chunk_plan(const Store& store, const ChunkPlan& given, const Call& /*call*/) {
  return store.chunks().plan(given.set, given.chunks, given.options);
}

Result<PlanOutcome> chunk_plan_range(const Store& store, const ChunkPlanRange& given, const Call& /*call*/) {
  const auto planned = plan_range(given.first, given.last, given.size);
  if (!planned) return planned.error();
  return store.chunks().plan(given.set, *planned, given.options);
}

Result<ChunkSetInfo> chunk_set(const Store& store, const ChunkSetSet& given, const Call& /*call*/) {
  if (auto set = store.chunks().set(given.set, given.settings); !set) return std::move(set).error();
  return store.chunks().progress(given.set);
}

Result<ChunkResetOutcome> chunk_reset(const Store& store, const ChunkSetReset& given, const Call& /*call*/) {
  return store.chunks().reset(given.set, given.reset);
}

Result<Page<ChunkInfo>> chunk_list(const Store& store, const ChunkList& given, const Call& /*call*/) {
  return store.chunks().list(given.set, given.filter);
}

Result<ChunkSetInfo> chunk_progress(const Store& store, const ChunkSetByName& given, const Call& /*call*/) {
  return store.chunks().progress(given.set);
}

Result<Page<ChunkSetInfo>> chunk_sets(const Store& store, const Nothing& /*given*/, const Call& /*call*/) {
  auto sets = store.chunks().sets();
  if (!sets) return std::move(sets).error();
  return Page<ChunkSetInfo>{.items = std::move(*sets)};
}

Result<ChunkSetRemoved> chunk_remove(const Store& store, const ChunkSetByName& given, const Call& /*call*/) {
  auto count = store.chunks().remove(given.set);
  if (!count) return std::move(count).error();
  return ChunkSetRemoved{given.set, *count};
}

Result<JobTied> chunk_tie_job(const Store& store, const ChunkTieJob& given, const Call& /*call*/) {
  auto state = store.chunks().tie_job(given.set, given.job, given.token);
  if (!state) return std::move(state).error();
  return JobTied{given.set, given.job, *state};
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table.
std::span<const Act> chunk_set_acts() {
  static constexpr Act acts[] = {
      act<chunk_plan>({
          .name = "chunk.plan",
          .help = "Plan the chunks of a set; repeating a plan only adds what is missing",
          .scope = Scope::work,
          .sql = "chunk_plan",
          .idempotent = true,
          .refusals = refusals<Errc::race, Errc::busy>,
          .example = R"({"set":"months","chunks":[{"key":"2024-03","spec":{"from":"2024-03-01"}}]})",
      }),
      act<chunk_plan_range>({
          .name = "chunk.plan_range",
          .help = "Plan a set from a range of numbers",
          .scope = Scope::work,
          .sql = "chunk_plan_range",
          .idempotent = true,
          .refusals = refusals<Errc::race, Errc::busy>,
          .example = R"({"set":"orders","first":1,"last":400,"size":100})",
      }),
      act<chunk_set>({
          .name = "chunk.set",
          .help = "Set the budgets and the backoff of a set; what is left out stays as it is",
          .scope = Scope::admin,
          .sql = "chunk_set_settings",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"set":"orders","max_failures":5})",
      }),
      act<chunk_progress>({
          .name = "chunk.progress",
          .help = "Count the chunks of a set by state",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"set":"orders"})",
      }),
      act<chunk_sets>({
          .name = "chunk.sets",
          .help = "List the sets",
          .idempotent = true,
          .example = "{}",
      }),
      act<chunk_list>({
          .name = "chunk.list",
          .help = "List the chunks of a set in plan order",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"set":"orders","state":"exhausted"})",
      }),
      act<chunk_reset>({
          .name = "chunk.reset",
          .help = "Reset chunks, so that they are loaded again",
          .scope = Scope::admin,
          .sql = "chunk_reset",
          .refusals = refusals<Errc::not_found>,
          .example = R"({"set":"orders","which":"failed"})",
      }),
      act<chunk_tie_job>({
          .name = "chunk.tie_job",
          .help = "Tie a job to a set: it ends when the set does",
          .scope = Scope::work,
          .sql = "chunk_tie_job",
          .idempotent = true,
          .refusals = refusals<Errc::not_found, Errc::terminal, Errc::lost, Errc::held, Errc::busy>,
          .example = R"({"set":"orders","job_id":17})",
      }),
      act<chunk_remove>({
          .name = "chunk.remove",
          .help = "Remove a set and its chunks",
          .scope = Scope::admin,
          .sql = "chunk_set_remove",
          .refusals = refusals<Errc::not_found, Errc::held, Errc::busy>,
          .example = R"({"set":"months"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act

// Acts on schedules: set, acquire, settle. The acts that read and operate are in schedule_look.cc.
#include "act/act.h"
#include "act/answers.h"
#include "act/arguments.h"
#include "act/confirmations.h"

namespace leasehold::act {
namespace {

struct ScheduleSet {
  std::string name{};
  ScheduleOptions options{};
};

Described describe(Type<ScheduleSet>) {
  static constexpr auto fields = fields_of<ScheduleSet>({
      field<&ScheduleSet::name>("name").as_name().needed(),
      inlined<&ScheduleSet::options>(),
  });
  static const ScheduleSet fresh;
  return {"ScheduleSet", fields, &fresh};
}

struct ScheduleAcquire {
  std::string name{};
  std::string holder{};
  ScheduleAcquireOptions options{};
};

Described describe(Type<ScheduleAcquire>) {
  static constexpr auto fields = fields_of<ScheduleAcquire>({
      field<&ScheduleAcquire::name>("name").as_name().needed(),
      inlined<&ScheduleAcquire::options>(),
      field<&ScheduleAcquire::holder>("holder").as_name().or_null().means("the name that other callers see"),
  });
  static const ScheduleAcquire fresh;
  return {"ScheduleAcquire", fields, &fresh};
}

struct ScheduleSettle {
  std::string name{};
  Token token{};
  RunResult result{};
};

Described describe(Type<ScheduleSettle>) {
  static constexpr auto fields = fields_of<ScheduleSettle>({
      field<&ScheduleSettle::name>("name").as_name().needed(),
      field<&ScheduleSettle::token>("token").needed(),
      inlined<&ScheduleSettle::result>(),
  });
  static const ScheduleSettle fresh;
  return {"ScheduleSettle", fields, &fresh};
}

struct ScheduleComplete {
  std::string name{};
  Token token{};
  std::string counts{};
};

Described describe(Type<ScheduleComplete>) {
  static constexpr auto fields = fields_of<ScheduleComplete>({
      field<&ScheduleComplete::name>("name").as_name().needed(),
      field<&ScheduleComplete::token>("token").needed(),
      field<&ScheduleComplete::counts>("counts").or_null().as_json(bounds::counts_bytes),
  });
  static const ScheduleComplete fresh;
  return {"ScheduleComplete", fields, &fresh};
}

struct ScheduleFail {
  std::string name{};
  Token token{};
  std::string error{};
};

Described describe(Type<ScheduleFail>) {
  static constexpr auto fields = fields_of<ScheduleFail>({
      field<&ScheduleFail::name>("name").as_name().needed(),
      field<&ScheduleFail::token>("token").needed(),
      field<&ScheduleFail::error>("error").means("what went wrong; kept with the run"),
  });
  static const ScheduleFail fresh;
  return {"ScheduleFail", fields, &fresh};
}

Result<ScheduleSaved> schedule_set(const Store& store, const ScheduleSet& given, const Call& /*call*/) {
  return store.schedules().set(given.name, given.options);
}

Result<Ensured> schedule_ensure(const Store& store, const ScheduleSet& given, const Call& /*call*/) {
  return store.schedules().ensure(given.name, given.options);
}

Result<ScheduleRun> schedule_acquire(const Store& store, const ScheduleAcquire& given, const Call& call) {
  return store.schedules().acquire(given.name, given.options, as_holder(call, given.holder));
}

Result<RunGrant> schedule_heartbeat(const Store& store, const HeartbeatOf& given, const Call& /*call*/) {
  auto grant = store.schedules().heartbeat(given.name, given.token, given.ttl);
  if (!grant) return std::move(grant).error();
  return RunGrant{std::move(*grant)};
}

Result<RunSettled> schedule_settle(const Store& store, const ScheduleSettle& given, const Call& /*call*/) {
  return store.schedules().settle(given.name, given.token, given.result);
}

Result<RunSettled> schedule_complete(const Store& store, const ScheduleComplete& given, const Call& /*call*/) {
  return store.schedules().complete(given.name, given.token, given.counts);
}

Result<RunSettled> schedule_fail(const Store& store, const ScheduleFail& given, const Call& /*call*/) {
  return store.schedules().fail(given.name, given.token, given.error);
}

Result<Released> schedule_release(const Store& store, const ByNameAndToken& given, const Call& /*call*/) {
  auto released = store.schedules().release(given.name, given.token);
  if (!released) return std::move(released).error();
  return Released{given.name, given.token};
}

Result<Fired> schedule_fire(const Store& store, const ByName& given, const Call& /*call*/) {
  return store.schedules().fire(given.name);
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table.
std::span<const Act> schedule_acts() {
  static constexpr Act acts[] = {
      act<schedule_set>({
          .name = "schedule.set",
          .help = "Create a schedule or change it",
          .scope = Scope::admin,
          .sql = "schedule_set",
          .idempotent = true,
          .refusals = refusals<Errc::busy, Errc::not_found>,
          .example = R"({"name":"refresh","every_min_seconds":600,"every_max_seconds":900,"next_run_in_seconds":0})",
      }),
      act<schedule_ensure>({
          .name = "schedule.ensure",
          .help = "Create a schedule unless one of this name exists",
          .scope = Scope::work,
          .sql = "schedule_ensure",
          .idempotent = true,
          .refusals = refusals<Errc::busy, Errc::not_found>,
          .example = R"({"name":"refresh","every_min_seconds":600,"every_max_seconds":900})",
      }),
      act<schedule_acquire>({
          .name = "schedule.acquire",
          .help = "Acquire the run of a schedule, if it is due and free",
          .scope = Scope::work,
          .sql = "schedule_acquire",
          .refusals = refusals<Errc::not_due, Errc::held, Errc::paused, Errc::not_found, Errc::busy, Errc::lost>,
          .example = R"({"name":"refresh"})",
      }),
      act<schedule_heartbeat>({
          .name = "schedule.heartbeat",
          .help = "Extend the lease of a run",
          .scope = Scope::work,
          .sql = "schedule_heartbeat",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"name":"refresh","token":1763200000000000})",
      }),
      act<schedule_settle>({
          .name = "schedule.settle",
          .help = "Record how a run ended, and when the next one is",
          .scope = Scope::work,
          .sql = "schedule_settle",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example =
              R"({"name":"refresh","token":1763200000000000,"ok":false,"error":"timeout","next_run_in_seconds":60})",
      }),
      act<schedule_complete>({
          .name = "schedule.complete",
          .help = "Complete a run",
          .scope = Scope::work,
          .sql = "schedule_complete",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"name":"refresh","token":1763200000000000,"counts":{"rows":120}})",
      }),
      act<schedule_fail>({
          .name = "schedule.fail",
          .help = "Fail a run; the next one follows after the pause for failures",
          .scope = Scope::work,
          .sql = "schedule_fail",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"name":"refresh","token":1763200000000000,"error":"timeout"})",
      }),
      act<schedule_release>({
          .name = "schedule.release",
          .help = "Release a run without a result; it is due again at once",
          .scope = Scope::work,
          .sql = "schedule_release",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"name":"refresh","token":1763200000000000})",
      }),
      act<schedule_fire>({
          .name = "schedule.fire",
          .help = "Enqueue the job of a due schedule",
          .scope = Scope::work,
          .sql = "schedule_fire",
          .refusals = refusals<Errc::not_due, Errc::paused, Errc::busy, Errc::not_found>,
          .example = R"({"name":"refresh"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act

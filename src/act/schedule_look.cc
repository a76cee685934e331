// Acts that look at schedules and operate on them.
#include "act/act.h"
#include "act/answers.h"
#include "act/arguments.h"
#include "act/confirmations.h"

namespace leasehold::act {
namespace {

struct ScheduleHistory {
  std::string name{};
  RunFilter filter{};
};

Described describe(Type<ScheduleHistory>) {
  static constexpr auto fields = fields_of<ScheduleHistory>({
      field<&ScheduleHistory::name>("name").as_name().needed(),
      inlined<&ScheduleHistory::filter>(),
  });
  static const ScheduleHistory fresh;
  return {"ScheduleHistory", fields, &fresh};
}

struct ScheduleNext {
  std::string name{};
  int max = defaults::schedule_next_max;
};

Described describe(Type<ScheduleNext>) {
  static constexpr auto fields = fields_of<ScheduleNext>({
      field<&ScheduleNext::name>("name").as_name().needed(),
      field<&ScheduleNext::max>("max").from(1, bounds::max_next),
  });
  static const ScheduleNext fresh;
  return {"ScheduleNext", fields, &fresh};
}

struct ScheduleRename {
  std::string name{};
  std::string to{};
};

Described describe(Type<ScheduleRename>) {
  static constexpr auto fields = fields_of<ScheduleRename>({
      field<&ScheduleRename::name>("name").as_name().needed(),
      field<&ScheduleRename::to>("to").as_name().needed().means("the new name"),
  });
  static const ScheduleRename fresh;
  return {"ScheduleRename", fields, &fresh};
}

Result<ScheduleInfo> schedule_show(const Store& store, const ByName& given, const Call& /*call*/) {
  return store.schedules().show(given.name);
}

Result<Page<ScheduleInfo>> schedule_list(const Store& store, const ScheduleFilter& given, const Call& /*call*/) {
  return store.schedules().list(given);
}

Result<Page<RunInfo>> schedule_history(const Store& store, const ScheduleHistory& given, const Call& /*call*/) {
  return store.schedules().history(given.name, given.filter);
}

Result<Page<Occurrence>> schedule_next(const Store& store, const ScheduleNext& given, const Call& /*call*/) {
  const auto next = store.schedules().next(given.name, given.max);
  if (!next) return next.error();
  Page<Occurrence> page;
  for (const auto at : *next) page.items.push_back({at});
  return page;
}

Result<Triggered> schedule_trigger(const Store& store, const ByName& given, const Call& /*call*/) {
  auto held_by = store.schedules().trigger(given.name);
  if (!held_by) return std::move(held_by).error();
  return Triggered{given.name, std::move(*held_by)};
}

Result<ScheduleInfo> schedule_pause(const Store& store, const ByNameWithReason& given, const Call& /*call*/) {
  if (auto paused = store.schedules().pause(given.name, given.reason); !paused) return std::move(paused).error();
  return store.schedules().show(given.name);
}

Result<ScheduleInfo> schedule_resume(const Store& store, const ByName& given, const Call& /*call*/) {
  if (auto resumed = store.schedules().resume(given.name); !resumed) return std::move(resumed).error();
  return store.schedules().show(given.name);
}

Result<ScheduleInfo> schedule_rename(const Store& store, const ScheduleRename& given, const Call& /*call*/) {
  if (auto renamed = store.schedules().rename(given.name, given.to); !renamed) return std::move(renamed).error();
  return store.schedules().show(given.to);
}

Result<Removed> schedule_remove(const Store& store, const ByName& given, const Call& /*call*/) {
  if (auto removed = store.schedules().remove(given.name); !removed) return std::move(removed).error();
  return Removed{given.name};
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table.
std::span<const Act> schedule_look_acts() {
  static constexpr Act acts[] = {
      act<schedule_show>({
          .name = "schedule.show",
          .help = "Show a schedule",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"name":"refresh"})",
      }),
      act<schedule_list>({
          .name = "schedule.list",
          .help = "List schedules by name",
          .idempotent = true,
          .example = R"({"max":20})",
      }),
      act<schedule_history>({
          .name = "schedule.history",
          .help = "List the runs of a schedule, the latest occurrence first",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"name":"refresh"})",
      }),
      act<schedule_next>({
          .name = "schedule.next",
          .help = "List the next occurrences of a schedule",
          .sql = "schedule_next",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"name":"refresh","max":3})",
      }),
      act<schedule_trigger>({
          .name = "schedule.trigger",
          .help = "Make a schedule due now; if it is running, once more after that",
          .scope = Scope::work,
          .sql = "schedule_trigger",
          .idempotent = true,
          .refusals = refusals<Errc::not_found, Errc::paused, Errc::busy>,
          .example = R"({"name":"refresh"})",
      }),
      act<schedule_pause>({
          .name = "schedule.pause",
          .help = "Pause a schedule; a run in progress continues",
          .scope = Scope::admin,
          .sql = "schedule_pause",
          .idempotent = true,
          .refusals = refusals<Errc::not_found, Errc::busy>,
          .example = R"({"name":"refresh","reason":"the source is being moved"})",
      }),
      act<schedule_resume>({
          .name = "schedule.resume",
          .help = "Resume a paused schedule",
          .scope = Scope::admin,
          .sql = "schedule_resume",
          .idempotent = true,
          .refusals = refusals<Errc::not_found, Errc::busy>,
          .example = R"({"name":"refresh"})",
      }),
      act<schedule_rename>({
          .name = "schedule.rename",
          .help = "Rename a schedule",
          .scope = Scope::admin,
          .sql = "schedule_rename",
          .refusals = refusals<Errc::not_found, Errc::held, Errc::busy, Errc::mismatch>,
          .example = R"({"name":"refresh","to":"reload"})",
      }),
      act<schedule_remove>({
          .name = "schedule.remove",
          .help = "Remove a schedule and its history",
          .scope = Scope::admin,
          .sql = "schedule_remove",
          .refusals = refusals<Errc::not_found, Errc::held, Errc::busy>,
          .example = R"({"name":"reload"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act

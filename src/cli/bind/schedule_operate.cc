// leasehold schedule pause, resume, trigger.
#include <memory>

#include "act/confirmations.h"
#include "cli/bind/schedule_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/schedule_text.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold schedule pause, leasehold schedule resume: stop runs for a while.
namespace {

struct SchedulePauseOptions {
  std::string name;
  std::string reason;
};

/// Prints the schedule after either change.
int print_change(const Context& context, const Store& store, std::string_view what, const std::string& name) {
  const auto schedule = store.schedules().show(name);
  if (!schedule) return report(context, schedule.error());
  if (context.json) {
    print_line(model::to_json(*schedule));
    return exit_code::ok;
  }
  if (schedule->paused_at) {
    print("{} {}", what, printable(name));
    if (schedule->state == ScheduleState::running) say("the run continues: {}", describe_holder(*schedule->held_by));
  } else {
    print("{} {}  next run: {}", what, printable(name), shown_next(*schedule));
  }
  return exit_code::ok;
}

int pause(const Context& context, const SchedulePauseOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto paused = store->schedules().pause(options.name, options.reason);
  return paused ? print_change(context, *store, "paused", options.name) : report(context, paused.error());
}

int resume(const Context& context, const SchedulePauseOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto resumed = store->schedules().resume(options.name);
  return resumed ? print_change(context, *store, "resumed", options.name) : report(context, resumed.error());
}

}  // namespace

void add_schedule_pause(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "pause", "Pause a schedule; a run in progress continues",
                              {"leasehold schedule pause refresh --reason 'source is down'"});
  auto options = std::make_shared<SchedulePauseOptions>();
  add_schedule_name(*command, options->name);
  command->add_option("--reason", options->reason, "Reason; shown to callers that try to run it")
      ->check(not_empty)
      ->type_name("TEXT");
  set_action(*command, context, [&context, options] { return pause(context, *options); });
}

void add_schedule_resume(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "resume", "Resume a paused schedule; missed occurrences are recorded as skipped",
                  {"leasehold schedule resume refresh"});
  auto options = std::make_shared<SchedulePauseOptions>();
  add_schedule_name(*command, options->name);
  set_action(*command, context, [&context, options] { return resume(context, *options); });
}

// leasehold schedule trigger: make a schedule due now, whatever its calendar.
namespace {

int trigger(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto current = store->schedules().trigger(name);
  if (!current) return report(context, current.error());
  const bool runs = current->has_value() && (*current)->state == LeaseState::running;
  if (context.json) {
    print_line(model::to_json(act::Triggered{name, *current}));
    return exit_code::ok;
  }
  print("triggered {}", printable(name));
  if (runs) say("it runs once more after this run: {}", describe_holder(**current));
  return exit_code::ok;
}

}  // namespace

void add_schedule_trigger(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "trigger", "Make a schedule due now; if it is running, it runs once more after that",
                  {"leasehold schedule trigger refresh"});
  auto name = std::make_shared<std::string>();
  add_schedule_name(*command, *name);
  set_action(*command, context, [&context, name] { return trigger(context, *name); });
}

}  // namespace leasehold::cli

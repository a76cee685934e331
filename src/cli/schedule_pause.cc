// leasehold schedule pause, leasehold schedule resume: no runs, for a while.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "cli/schedule_text.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct SchedulePauseOptions {
  std::string name;
  std::string reason;
};

/// Both tell the schedule as it is now.
int print_change(const Context& context, const Store& store, std::string_view what, const std::string& name) {
  const auto schedule = store.schedules().show(name);
  if (!schedule) return report(context, schedule.error());
  if (context.json) {
    print_line(wire::to_json(*schedule));
    return exit_code::ok;
  }
  if (schedule->paused_at) {
    print("{} {}", what, printable(name));
    if (schedule->state == ScheduleState::running) say("the run goes on: {}", describe_holder(*schedule->current));
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
  auto* command = add_command(parent, context, "pause", "Let no run of a schedule begin; one that is under way goes on",
                              {"leasehold schedule pause refresh --reason 'source is down'"});
  auto options = std::make_shared<SchedulePauseOptions>();
  add_schedule_name(*command, options->name);
  command->add_option("--reason", options->reason, "Why; told to whoever wants to run it")
      ->check(not_empty)
      ->type_name("TEXT");
  set_action(*command, context, [&context, options] { return pause(context, *options); });
}

void add_schedule_resume(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "resume",
                              "Let a paused schedule go on; what it missed meanwhile is noted as skipped",
                              {"leasehold schedule resume refresh"});
  auto options = std::make_shared<SchedulePauseOptions>();
  add_schedule_name(*command, options->name);
  set_action(*command, context, [&context, options] { return resume(context, *options); });
}

}  // namespace leasehold::cli

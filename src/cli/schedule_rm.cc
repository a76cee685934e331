// leasehold schedule rm: forget a schedule.
#include <memory>

#include "cli/command.h"
#include "cli/consent.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "cli/schedule_text.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ScheduleRmOptions {
  std::string name;
  Consent consent;
};

int show_what_would_go(const Context& context, const Schedules& schedules, const std::string& name) {
  const auto schedule = schedules.show(name);
  if (!schedule) return report(context, without_advice(schedule.error()));
  const bool running = schedule->state == ScheduleState::running;
  if (context.json) {
    print_line(wire::to_json(*schedule));
  } else if (running) {
    say("it cannot be removed now: {}", describe_holder(*schedule->current));
  } else {
    print("would remove {}  {}  last run: {}", printable(name), shown_rule(schedule->options.rule),
          shown_last(*schedule));
  }
  return running ? exit_code::held : exit_code::ok;
}

int remove(const Context& context, const ScheduleRmOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "rm forgets the schedule and its history");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.consent.dry_run) return show_what_would_go(context, store->schedules(), options.name);
  const auto removed = store->schedules().remove(options.name);
  if (!removed) return report(context, without_advice(removed.error()));
  if (context.json) {
    print_line(wire::object({{"removed", true}, {"schedule", options.name}}));
  } else {
    print("removed {}", printable(options.name));
  }
  return exit_code::ok;
}

}  // namespace

void add_schedule_rm(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "rm", "Forget a schedule that nobody is running, with its history",
                              {"leasehold schedule rm refresh --dry-run", "leasehold schedule rm refresh --yes"});
  auto options = std::make_shared<ScheduleRmOptions>();
  add_schedule_name(*command, options->name);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return remove(context, *options); });
}

}  // namespace leasehold::cli

// leasehold schedule set, rename, rm.
#include <fmt/format.h>
#include <memory>

#include "act/confirmations.h"
#include "base/time_text.h"
#include "cli/bind/schedule_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/schedule_text.h"
#include "cli/run/wrapped_command.h"
#include "leasehold/limits.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold schedule set: set what happens, and when.
namespace {

constexpr const char* form = "leasehold schedule set NAME [OPTIONS] -- COMMAND...";

struct ScheduleSetOptions {
  std::string name;
  ScheduleDefinition definition;
  Duration ttl = ScheduleOptions{}.ttl;
  NextRun next;
  std::string program;
  std::vector<std::string> command;
};

void print_saved(const std::string& name, const ScheduleRule& rule, const ScheduleSaved& saved) {
  const auto now = wall_clock();
  const auto* what = saved.created ? "created" : saved.changed ? "changed" : "unchanged";
  const auto next = saved.next_run_at > now ? ScheduleClock(rule, now).time_and_distance(saved.next_run_at) : "now";
  print("{} {}  {}  next run: {}", what, printable(name), shown_rule(rule), next);
}

int set_schedule(const Context& context, const ScheduleSetOptions& options) {
  auto definition = options.definition.options();
  if (!definition) return report(context, definition.error());
  definition->ttl = options.ttl;
  definition->command = options.command;
  definition->next_run_at = options.next.at;
  definition->next_run_in = options.next.in;
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  const auto saved = store->schedules().set(options.name, *definition);
  if (!saved) return report(context, saved.error());
  if (context.json) {
    print_line(model::to_json(*saved));
  } else {
    print_saved(options.name, definition->rule, *saved);
  }
  return exit_code::ok;
}

/// The optional command after the mark.
std::vector<std::string> optional_command(const CLI::App& command, const Context& context,
                                          const ScheduleSetOptions& options) {
  const bool marked = mark_position(context) < context.words.size();
  if (!marked && command.remaining_size() == 0 && options.program.empty()) return {};
  if (marked && options.definition.enqueues()) {
    throw CLI::ValidationError("--enqueue", "a schedule has a queue or a command, not both");
  }
  return words_after_mark(command, context, {"NAME", options.name, form}, options.program);
}

}  // namespace

void add_schedule_set(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "set", "Create or change a schedule: when it is due, and what happens then; safe to repeat",
      {"leasehold schedule set refresh --every 10m-15m --on-fail 20m-40m",
       "leasehold schedule set refresh --every 10m --next now    # the first run at once",
       "leasehold schedule set cleanup --every 24h --next 03:00 -- ./cleanup",
       "leasehold schedule set report --cron '0 6 * * MON-FRI' --tz Europe/Berlin --misfire skip -- ./report",
       R"(leasehold schedule set digest --cron @daily --jitter 10m --enqueue mail '{"to":"all"}')"});
  auto options = std::make_shared<ScheduleSetOptions>();
  add_schedule_name(*command, options->name);
  options->definition.add_rule(*command);
  add_duration(*command, "--ttl", options->ttl,
               fmt::format("How long a run's lease lasts without a heartbeat (default {})",
                           format_duration(defaults::schedule_ttl)));
  add_next_run(*command, options->next,
               "Time of the next run: a time, how long from now, or now (default: after the pause for a new schedule "
               "with --every, "
               "at its next time with --cron; an existing schedule keeps its next run unless the rule changes)");
  options->definition.add_queue(*command);
  command->prefix_command();
  command
      ->add_option("COMMAND", options->program,
                   "After --: a program and its arguments, for `leasehold schedule daemon --commands` to run")
      ->type_name("");
  command->callback([&context, options, command] {
    if (!options->definition.given()) throw CLI::ValidationError("--every, --cron", "one of them is required");
    options->command = optional_command(*command, context, *options);
    context.action = [&context, options] { return set_schedule(context, *options); };
  });
}

// leasehold schedule rename: rename a schedule with its history and its current run.
namespace {

struct ScheduleRenameOptions {
  std::string name;
  std::string to;
};

int rename(const Context& context, const ScheduleRenameOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto renamed = store->schedules().rename(options.name, options.to);
  if (!renamed) return report(context, renamed.error());
  if (!context.json) {
    print("renamed {} to {}", printable(options.name), printable(options.to));
    return exit_code::ok;
  }
  const auto schedule = store->schedules().show(options.to);
  if (!schedule) return report(context, schedule.error());
  print_line(model::to_json(*schedule));
  return exit_code::ok;
}

}  // namespace

void add_schedule_rename(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "rename",
                              "Rename a schedule; its history stays, and its callers must use the new name",
                              {"leasehold schedule rename refresh refresh-prices"});
  auto options = std::make_shared<ScheduleRenameOptions>();
  add_schedule_name(*command, options->name);
  add_name(*command, "NEW", options->to, "The new name");
  set_action(*command, context, [&context, options] { return rename(context, *options); });
}

// leasehold schedule rm: remove a schedule.
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
    print_line(model::to_json(*schedule));
  } else if (running) {
    say("cannot remove it now: {}", describe_holder(*schedule->held_by));
  } else {
    print("would remove {}  {}  last run: {}", printable(name), shown_rule(schedule->options.rule),
          shown_last(*schedule));
  }
  return running ? exit_code::held : exit_code::ok;
}

int remove(const Context& context, const ScheduleRmOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "rm removes the schedule and its history");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.consent.dry_run) return show_what_would_go(context, store->schedules(), options.name);
  const auto removed = store->schedules().remove(options.name);
  if (!removed) return report(context, without_advice(removed.error()));
  if (context.json) {
    print_line(model::to_json(act::Removed{options.name}));
  } else {
    print("removed {}", printable(options.name));
  }
  return exit_code::ok;
}

}  // namespace

void add_schedule_rm(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "rm", "Remove a schedule that is not running, with its history",
                              {"leasehold schedule rm refresh --dry-run", "leasehold schedule rm refresh --yes"});
  auto options = std::make_shared<ScheduleRmOptions>();
  add_schedule_name(*command, options->name);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return remove(context, *options); });
}

}  // namespace leasehold::cli

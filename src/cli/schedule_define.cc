// leasehold schedule define: what is to happen, and when.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "cli/schedule_text.h"
#include "cli/wrapped_command.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

constexpr const char* form = "leasehold schedule define NAME [OPTIONS] -- COMMAND...";

struct ScheduleDefineOptions {
  std::string name;
  ScheduleDefinition definition;
  Duration ttl = ScheduleOptions{}.ttl;
  std::string program;
  std::vector<std::string> command;
};

void print_defined(const std::string& name, const ScheduleRule& rule, const Defined& defined) {
  const auto now = wall_clock();
  const auto* what = defined.created ? "defined" : defined.changed ? "changed" : "unchanged";
  const auto next = defined.next_run_at > now ? ScheduleClock(rule, now).time_and_distance(defined.next_run_at) : "now";
  print("{} {}  {}  next run: {}", what, printable(name), shown_rule(rule), next);
}

int define(const Context& context, const ScheduleDefineOptions& options) {
  auto definition = options.definition.options();
  if (!definition) return report(context, definition.error());
  definition->ttl = options.ttl;
  definition->command = options.command;
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  const auto defined = store->schedules().define(options.name, *definition);
  if (!defined) return report(context, defined.error());
  if (context.json) {
    print_line(wire::to_json(options.name, *defined));
  } else {
    print_defined(options.name, definition->rule, *defined);
  }
  return exit_code::ok;
}

/// The command after the mark, which need not be there.
std::vector<std::string> optional_command(const CLI::App& command, const Context& context,
                                          const ScheduleDefineOptions& options) {
  const bool marked = mark_position(context) < context.words.size();
  if (!marked && command.remaining_size() == 0 && options.program.empty()) return {};
  if (marked && options.definition.enqueues()) {
    throw CLI::ValidationError("--enqueue", "a schedule has a queue or a command, not both");
  }
  return words_after_mark(command, context, {"NAME", options.name, form}, options.program);
}

}  // namespace

void add_schedule_define(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "define", "Say when a schedule is due, and what is to happen then; saying it again is fine",
      {"leasehold schedule define refresh --every 10m-15m --on-fail 20m-40m",
       "leasehold schedule define report --cron '0 6 * * MON-FRI' --tz Europe/Berlin --misfire skip -- ./report",
       R"(leasehold schedule define digest --cron @daily --jitter 10m --enqueue mail '{"to":"all"}')"});
  auto options = std::make_shared<ScheduleDefineOptions>();
  add_schedule_name(*command, options->name);
  options->definition.add_rule(*command);
  add_duration(*command, "--lease", options->ttl, "How long a run's lease lasts without a heartbeat (default 5m)");
  options->definition.add_queue(*command);
  command->prefix_command();
  command
      ->add_option("COMMAND", options->program,
                   "After --: a program and its arguments, for `leasehold schedule daemon --commands` to run")
      ->type_name("");
  command->callback([&context, options, command] {
    if (!options->definition.given()) throw CLI::ValidationError("--every, --cron", "one of them is needed");
    options->command = optional_command(*command, context, *options);
    context.action = [&context, options] { return define(context, *options); };
  });
}

}  // namespace leasehold::cli

// leasehold schedule trigger: due now, whatever the calendar says.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

int trigger(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto current = store->schedules().trigger(name);
  if (!current) return report(context, current.error());
  const bool runs = current->has_value() && (*current)->state == LeaseState::running;
  if (context.json) {
    print_line(wire::object({{"triggered", true}, {"schedule", name}, {"running", runs}}));
    return exit_code::ok;
  }
  print("triggered {}", printable(name));
  if (runs) say("it runs once more after this run: {}", describe_holder(**current));
  return exit_code::ok;
}

}  // namespace

void add_schedule_trigger(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "trigger",
                              "Make a schedule due now, for whoever runs it; if it is running, once more after that",
                              {"leasehold schedule trigger refresh"});
  auto name = std::make_shared<std::string>();
  add_schedule_name(*command, *name);
  set_action(*command, context, [&context, name] { return trigger(context, *name); });
}

}  // namespace leasehold::cli

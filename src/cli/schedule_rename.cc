// leasehold schedule rename: another name for the same schedule, its history and whoever runs it.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "wire/wire.h"

namespace leasehold::cli {
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
  if (context.json) {
    print_line(wire::object({{"renamed", true}, {"schedule", options.name}, {"to", options.to}}));
  } else {
    print("renamed {} to {}", printable(options.name), printable(options.to));
  }
  return exit_code::ok;
}

}  // namespace

void add_schedule_rename(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "rename",
                              "Give a schedule another name; its history stays, and its callers must know the new one",
                              {"leasehold schedule rename refresh refresh-prices"});
  auto options = std::make_shared<ScheduleRenameOptions>();
  add_schedule_name(*command, options->name);
  command->add_option("NEW", options->to, "The new name: up to 512 bytes of UTF-8")->required()->type_name("");
  set_action(*command, context, [&context, options] { return rename(context, *options); });
}

}  // namespace leasehold::cli

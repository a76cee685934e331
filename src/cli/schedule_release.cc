// leasehold schedule release: a run is given up without a verdict.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

int release(const Context& context, const NamedRun& run) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto released = store->schedules().release(run.name, run.token);
  if (!released) return report(context, released.error());
  if (context.json) {
    print_line(wire::object({{"released", true}, {"schedule", run.name}, {"token", run.token.value}}));
  } else {
    print("released {}: it is due again", printable(run.name));
  }
  return exit_code::ok;
}

}  // namespace

void add_schedule_release(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "release",
                  "Give a run up without a verdict: it is due again at once; too late changes nothing (exit code 76)",
                  {"leasehold schedule release refresh --token 1763200000000000"});
  auto run = std::make_shared<NamedRun>();
  add_named_run(*command, *run);
  set_action(*command, context, [&context, run] { return release(context, *run); });
}

}  // namespace leasehold::cli

// leasehold limit take: wait for one's turn at a rate that everybody keeps together.
#include <memory>

#include "cli/caller.h"
#include "cli/chunk_options.h"
#include "cli/command.h"
#include "cli/limit_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct LimitTakeOptions {
  std::string name;
  std::string holder;
  TakeOptions take;
  int refused_code = exit_code::held;
};

int take(const Context& context, LimitTakeOptions& options) {
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  options.take.holder = calling_process(options.holder).name;
  const auto slot = store->limits().take(options.name, options.take);
  if (!slot) return report(context, slot.error(), options.refused_code);
  if (context.json) {
    print_line(wire::to_json(options.name, *slot));
  } else {
    print("took {}  at {}  waited {}", printable(options.name), local_time(slot->at, wall_clock()),
          format_duration(std::chrono::floor<std::chrono::milliseconds>(slot->waited)));
  }
  return exit_code::ok;
}

}  // namespace

void add_limit_take(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "take",
      "Wait for the caller's turn; turns are given in the order of asking (exit code 75: it would take too long)",
      {"leasehold limit take orders-api --every 750ms && curl https://example.org/orders",
       "leasehold limit take orders-api --wait 0 || echo 'not now'",
       "leasehold limit take mail --every 1s --burst 10    # up to 10 at once after a pause"});
  auto options = std::make_shared<LimitTakeOptions>();
  auto& take_options = options->take;
  add_limit_name(*command, options->name);
  add_optional_duration(*command, "--every", take_options.every,
                        "Between two turns, everybody's from now on (default: as it was set)");
  add_optional_number(*command, "--burst", take_options.burst, 1, max_burst,
                      "So many turns at once after a time without any (default: as it was set, at first 1)");
  add_optional_duration(*command, "--wait", take_options.wait,
                        "The longest to wait; 0: now or not at all (default: as long as it takes)");
  add_holder(*command, options->holder);
  add_number(*command, "-E,--conflict-exit-code", options->refused_code, 0, 255,
             "Exit with N instead of 75 when it would take longer than --wait");
  set_action(*command, context, [&context, options] { return take(context, *options); });
}

}  // namespace leasehold::cli

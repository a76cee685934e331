// leasehold queue ls: every queue and what is in it.
#include "cli/command.h"
#include "cli/print.h"
#include "cli/queue_table.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

int list(const Context& context) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto queues = store->queues().list();
  if (!queues) return report(context, queues.error());
  if (context.json) {
    print_line(wire::to_json(*queues));
  } else if (queues->empty()) {
    say_line("no queues");
  } else {
    print_queues(*queues);
  }
  return exit_code::ok;
}

}  // namespace

void add_queue_ls(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "ls", "List queues: what waits, runs and failed, how old, how fast",
                  {"leasehold queue ls", "leasehold queue ls --json | jq '.[] | select(.failed > 0).name'"});
  set_action(*command, context, [&context] { return list(context); });
}

}  // namespace leasehold::cli

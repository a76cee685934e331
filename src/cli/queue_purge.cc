// leasehold queue purge: cancel everything that waits.
#include <memory>

#include "cli/command.h"
#include "cli/consent.h"
#include "cli/job_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct QueuePurgeOptions {
  std::string name;
  Consent consent;
};

int show_what_would_go(const Context& context, const Store& store, const std::string& name) {
  const auto queue = store.queues().show(name);
  if (!queue) return report(context, queue.error());
  if (context.json) {
    print_line(wire::to_json(*queue));
  } else {
    print("would cancel {} of {}: {} available, {} deferred, {} blocked",
          counted(queue->available + queue->deferred + queue->blocked, "job"), printable(name), queue->available,
          queue->deferred, queue->blocked);
  }
  return exit_code::ok;
}

int purge(const Context& context, const QueuePurgeOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "purge cancels every job that waits in the queue");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  // Also for the sake of a mistyped name: purging what is not there would look like a success.
  if (options.consent.dry_run) return show_what_would_go(context, *store, options.name);
  if (auto known = store->queues().show(options.name); !known) return report(context, known.error());
  const auto purged = store->queues().purge(options.name);
  if (!purged) return report(context, purged.error());
  if (context.json) {
    print_line(wire::object({{"purged", *purged}}));
  } else {
    print("purged {}: cancelled {}", printable(options.name), counted(*purged, "job"));
  }
  return exit_code::ok;
}

}  // namespace

void add_queue_purge(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "purge",
                              "Cancel every job that waits in a queue; what runs goes on, and `job retry` undoes it",
                              {"leasehold queue purge mail --dry-run", "leasehold queue purge mail --yes"});
  auto options = std::make_shared<QueuePurgeOptions>();
  add_queue_name(*command, options->name);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return purge(context, *options); });
}

}  // namespace leasehold::cli

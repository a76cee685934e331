// leasehold prune: delete history that nobody needs any more.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct PruneOptions {
  Duration older_than = std::chrono::days(7);
  bool yes = false;
  bool dry_run = false;
};

int show_history(const Context& context, const Store& store, const PruneOptions& options) {
  auto status = store.status();
  if (!status) return report(context, status.error());
  const auto before = status->store_now - options.older_than;
  if (context.json) {
    print_line(wire::object(
        {{"before", to_string(before)}, {"ended_leases", status->ended_leases}, {"events", status->events}}));
  } else {
    print("would delete what is older than {} among the finished jobs, {} ended leases and {} events",
          local_time(before, status->store_now), status->ended_leases, status->events);
  }
  return exit_code::ok;
}

int prune(const Context& context, const PruneOptions& options) {
  if (!options.yes && !options.dry_run) {
    return ask_for_yes(context, "prune deletes finished jobs, ended leases, their request ids and events");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.dry_run) return show_history(context, *store, options);
  auto pruned = store->prune(options.older_than);
  if (!pruned) return report(context, pruned.error());
  if (context.json) {
    print_line(wire::to_json(*pruned));
  } else {
    print("pruned {}, {} and {} older than {}", counted(pruned->jobs, "finished job"),
          counted(pruned->leases, "ended lease"), counted(pruned->events, "event"),
          format_duration(options.older_than));
  }
  return exit_code::ok;
}

}  // namespace

void add_prune(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "prune",
                  "Delete old finished jobs, ended leases (with their request ids) and events; locks keep their tokens",
                  {"leasehold prune --older-than 30d --dry-run", "leasehold prune --yes"});
  auto options = std::make_shared<PruneOptions>();
  add_duration(*command, "--older-than", options->older_than, "Keep what is younger (default 7d)");
  command->add_flag("--yes", options->yes, "Do it");
  command->add_flag("--dry-run", options->dry_run, "Only tell what there is");
  set_action(*command, context, [&context, options] { return prune(context, *options); });
}

}  // namespace leasehold::cli

// leasehold recover: take back what the dead have left, now.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

Result<Recovered> preview(const Store& store) {
  auto stats = store.recovery_stats();
  if (!stats) return std::move(stats).error();
  return stats->stale_now;
}

void print_recovered(const Recovered& found, bool dry_run) {
  if (found.is_nothing()) return print_line("nothing to recover");
  print("{} {} of jobs, chunks, sessions and schedules and {} of locks", dry_run ? "would end" : "ended",
        counted(found.leases, "lease"), found.locks);
  const auto* go = dry_run ? "would go" : "went";
  if (found.jobs > 0) print("{} {} back to the queue", counted(found.jobs, "job"), go);
  if (found.chunks > 0) print("{} {} back to the set", counted(found.chunks, "chunk"), go);
  if (found.claims > 0) print("{} {} free", counted(found.claims, "item"), dry_run ? "would become" : "became");
  if (found.runs > 0) print("{} {} as lost", counted(found.runs, "run"), dry_run ? "would be noted" : "noted");
  if (found.failed > 0) print("{} will not be tried again: the crash budget is spent", found.failed);
  if (found.unblocked > 0) print("{} {} on: nothing is left to wait for", counted(found.unblocked, "job"), go);
}

int recover(const Context& context, bool dry_run) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto found = dry_run ? preview(*store) : store->recover();
  if (!found) return report(context, found.error());
  if (context.json) {
    print_line(wire::to_json(*found));
  } else {
    print_recovered(*found, dry_run);
  }
  return exit_code::ok;
}

}  // namespace

void add_recover(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "recover",
      "End what has expired, and what belongs to dead processes of this host; never needed, safe at any time",
      {"leasehold recover --dry-run", "leasehold recover --json | jq .jobs"});
  auto dry_run = std::make_shared<bool>(false);
  command->add_flag("--dry-run", *dry_run, "Only tell what has expired");
  set_action(*command, context, [&context, dry_run] { return recover(context, *dry_run); });
}

}  // namespace leasehold::cli

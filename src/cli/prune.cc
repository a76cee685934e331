// leasehold prune: delete history that nobody needs any more.
#include <memory>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/consent.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

constexpr std::string_view what_goes =
    "finished jobs, ended leases with their request ids, events, ended claims, closed and stale sessions, runs of "
    "schedules, ended shares of locks";

struct PruneOptions {
  Duration older_than = std::chrono::days(7);
  Consent consent;
};

int show_history(const Context& context, const Store& store, const PruneOptions& options) {
  auto status = store.status();
  if (!status) return report(context, status.error());
  const auto before = status->store_now - options.older_than;
  if (context.json) {
    print_line(wire::object(
        {{"before", to_string(before)}, {"ended_leases", status->ended_leases}, {"events", status->events}}));
  } else {
    print("would delete, where older than {}: {}", local_time(before, status->store_now), what_goes);
    print("there are {} and {} of any age", counted(status->ended_leases, "ended lease"),
          counted(status->events, "event"));
  }
  return exit_code::ok;
}

void print_pruned(const Pruned& pruned, Duration older_than) {
  const std::pair<std::int64_t, std::string_view> counts[] = {
      {pruned.jobs, "finished job"},  {pruned.leases, "ended lease"},     {pruned.events, "event"},
      {pruned.claims, "ended claim"}, {pruned.sessions, "session"},       {pruned.runs, "run"},
      {pruned.shares, "ended share"}, {pruned.places, "abandoned place"}, {pruned.topics, "unawaited topic"}};
  std::vector<std::string> gone;
  for (const auto& [count, thing] : counts) {
    if (count > 0) gone.push_back(counted(count, thing));
  }
  if (gone.empty()) return print("nothing to prune that is older than {}", format_duration(older_than));
  print("pruned {} older than {}", enumerated(gone), format_duration(older_than));
}

int prune(const Context& context, const PruneOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, fmt::format("prune deletes {}", what_goes));
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.consent.dry_run) return show_history(context, *store, options);
  auto pruned = store->prune(options.older_than);
  if (!pruned) return report(context, pruned.error());
  if (context.json) {
    print_line(wire::to_json(*pruned));
  } else {
    print_pruned(*pruned, options.older_than);
  }
  return exit_code::ok;
}

}  // namespace

void add_prune(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "prune",
                  "Delete old history: jobs, leases (with their request ids), events, claims, sessions, runs that are "
                  "over; locks keep their tokens",
                  {"leasehold prune --older-than 30d --dry-run", "leasehold prune --yes"});
  auto options = std::make_shared<PruneOptions>();
  add_duration(*command, "--older-than", options->older_than, "Keep what is younger (default 7d)");
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return prune(context, *options); });
}

}  // namespace leasehold::cli

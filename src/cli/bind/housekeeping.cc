// leasehold recover, prune, retention.
#include <fmt/format.h>
#include <memory>
#include <utility>
#include <vector>

#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold recover: take back the leases of dead holders, now.
namespace {

Result<Recovered> preview(const Store& store) {
  auto stats = store.recovery_stats();
  if (!stats) return std::move(stats).error();
  return stats->stale_now;
}

void print_recovered(const Recovered& found, bool dry_run) {
  if (found.is_nothing()) return print_line("nothing to recover");
  if (found.leases + found.locks > 0) {
    print("{} {} of jobs, chunks, sessions and schedules and {} of locks", dry_run ? "would end" : "ended",
          counted(found.leases, "lease"), found.locks);
  }
  const auto* go = dry_run ? "would go" : "went";
  if (found.jobs > 0) print("{} {} back to the queue", counted(found.jobs, "job"), go);
  if (found.chunks > 0) print("{} {} back to the set", counted(found.chunks, "chunk"), go);
  if (found.claims > 0) print("{} {} free", counted(found.claims, "item"), dry_run ? "would become" : "became");
  if (found.runs > 0) print("{} {} as lost", counted(found.runs, "run"), dry_run ? "would be recorded" : "recorded");
  if (found.failed > 0) print("{} will not be retried: the crash budget is spent", found.failed);
  if (found.lapsed > 0) {
    print("{} {}: not started in time", counted(found.lapsed, "job"), dry_run ? "would lapse" : "lapsed");
  }
  if (found.unblocked > 0)
    print("{} {} on or {} cancelled: their dependencies have ended", counted(found.unblocked, "job"), go,
          dry_run ? "would be" : "were");
}

int recover(const Context& context, bool dry_run) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto found = dry_run ? preview(*store) : store->recover();
  if (!found) return report(context, found.error());
  if (context.json) {
    print_line(model::to_json(*found));
  } else {
    print_recovered(*found, dry_run);
  }
  return exit_code::ok;
}

}  // namespace

void add_recover(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "recover",
                  "End expired leases, and leases of dead processes on this host; never needed, safe at any time",
                  {"leasehold recover --dry-run", "leasehold recover --json | jq .jobs"});
  auto dry_run = std::make_shared<bool>(false);
  command->add_flag("--dry-run", *dry_run,
                    "Only show what has expired; leases of dead processes on this host count only after they expire");
  set_action(*command, context, [&context, dry_run] { return recover(context, *dry_run); });
}

// leasehold prune: remove old history.
namespace {

constexpr std::string_view what_goes =
    "finished jobs, free locks, ended leases with their request ids, events, ended claims, closed and stale sessions, "
    "runs of schedules, ended shares of locks, statistics of recovery, batches whose jobs are gone";

struct PruneOptions {
  Duration older_than = std::chrono::days(7);
  Consent consent;
};

void print_counts(const Pruned& pruned, const PruneOptions& options) {
  const std::pair<std::int64_t, std::string_view> counts[] = {{pruned.jobs, "finished job"},
                                                              {pruned.locks, "free lock"},
                                                              {pruned.leases, "ended lease"},
                                                              {pruned.events, "event"},
                                                              {pruned.claims, "ended claim"},
                                                              {pruned.sessions, "session"},
                                                              {pruned.runs, "run"},
                                                              {pruned.shares, "ended share"},
                                                              {pruned.places, "abandoned place"},
                                                              {pruned.topics, "unawaited topic"},
                                                              {pruned.recoveries, "recovery"},
                                                              {pruned.batches, "ended batch"},
                                                              {pruned.tokens, "ended API token"},
                                                              {pruned.audit, "audit entry"},
                                                              {pruned.requests, "repeatable request"}};
  std::vector<std::string> gone;
  for (const auto& [count, thing] : counts) {
    if (count > 0) gone.push_back(counted(count, thing));
  }
  const auto age = format_duration(options.older_than);
  if (gone.empty()) return print("nothing to prune that is older than {}", age);
  print("{} {} older than {}", options.consent.dry_run ? "would prune" : "pruned", enumerated(gone), age);
}

int prune(const Context& context, const PruneOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, fmt::format("prune removes {}", what_goes));
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto pruned =
      options.consent.dry_run ? store->prune_preview(options.older_than) : store->prune(options.older_than);
  if (!pruned) return report(context, pruned.error());
  if (context.json) {
    print_line(model::to_json(*pruned));
  } else {
    print_counts(*pruned, options);
  }
  return exit_code::ok;
}

}  // namespace

void add_prune(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "prune",
                              "Remove old history: finished jobs, free locks, ended leases (with their request ids), "
                              "events, claims, sessions, runs; the next token of a lock is still greater",
                              {"leasehold prune --older-than 30d --dry-run", "leasehold prune --yes"});
  auto options = std::make_shared<PruneOptions>();
  add_duration(*command, "--older-than", options->older_than,
               fmt::format("Remove only what is older (default {})", format_duration(options->older_than)));
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return prune(context, *options); });
}

// leasehold retention show, set.
namespace {

int print_retention(const Context& context, const Result<Retention>& kept) {
  if (!kept) return report(context, kept.error());
  if (context.json) {
    print_line(model::to_json(*kept));
    return exit_code::ok;
  }
  const auto line = [](std::string_view what, Duration keep) {
    print("{:<8} {}", what, keep == Duration(0) ? "forever" : format_duration(keep));
  };
  line("jobs", kept->keep_jobs);
  line("failed", kept->keep_failed);
  line("history", kept->keep_history);
  return exit_code::ok;
}

}  // namespace

void add_retention_show(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "show", "Show how long the store keeps jobs, failed jobs and history",
                              {"leasehold retention show", "leasehold retention show --json | jq .keep_jobs_seconds"});
  set_action(*command, context, [&context] {
    auto store = context.open_store();
    if (!store) return report(context, store.error());
    return print_retention(context, store->retention());
  });
}

void add_retention_set(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "set",
      "Set how long the store keeps jobs, failed jobs and history; workers remove what is older",
      {"leasehold retention set --jobs 3d --failed 90d", "leasehold retention set --history 0    # forever"});
  auto settings = std::make_shared<RetentionSettings>();
  add_duration(*command, "--jobs", settings->keep_jobs, "Keep completed and cancelled jobs this long (0: forever)");
  add_duration(*command, "--failed", settings->keep_failed, "Keep failed jobs this long (0: forever)");
  add_duration(
      *command, "--history", settings->keep_history,
      "Keep events, ended leases with their request ids, ended claims and sessions, and runs this long (0: forever)");
  command->require_option(1, 0);
  set_action(*command, context, [&context, settings] {
    auto store = context.open_store();
    if (!store) return report(context, store.error());
    return print_retention(context, store->set_retention(*settings));
  });
}

}  // namespace leasehold::cli

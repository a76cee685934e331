// leasehold status, metrics, doctor, grant.
#include <algorithm>
#include <map>
#include <memory>

#include "act/answers.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/queue_table.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/json.h"
#include "model/words.h"
#include "observe/metrics.h"

namespace leasehold::cli {

// leasehold status: counts of the store.
namespace {

void print_count(std::string_view what, std::int64_t count) { print("{:<14} {}", what, count); }

void print_store(const std::string& url, const StoreStatus& status, const Retention& kept) {
  print("{:<14} {}", "store", printable(shown_url(url)));
  print("{:<14} {}, schema version {}", "backend", status.backend, status.schema_version);
  print("{:<14} {}", "store clock", to_string(status.store_now));
  print_count("locks", status.locks);
  print_count("waiters", status.waiters);
  print_count("held leases", status.held_leases);
  print_count("expired leases", status.expired_leases);
  const auto of_history = [](std::string_view what, std::int64_t count) {
    print("{:<14} {}{}", what, count > bounds::max_history ? "about " : "", count);
  };
  of_history("ended leases", status.ended_leases);
  of_history("events", status.events);
  const auto span = [](Duration keep) { return keep == Duration(0) ? "forever" : format_duration(keep); };
  print("{:<14} {} jobs, {} failed jobs, {} other history", "kept", span(kept.keep_jobs), span(kept.keep_failed),
        span(kept.keep_history));
}

void print_recovery(const RecoveryStats& recovery) {
  const auto& stale = recovery.stale_now;
  print("{:<14} {} of jobs, chunks, sessions and schedules, {} of locks", "stale now", counted(stale.leases, "lease"),
        stale.locks);
  if (recovery.totals.empty()) return;
  Table table({"RECOVERED BY",
               {"TIMES", Column::to_the_right},
               {"LEASES", Column::to_the_right},
               {"JOBS", Column::to_the_right},
               {"CHUNKS", Column::to_the_right},
               {"CLAIMS", Column::to_the_right},
               {"RUNS", Column::to_the_right},
               "LAST"});
  for (const auto& total : recovery.totals) {
    table.add({total.reason, std::to_string(total.times), std::to_string(total.leases), std::to_string(total.jobs),
               std::to_string(total.chunks), std::to_string(total.claims), std::to_string(total.runs),
               total.last_at ? with_distance(*total.last_at, stale.store_now) : "-"});
  }
  print_line("");
  table.print();
}

int show_status(const Context& context) {
  auto url = context.store_url();
  if (!url) return report(context, url.error());
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto status = store->status();
  if (!status) return report(context, status.error());
  const auto kept = store->retention();
  if (!kept) return report(context, kept.error());
  const auto queues = store->queues().list();
  if (!queues) return report(context, queues.error());
  const auto recovery = store->recovery_stats();
  if (!recovery) return report(context, recovery.error());
  if (context.json) {
    print_line(model::to_json(act::StoreReport{*status, *kept, *queues, *recovery}));
    return exit_code::ok;
  }
  print_store(*url, *status, *kept);
  print_recovery(*recovery);
  if (queues->empty()) return exit_code::ok;
  print_line("");
  for (const auto& line : table_of_queues(*queues)) print_line(line);
  return exit_code::ok;
}

}  // namespace

void add_status(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "status", "Show counts of the store and its queues, and what was recovered",
                  {"leasehold status", "leasehold status --json | jq '.queues[].available'"});
  set_action(*command, context, [&context] { return show_status(context); });
}

// leasehold metrics: numbers for monitoring.
namespace {

int show_metrics(const Context& context) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto metrics = store->metrics();
  if (!metrics) return report(context, metrics.error());
  if (context.json) {
    print_line(model::to_json(*metrics));
  } else {
    print_bytes(observe::text_of(*metrics));
  }
  return exit_code::ok;
}

}  // namespace

void add_metrics(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "metrics",
      "Print numbers of the store for Prometheus: what is there now, and totals that pruning does not lower",
      {"leasehold metrics", "leasehold metrics | promtool check metrics", "leasehold metrics --json | jq .takeovers"});
  set_action(*command, context, [&context] { return show_metrics(context); });
}

// leasehold doctor: find settings and circumstances that make leases unsafe.
namespace {

struct DoctorOptions {
  bool rehome = false;
  bool yes = false;
};

void print_finding(const Finding& finding) {
  const auto tone = finding.level == Finding::Level::fine     ? Tone::good
                    : finding.level == Finding::Level::advice ? Tone::warning
                                                              : Tone::bad;
  const std::string level = word_of(finding.level);
  print("{}{}  {}", coloured(tone, level), std::string(6 - level.size(), ' '), printable(finding.what));
  if (!finding.advice.empty()) print("        {}", printable(finding.advice));
}

int examine(const Context& context) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto findings = store->doctor();
  if (!findings) return report(context, findings.error());
  if (context.json) {
    print_line(model::to_json(*findings));
  } else {
    for (const auto& finding : *findings) print_finding(finding);
  }
  const bool danger = std::any_of(findings->begin(), findings->end(),
                                  [](const Finding& finding) { return finding.level == Finding::Level::danger; });
  return danger ? exit_code::failure : exit_code::ok;
}

int rehome(const Context& context, bool yes) {
  if (!yes) {
    return report(context, {.code = Errc::invalid_argument,
                            .message = "--rehome voids every lease of the file, and its users on another machine would "
                                       "not notice: add --yes if there are none"});
  }
  auto url = context.store_url();
  if (!url) return report(context, url.error());
  auto done = Store::rehome(*url);
  if (!done) return report(context, done.error());
  if (context.json) {
    print_line(model::json_object({{"rehomed", *done}}));
  } else {
    print_line(*done ? "the store belongs to this machine now" : "the store belongs to this machine already");
  }
  return *done ? exit_code::ok : exit_code::nothing_to_do;
}

int run_doctor(const Context& context, const DoctorOptions& options) {
  return options.rehome ? rehome(context, options.yes) : examine(context);
}

}  // namespace

void add_doctor(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "doctor",
                              "Check for settings and conditions that make leases unsafe (exit code 1: found)",
                              {"leasehold doctor", "leasehold doctor --db postgresql://app@db/app",
                               "leasehold doctor --rehome --yes    # the SQLite file came from another machine"});
  auto options = std::make_shared<DoctorOptions>();
  auto* rehome_flag = command->add_flag("--rehome", options->rehome, "Adopt a SQLite file from another machine");
  command->add_flag("--yes", options->yes, "Do it")->needs(rehome_flag);
  set_action(*command, context, [&context, options] { return run_doctor(context, *options); });
}

// leasehold grant: let a PostgreSQL role call leasehold's functions.
namespace {

struct GrantOptions {
  std::string role;
  std::string scope;
  bool revoke = false;
};

Scope scope_of(const std::string& word) {
  static const std::map<std::string, Scope> scopes = {
      {"read", Scope::read}, {"produce", Scope::produce}, {"work", Scope::work}, {"admin", Scope::admin}};
  return scopes.at(word);
}

int revoke_grant(const Context& context, const std::string& role) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto revoked = store->revoke(role);
  if (!revoked) return report(context, revoked.error());
  if (context.json) {
    print_line(model::json_object({{"role", role}, {"scope", "none"}}));
  } else {
    print("{} can no longer call leasehold's functions", printable(role));
  }
  return exit_code::ok;
}

int grant(const Context& context, const GrantOptions& options) {
  if (options.revoke) return revoke_grant(context, options.role);
  if (options.scope.empty()) {
    return report(context, {.code = Errc::invalid_argument, .message = "name a scope with --scope, or use --revoke"});
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto granted = store->grant(options.role, scope_of(options.scope));
  if (!granted) return report(context, granted.error());
  if (context.json) {
    print_line(model::json_object({{"role", options.role}, {"scope", options.scope}}));
  } else {
    print("{} can now call the functions of scope {}", printable(options.role), options.scope);
  }
  return exit_code::ok;
}

}  // namespace

void add_grant(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "grant", "Allow a PostgreSQL role to call leasehold's functions; tables stay closed",
      {"leasehold grant app --scope work", "leasehold grant website --scope produce", "leasehold grant app --revoke"});
  auto options = std::make_shared<GrantOptions>();
  command->add_option("ROLE", options->role, "The role")->required()->type_name("");
  auto* scope =
      add_choice(*command, "--scope", options->scope, {"read", "produce", "work", "admin"},
                 "read: look; produce: also enqueue jobs; work: also acquire, claim, heartbeat, settle, fence; "
                 "admin: also revoke, remove, prune and change settings");
  command->add_flag("--revoke", options->revoke, "Take the role's scope away")->excludes(scope);
  set_action(*command, context, [&context, options] { return grant(context, *options); });
}

}  // namespace leasehold::cli

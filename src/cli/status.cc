// leasehold status: the store in numbers.
#include "cli/command.h"
#include "cli/print.h"
#include "cli/queue_table.h"
#include "cli/report.h"
#include "cli/table.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

void print_count(std::string_view what, std::int64_t count) { print("{:<14} {}", what, count); }

void print_store(const std::string& url, const StoreStatus& status) {
  print("{:<14} {}", "store", printable(shown_url(url)));
  print("{:<14} {}, schema version {}", "backend", status.backend, status.schema_version);
  print("{:<14} {}", "store clock", to_string(status.store_now));
  print_count("locks", status.locks);
  print_count("waiters", status.waiters);
  print_count("held leases", status.held_leases);
  print_count("expired leases", status.expired_leases);
  print_count("ended leases", status.ended_leases);
  print_count("events", status.events);
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
  const auto queues = store->queues().list();
  if (!queues) return report(context, queues.error());
  const auto recovery = store->recovery_stats();
  if (!recovery) return report(context, recovery.error());
  if (context.json) {
    print_line(wire::to_json(*status, *queues, *recovery));
    return exit_code::ok;
  }
  print_store(*url, *status);
  print_recovery(*recovery);
  if (queues->empty()) return exit_code::ok;
  print_line("");
  print_queues(*queues);
  return exit_code::ok;
}

}  // namespace

void add_status(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "status", "Count what is in the store, queue by queue, and what was recovered",
                  {"leasehold status", "leasehold status --json | jq '.queues[].available'"});
  set_action(*command, context, [&context] { return show_status(context); });
}

}  // namespace leasehold::cli

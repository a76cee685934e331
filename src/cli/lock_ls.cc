// leasehold lock ls: all locks, one line each.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/table.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

std::vector<std::string> row_of(const LeaseInfo& lease) {
  const bool held = lease.state != LeaseState::free;
  const bool expired = lease.state == LeaseState::expired;
  return {printable(lease.key),
          coloured(lease.state),
          held ? printable(lease.holder.name) : "-",
          held ? format_age(lease.heartbeat_age()) : "-",
          expired ? "now"
          : held  ? "in " + format_duration(lease.frees_in())
                  : "-",
          std::to_string(lease.waiters),
          std::to_string(lease.token.value)};
}

void print_table(const std::vector<LeaseInfo>& leases, int limit) {
  if (leases.empty()) return say_line("no locks");
  Table table({{"NAME", Column::may_be_cut},
               "STATE",
               {"HOLDER", Column::may_be_cut},
               "HEARTBEAT",
               "FREES",
               {"WAITERS", Column::to_the_right},
               {"TOKEN", Column::to_the_right}});
  for (const auto& lease : leases) table.add(row_of(lease));
  table.print();
  if (leases.size() == static_cast<std::size_t>(limit)) say("only the first {} are shown: see --limit", limit);
}

int list(const Context& context, const LockFilter& filter) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto leases = store->locks().list(filter);
  if (!leases) return report(context, leases.error());
  if (context.json) {
    print_line(wire::to_json(*leases));
  } else {
    print_table(*leases, filter.limit);
  }
  return exit_code::ok;
}

}  // namespace

void add_lock_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "ls", "List locks and who holds them",
      {"leasehold lock ls", "leasehold lock ls deploy/ --held", "leasehold lock ls --json | jq -r '.[].key'"});
  auto filter = std::make_shared<LockFilter>();
  command->add_option("PREFIX", filter->prefix, "Only names that begin with it")->type_name("");
  command->add_flag("--held", filter->only_held, "Leave out free ones");
  add_number(*command, "--limit", filter->limit, 1, 1'000'000, "At most N (default 1000)");
  set_action(*command, context, [&context, filter] { return list(context, *filter); });
}

}  // namespace leasehold::cli

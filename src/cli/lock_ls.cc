// leasehold lock ls: all locks, one line each.
#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/lock_text.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/table.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

std::vector<std::string> row_of(const LockInfo& lock, bool with_permits) {
  std::vector<std::string> row{printable(lock.key), coloured(lock.state), holders_text(lock)};
  if (with_permits) row.push_back(permits_text(lock));
  row.push_back(is_taken(lock) ? format_age(lock.heartbeat_age()) : "-");
  row.push_back(frees_text(lock));
  row.push_back(std::to_string(lock.waiters));
  row.push_back(std::to_string(lock.token.value));
  return row;
}

/// What is shared has a column of its own, where anything is.
std::vector<Column> columns_of(bool with_permits) {
  std::vector<Column> columns{{"NAME", Column::may_be_cut}, "STATE", {"HOLDER", Column::may_be_cut}};
  if (with_permits) columns.emplace_back("PERMITS", Column::to_the_right);
  columns.emplace_back("HEARTBEAT");
  columns.emplace_back("FREES");
  columns.emplace_back("WAITERS", Column::to_the_right);
  columns.emplace_back("TOKEN", Column::to_the_right);
  return columns;
}

void print_table(const std::vector<LockInfo>& locks, int limit) {
  if (locks.empty()) return say_line("no locks");
  const bool with_permits = std::any_of(locks.begin(), locks.end(), has_shares);
  Table table(columns_of(with_permits));
  for (const auto& lock : locks) table.add(row_of(lock, with_permits));
  table.print();
  if (locks.size() == static_cast<std::size_t>(limit)) say("only the first {} are shown: see --limit", limit);
}

int list(const Context& context, const LockFilter& filter) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto locks = store->locks().list(filter);
  if (!locks) return report(context, locks.error());
  if (context.json) {
    print_line(wire::to_json(*locks));
  } else {
    print_table(*locks, filter.limit);
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

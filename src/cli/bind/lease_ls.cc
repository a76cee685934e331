// leasehold lease ls: everything that any process holds, one line each.
#include <memory>

#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/words.h"

namespace leasehold::cli {
namespace {

struct LeaseLsOptions {
  LeaseFilter filter;
  std::string state;
  bool watch = false;
};

std::vector<std::string> table_of(const std::vector<LeaseInfo>& leases) {
  Table table({"KIND",
               {"KEY", Column::may_be_cut, 1},
               {"STATE", Column::as_it_is, 2},
               {"HOLDER", Column::may_be_cut, 1},
               {"HOST", Column::may_be_cut},
               {"PID", Column::to_the_right},
               "HEARTBEAT",
               {"EXPIRES", Column::as_it_is, 1}});
  for (const auto& lease : leases) {
    const bool expired = lease.state == LeaseState::expired;
    table.add({lease.kind, printable(lease.key), coloured(lease.state), printable(lease.holder.name),
               printable(lease.holder.host), std::to_string(lease.holder.pid), format_age(lease.heartbeat_age()),
               expired ? format_age(-lease.retry_in()) : "in " + format_duration(lease.retry_in())});
  }
  return table.lines();
}

Result<ListPicture> look_at(const Store& store, const LeaseFilter& filter) {
  const auto leases = store.leases(filter);
  if (!leases) return leases.error();
  return picture_of(
      *leases, table_of(leases->items), [](const auto& lease) { return lease.kind + " " + printable(lease.key); },
      [](const auto& lease) { return fmt::format("{}, {}", to_string(lease.state), printable(lease.holder.name)); });
}

int list(const Context& context, LeaseLsOptions& options) {
  options.filter.state = from_word<LeaseState>(options.state);
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store,
                   {.what = "leases", .watch = options.watch, .look = [&] { return look_at(*store, options.filter); }});
}

}  // namespace

void add_lease_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "ls", "List leases: those that expire first, or have expired, come first",
      {"leasehold lease ls --kind job --state expired",
       "leasehold lease ls --held-by worker-3 --json | jq -r '.items[].key'", "leasehold lease ls --watch"});
  auto options = std::make_shared<LeaseLsOptions>();
  auto& filter = options->filter;
  add_choice(*command, "--kind", filter.kind, {"lock", "job", "chunk", "session", "item", "schedule", "row"},
             "Only leases of this kind");
  add_choice(*command, "--state", options->state, {"running", "expired"}, "Only leases in this state");
  command->add_option("--held-by", filter.held_by, "Only leases of this holder")->check(not_empty)->type_name("NAME");
  add_paging(*command, filter.max, filter.page);
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

}  // namespace leasehold::cli

// leasehold limit ls: every rate limit, one line each.
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/table.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

void print_table(const std::vector<LimitInfo>& limits) {
  if (limits.empty()) return say_line("no rate limits");
  Table table({{"NAME", Column::may_be_cut},
               {"EVERY", Column::to_the_right},
               {"BURST", Column::to_the_right},
               "NEXT",
               {"TAKEN", Column::to_the_right},
               {"LAST BY", Column::may_be_cut}});
  for (const auto& limit : limits) {
    const bool ahead = limit.next_at > limit.store_now;
    table.add({printable(limit.name), format_duration(limit.every), std::to_string(limit.burst),
               ahead ? "in " + format_duration(limit.next_at - limit.store_now) : "at once",
               std::to_string(limit.taken), limit.holder.empty() ? "-" : printable(limit.holder)});
  }
  table.print();
}

int list(const Context& context) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto limits = store->limits().list();
  if (!limits) return report(context, limits.error());
  if (context.json) {
    print_line(wire::to_json(*limits));
  } else {
    print_table(*limits);
  }
  return exit_code::ok;
}

}  // namespace

void add_limit_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List rate limits, when the next turn is, and who had the last",
                              {"leasehold limit ls", "leasehold limit ls --json | jq -r '.[].name'"});
  set_action(*command, context, [&context] { return list(context); });
}

}  // namespace leasehold::cli

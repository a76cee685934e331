// leasehold item ls: the backlog, and who works on what.
#include <memory>

#include "base/names.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_text.h"
#include "cli/table.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ItemLsOptions {
  ItemFilter filter;
  std::string state;
};

std::vector<std::string> row_of(const ItemInfo& item) {
  const auto since = item.owner ? item.owner->taken_at : item.done_at;
  return {printable(item.key),
          coloured(item.state),
          on_one_line(item.title),
          item.parent.empty() ? "-" : printable(item.parent),
          item.owner ? printable(item.owner->session) : "-",
          since ? format_age(item.store_now - *since) : "-"};
}

void print_table(const std::vector<ItemInfo>& items, int limit) {
  if (items.empty()) return say_line("no items");
  Table table({{"ITEM", Column::may_be_cut},
               "STATE",
               {"TITLE", Column::may_be_cut},
               {"PARENT", Column::may_be_cut},
               {"SESSION", Column::may_be_cut},
               "SINCE"});
  for (const auto& item : items) table.add(row_of(item));
  table.print();
  if (items.size() == static_cast<std::size_t>(limit)) say("only the first {} are shown: see --limit", limit);
}

int list(const Context& context, ItemLsOptions& options) {
  options.filter.state = item_state_from(options.state);
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto items = store->items().list(options.filter);
  if (!items) return report(context, items.error());
  if (context.json) {
    print_line(wire::to_json(*items));
  } else {
    print_table(*items, options.filter.limit);
  }
  return exit_code::ok;
}

}  // namespace

void add_item_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List items in the order of their keys, and whose they are",
                              {"leasehold item ls --state open", "leasehold item ls --parent SD-1",
                               "leasehold item ls --json | jq -r '.[] | select(.is_working_on) | .key'"});
  auto options = std::make_shared<ItemLsOptions>();
  add_choice(*command, "--state", options->state, {"open", "claimed", "stale", "done"}, "Only items in this state");
  command->add_option("--parent", options->filter.parent, "Only the children of this item")
      ->check(not_empty)
      ->type_name("ITEM");
  command->add_option("--after", options->filter.after_key, "Only those after this key")
      ->check(not_empty)
      ->type_name("ITEM");
  add_number(*command, "--limit", options->filter.limit, 1, 1'000'000, "At most N (default 1000)");
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

}  // namespace leasehold::cli

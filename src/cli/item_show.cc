// leasehold item show: one item, and whose it is.
#include <memory>

#include "cli/claim_refusal.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "cli/session_text.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

void print_item(const ItemInfo& item) {
  print_field("item", printable(item.key));
  print_field("state", coloured(item.state));
  print_text("title", item.title);
  print_text("parent", item.parent);
  if (!item.conflicts.empty()) print_text("conflicts", fmt::format("{}", fmt::join(item.conflicts, " ")));
  if (item.metadata != "{}") print_text("metadata", item.metadata);
  print_field("added", with_distance(item.created_at, item.store_now));
  if (item.done_at) print_field("done", with_distance(*item.done_at, item.store_now));
  print_text("done by", item.done_by);
  if (item.owner) {
    for (const auto& field : fields_of_owner(*item.owner)) {
      if (field.name != "item") print_field(field.name, field.value);
    }
  }
  if (item.token.value != 0) print_field("token", std::to_string(item.token.value));
}

int show(const Context& context, const std::string& key) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto item = store->items().show(key);
  if (!item) return report_refusal(context, item.error());
  if (context.json) {
    print_line(wire::to_json(*item));
  } else {
    print_item(*item);
  }
  return exit_code::ok;
}

}  // namespace

void add_item_show(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "show", "Tell what an item is, and who has it (exit code 4: unknown)",
                              {"leasehold item show SD-1", "leasehold item show SD-1 --json | jq .active_session_id"});
  auto key = std::make_shared<std::string>();
  add_item_key(*command, *key);
  set_action(*command, context, [&context, key] { return show(context, *key); });
}

}  // namespace leasehold::cli

// leasehold item add: put an item into the backlog, or change what is known of it.
#include <memory>

#include "cli/claim_refusal.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ItemAddOptions {
  std::string key;
  ItemOptions item;
  std::vector<std::string> conflicts;
  CLI::Option* conflicts_given = nullptr;
};

int add(const Context& context, ItemAddOptions& options) {
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  if (options.conflicts_given->count() > 0) {
    std::erase(options.conflicts, "");
    options.item.conflicts = options.conflicts;
  }
  const auto added = store->items().add(options.key, options.item);
  if (!added) return report_refusal(context, added.error());
  if (context.json) {
    print_line(wire::object({{"item", options.key}, {"created", *added}}));
  } else {
    print("{} {}", *added ? "added" : "changed", printable(options.key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_add(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "add", "Put an item into the backlog, or change what is given of one that is there",
                  {"leasehold item add SD-1 --title 'Parse nested comments'", "leasehold item add SD-1.1 --parent SD-1",
                   R"(leasehold item add SD-7 --conflicts SD-3 SD-4 --meta '{"size":"L"}')"});
  auto options = std::make_shared<ItemAddOptions>();
  add_item_key(*command, options->key);
  command->add_option("--title", options->item.title, "What it is about, up to 256 KiB")->type_name("TEXT");
  command
      ->add_option("--parent", options->item.parent,
                   "An item that it is part of: while one session has that, no other can have this. Empty: none")
      ->type_name("ITEM");
  command->add_option("--meta", options->item.metadata, "Anything else: JSON, up to 1 MiB")
      ->check(not_empty)
      ->type_name("JSON");
  options->conflicts_given =
      command
          ->add_option("--conflicts", options->conflicts,
                       "Items that no other session may work on meanwhile; replaces those said before. Empty: none")
          ->type_name("ITEM");
  set_action(*command, context, [&context, options] { return add(context, *options); });
}

}  // namespace leasehold::cli

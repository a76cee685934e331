// leasehold item rm: forget an item.
#include <memory>

#include "cli/claim_refusal.h"
#include "cli/command.h"
#include "cli/consent.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "cli/session_text.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ItemRmOptions {
  std::string key;
  Consent consent;
};

int show_what_would_go(const Context& context, const Store& store, const std::string& key) {
  const auto item = store.items().show(key);
  if (!item) return report_refusal(context, without_advice(item.error()));
  const auto children = store.items().list({.parent = key, .limit = 1});
  if (!children) return report(context, children.error());
  if (context.json) {
    print_line(wire::to_json(*item));
  } else if (item->is_working_on) {
    say("session {} works on it: it cannot be removed now", printable(item->active_session_id));
  } else if (!children->empty()) {
    say("it has children, such as {}: it cannot be removed now", printable(children->front().key));
  } else {
    print("would remove {}, which is {}", printable(key), to_string(item->state));
  }
  return item->is_working_on || !children->empty() ? exit_code::held : exit_code::ok;
}

int remove(const Context& context, const ItemRmOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "rm forgets the item and who had it when");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.consent.dry_run) return show_what_would_go(context, *store, options.key);
  const auto removed = store->items().remove(options.key);
  if (!removed) return report_refusal(context, without_advice(removed.error()));
  if (context.json) {
    print_line(wire::object({{"item", options.key}, {"removed", true}}));
  } else {
    print("removed {}", printable(options.key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_rm(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "rm", "Forget an item that nobody works on and that has no children",
                              {"leasehold item rm SD-1 --dry-run", "leasehold item rm SD-1 --yes"});
  auto options = std::make_shared<ItemRmOptions>();
  add_item_key(*command, options->key);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return remove(context, *options); });
}

}  // namespace leasehold::cli

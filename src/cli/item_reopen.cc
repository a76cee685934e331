// leasehold item reopen: it was not done, after all.
#include <memory>

#include "cli/claim_refusal.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

int reopen(const Context& context, const std::string& key) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto reopened = store->items().reopen(key);
  if (!reopened) return report_refusal(context, reopened.error());
  if (context.json) {
    print_line(wire::object({{"item", key}, {"reopened", true}}));
  } else {
    print("reopened {}", printable(key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_reopen(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "reopen", "Let an item that was done be claimed again",
                              {"leasehold item reopen SD-1"});
  auto key = std::make_shared<std::string>();
  add_item_key(*command, *key);
  set_action(*command, context, [&context, key] { return reopen(context, *key); });
}

}  // namespace leasehold::cli

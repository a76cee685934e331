// leasehold item done: nobody needs to work on it any more.
#include <memory>

#include "cli/chunk_options.h"
#include "cli/claim_refusal.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ItemDoneOptions {
  std::string key;
  std::optional<Token> token;
};

int finish(const Context& context, const ItemDoneOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto done = store->items().done(options.key, options.token);
  if (!done) {
    const int code = report_refusal(context, done.error());
    const auto& owner = done.error().current;
    if (!options.token && !context.json && owner && is_own_session(owner->session)) {
      say_line("leasehold: that is this session: add --token with the number that `claim take` gave");
    }
    return code;
  }
  if (context.json) {
    print_line(wire::object({{"item", options.key}, {"done", true}}));
  } else {
    print("done {}", printable(options.key));
  }
  return exit_code::ok;
}

}  // namespace

void add_item_done(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "done",
      "Say that an item is done: by its owner with the claim's token, which ends with it; without, if nobody has it",
      {"leasehold item done SD-1 --token 1763200000000000", "leasehold item done SD-1    # nobody works on it"});
  auto options = std::make_shared<ItemDoneOptions>();
  add_item_key(*command, options->key);
  add_optional_token(*command, options->token, "The token of the claim, as `claim take` gave it");
  set_action(*command, context, [&context, options] { return finish(context, *options); });
}

}  // namespace leasehold::cli

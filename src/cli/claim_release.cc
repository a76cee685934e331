// leasehold claim release: give an item up, undone.
#include <memory>

#include "cli/claim_refusal.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ClaimReleaseOptions {
  std::string item;
  NamedSession session;
  Token token;
  std::string reason;
};

int release(const Context& context, const ClaimReleaseOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto released = store->claims().release(options.item, options.session.id, options.token, options.reason);
  if (!released) return report_refusal(context, released.error());
  if (context.json) {
    print_line(wire::object({{"released", true}, {"item", options.item}, {"token", options.token.value}}));
  } else {
    print("released {}", printable(options.item));
  }
  return exit_code::ok;
}

}  // namespace

void add_claim_release(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "release",
                  "Give an item up, and no other claim of the session; with a token that is not current nothing "
                  "changes (exit code 76)",
                  {"leasehold claim release SD-1 --token 1763200000000000 --reason 'needs a decision'",
                   "leasehold claim release SD-1 --session s-81f --token \"$token\""});
  auto options = std::make_shared<ClaimReleaseOptions>();
  add_item_key(*command, options->item);
  add_claiming_session(*command, options->session);
  add_token(*command, options->token);
  command->add_option("--reason", options->reason, "Why; kept with the claim and its event")
      ->check(not_empty)
      ->type_name("TEXT");
  set_action(*command, context, [&context, options] { return release(context, *options); });
}

}  // namespace leasehold::cli

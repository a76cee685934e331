// leasehold claim transfer: hand an item over to another session.
#include <memory>

#include "cli/chunk_options.h"
#include "cli/claim_refusal.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "cli/session_text.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ClaimTransferOptions {
  std::string item;
  std::string to;
  std::optional<Token> token;
  std::string reason;
  bool yes = false;
};

int transfer(const Context& context, const ClaimTransferOptions& options) {
  if (!options.token && (!options.yes || options.reason.empty())) {
    return report(context, {.code = Errc::invalid_argument,
                            .message = "without the claim's --token this is an operator's act: say why with --reason, "
                                       "and add --yes"});
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto claim = store->claims().transfer(options.item, options.to, options.token, options.reason);
  if (!claim) return report_refusal(context, claim.error());
  if (context.json) {
    print_line(wire::to_json(*claim));
  } else {
    print_line(told(*claim));
  }
  return exit_code::ok;
}

}  // namespace

void add_claim_transfer(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "transfer", "Hand an item over to another session, which must be alive",
                  {"leasehold claim transfer SD-1 --to s-92a --token 1763200000000000     # by its owner",
                   "leasehold claim transfer SD-1 --to s-92a --reason 'ann is ill' --yes   # by an operator"});
  auto options = std::make_shared<ClaimTransferOptions>();
  add_item_key(*command, options->item);
  command->add_option("--to", options->to, "The session that gets it")->check(not_empty)->required()->type_name("ID");
  add_optional_token(*command, options->token, "The token of the claim: its owner says so");
  command->add_option("--reason", options->reason, "Why; kept with the claim and its event")
      ->check(not_empty)
      ->type_name("TEXT");
  command->add_flag("--yes", options->yes, "Do it as an operator, whoever has the item");
  set_action(*command, context, [&context, options] { return transfer(context, *options); });
}

}  // namespace leasehold::cli

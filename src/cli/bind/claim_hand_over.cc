// leasehold claim transfer, revoke.
#include <memory>

#include "cli/bind/chunk_options.h"
#include "cli/bind/session_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/session_text.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold claim transfer: hand an item over to another session.
namespace {

struct ClaimTransferOptions {
  std::string item;
  std::string to;
  std::optional<Token> token;
  std::string reason;
  bool yes = false;
  bool quiet = false;
};

int transfer(const Context& context, const ClaimTransferOptions& options) {
  if (!options.token && (!options.yes || options.reason.empty())) {
    return report(context,
                  {.code = Errc::invalid_argument,
                   .message = "without the claim's --token this is an operator's act: add --reason and --yes"});
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto claim = store->claims().transfer(options.item, options.to, options.token, options.reason);
  return report_claim(context, claim, options.quiet);
}

}  // namespace

void add_claim_transfer(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "transfer", "Transfer an item to another session, which must be alive",
                  {"leasehold claim transfer SD-1 --to s-92a --token 1763200000000000     # by its owner",
                   "leasehold claim transfer SD-1 --to s-92a --reason 'ann is ill' --yes   # by an operator"});
  auto options = std::make_shared<ClaimTransferOptions>();
  add_item_key(*command, options->item);
  command->add_option("--to", options->to, "Session that gets the item")->check(not_empty)->required()->type_name("ID");
  add_optional_token(*command, options->token, "Token of the claim, from its owner");
  command->add_option("--reason", options->reason, "Reason; kept with the claim and its event")
      ->check(not_empty)
      ->type_name("TEXT");
  command->add_flag("--yes", options->yes, "Do it as an operator, for any owner");
  command->add_flag("-q,--quiet", options->quiet, "Print only item and token");
  set_action(*command, context, [&context, options] { return transfer(context, *options); });
}

// leasehold claim revoke: an operator takes an item from its session.
namespace {

struct ClaimRevokeOptions {
  std::string item;
  std::string reason;
  Consent consent;
};

int show_what_would_end(const Context& context, const Store& store, const std::string& item) {
  const auto claim = store.claims().show(item);
  if (!claim) return report_refusal(context, claim.error());
  if (context.json) {
    print_line(model::to_json(*claim));
  } else if (!claim->active) {
    say("{} is free: there is nothing to revoke", printable(item));
  } else {
    print("would take {} from session {}", printable(item), printable(claim->session));
    for (const auto& field : fields_of_owner(claim->held_by)) print("  {:<9}  {}", field.name, field.value);
  }
  return claim->active ? exit_code::ok : exit_code::nothing_to_do;
}

int revoke(const Context& context, const ClaimRevokeOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "revoke takes the item from its session");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.consent.dry_run) return show_what_would_end(context, *store, options.item);
  const auto ended = store->claims().revoke(options.item, options.reason);
  if (!ended) return report_refusal(context, ended.error());
  if (context.json) {
    print_line(model::to_json(*ended));
  } else {
    print("revoked {}  token {}  of session {}", printable(ended->key), ended->token.value, printable(ended->session));
  }
  return exit_code::ok;
}

}  // namespace

void add_claim_revoke(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "revoke",
                              "Revoke the claim on an item; other sessions can claim it, this one needs a transfer",
                              {"leasehold claim revoke SD-1 --reason 'wrong branch' --dry-run",
                               "leasehold claim revoke SD-1 --reason 'wrong branch' --yes"});
  auto options = std::make_shared<ClaimRevokeOptions>();
  add_item_key(*command, options->item);
  command->add_option("--reason", options->reason, "Reason; shown to its session")
      ->check(not_empty)
      ->required()
      ->type_name("TEXT");
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return revoke(context, *options); });
}

}  // namespace leasehold::cli

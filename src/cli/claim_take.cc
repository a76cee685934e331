// leasehold claim take: make an item a session's.
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

struct ClaimTakeOptions {
  std::string item;
  NamedSession session;
  ItemTakeOptions take;
  int held_code = exit_code::held;
  bool quiet = false;
};

int take(const Context& context, ClaimTakeOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  options.take.session_token = options.session.proof();
  const auto claim = store->claims().take(options.item, options.session.id, options.take);
  if (!claim) return report_refusal(context, claim.error(), options.held_code);
  if (context.json) {
    print_line(wire::to_json(*claim));
  } else if (options.quiet) {
    print("{}", claim->token.value);
  } else {
    print_line(told(*claim));
  }
  return exit_code::ok;
}

}  // namespace

void add_claim_take(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "take",
      "Make an item a session's; a stale session's claim is taken over at once (exit code 75: somebody else has it, "
      "76: "
      "the session is stale or unknown)",
      {"leasehold claim take SD-1                          # under `session run`, or after `session open --export`",
       "leasehold claim take SD-1 --session s-81f --create", "leasehold claim take SD-1 --wait 10m",
       "token=$(leasehold claim take SD-1 -q) && work && leasehold item done SD-1 --token \"$token\""});
  auto options = std::make_shared<ClaimTakeOptions>();
  add_item_key(*command, options->item);
  add_claiming_session(*command, options->session);
  command->add_flag("--create", options->take.create, "Add the item if there is none");
  add_duration(*command, "--wait", options->take.wait,
               "How long to wait while it is somebody else's or blocked (default: not)");
  add_conflict_exit_code(*command, options->held_code);
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but the token");
  set_action(*command, context, [&context, options] { return take(context, *options); });
}

}  // namespace leasehold::cli

// leasehold claim switch: from one item to another, in one step.
#include <memory>

#include "cli/claim_refusal.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_text.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ClaimSwitchOptions {
  std::string from;
  std::string to;
  Token token;
  ItemTakeOptions take;
  int held_code = exit_code::held;
};

int switch_items(const Context& context, const ClaimSwitchOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto claim = store->claims().switch_to(options.from, options.token, options.to, options.take);
  if (!claim) return report_refusal(context, claim.error(), options.held_code);
  if (context.json) {
    print_line(wire::to_json(*claim));
  } else {
    print_line(told(*claim));
  }
  return exit_code::ok;
}

}  // namespace

void add_claim_switch(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "switch",
                              "Give up one item and take another in one step: if that is refused, nothing has changed",
                              {"leasehold claim switch SD-1 SD-2 --token 1763200000000000"});
  auto options = std::make_shared<ClaimSwitchOptions>();
  command->add_option("FROM", options->from, "The item to give up")->required()->type_name("");
  command->add_option("TO", options->to, "The item to take")->required()->type_name("");
  add_token(*command, options->token);
  command->add_flag("--create", options->take.create, "Add the item to take if there is none");
  add_conflict_exit_code(*command, options->held_code);
  set_action(*command, context, [&context, options] { return switch_items(context, *options); });
}

}  // namespace leasehold::cli

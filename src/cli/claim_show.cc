// leasehold claim show: the latest claim of an item.
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

void print_claim(const ClaimInfo& claim) {
  const auto state = claim.active ? coloured(health_of(claim.owner)) : coloured(Tone::faint, claim.end_reason);
  print_field("item", printable(claim.item));
  print_text("title", claim.title);
  print_field("state", state);
  for (const auto& field : fields_of_owner(claim.owner)) {
    // The lease of a claim that has ended tells of its session, which may have gone on.
    const bool of_the_session = field.name == "heartbeat" || field.name == "progress" || field.name == "frees";
    if (field.name != "item" && (claim.active || !of_the_session)) print_field(field.name, field.value);
  }
  if (claim.ended_at) print_field("ended", with_distance(*claim.ended_at, claim.store_now));
  print_text("reason", claim.end_detail);
  print_field("token", std::to_string(claim.token.value));
}

int show(const Context& context, const std::string& item) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto claim = store->claims().show(item);
  if (!claim) return report_refusal(context, claim.error());
  if (context.json) {
    print_line(wire::to_json(*claim));
  } else {
    print_claim(*claim);
  }
  return exit_code::ok;
}

}  // namespace

void add_claim_show(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "show", "Tell who has an item, or had it last (exit code 4: nobody ever had it)",
                  {"leasehold claim show SD-1", "leasehold claim show SD-1 --json | jq .owner.holder.host"});
  auto item = std::make_shared<std::string>();
  add_item_key(*command, *item);
  set_action(*command, context, [&context, item] { return show(context, *item); });
}

}  // namespace leasehold::cli

// leasehold claim show, ls.
#include <memory>

#include "base/time_text.h"
#include "cli/bind/session_options.h"
#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/session_text.h"
#include "cli/print/table.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold claim show: the latest claim of an item.
namespace {

void print_claim(const ClaimInfo& claim) {
  const auto state = claim.active ? coloured(health_of(claim.held_by)) : coloured(Tone::faint, claim.end_reason);
  print_field("item", printable(claim.key));
  print_text("title", claim.title);
  print_field("state", state);
  for (const auto& field : fields_of_owner(claim.held_by)) {
    // The lease of an ended claim describes its session, which may have gone on.
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
    print_line(model::to_json(*claim));
  } else {
    print_claim(*claim);
  }
  return exit_code::ok;
}

}  // namespace

void add_claim_show(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "show", "Show the current or last owner of an item (exit code 4: it had none)",
                  {"leasehold claim show SD-1", "leasehold claim show SD-1 --json | jq .held_by.holder.host"});
  auto item = std::make_shared<std::string>();
  add_item_key(*command, *item);
  set_action(*command, context, [&context, item] { return show(context, *item); });
}

// leasehold claim ls: items and their sessions.
namespace {

struct ClaimLsOptions {
  ClaimFilter filter;
  bool watch = false;
};

/// The state of an active claim's session, or how the claim ended.
std::string shown_state(const ClaimInfo& claim) {
  return claim.active ? coloured(health_of(claim.held_by)) : coloured(Tone::faint, claim.end_reason);
}

std::vector<std::string> row_of(const ClaimInfo& claim) {
  const auto& owner = claim.held_by;
  const auto of_active = [&claim](std::string text) { return claim.active ? std::move(text) : std::string("-"); };
  return {printable(claim.key),
          on_one_line(claim.title),
          shown_state(claim),
          printable(claim.session),
          on_one_line(owner.label),
          printable(owner.holder.host),
          shown_terminal(owner.holder),
          of_active(format_age(owner.heartbeat_age())),
          of_active(owner.progress_at ? format_age(owner.store_now - *owner.progress_at) : "-"),
          format_age(claim.store_now - claim.taken_at),
          of_active(shown_end_of(owner))};
}

std::vector<std::string> table_of(const std::vector<ClaimInfo>& claims) {
  Table table({{"ITEM", Column::may_be_cut},
               {"TITLE", Column::may_be_cut, 1},
               {"STATUS", Column::as_it_is, 3},
               {"SESSION", Column::may_be_cut, 3},
               {"LABEL", Column::may_be_cut},
               {"HOST", Column::may_be_cut},
               {"TTY", Column::as_it_is, -1},
               {"HEARTBEAT", Column::as_it_is, 1},
               {"PROGRESS", Column::as_it_is, -1},
               "CLAIMED",
               {"FREES", Column::as_it_is, 1}});
  for (const auto& claim : claims) table.add(row_of(claim));
  return table.lines();
}

/// The text that is worth a line when it changes.
std::string gist_of(const ClaimInfo& claim) {
  auto text =
      fmt::format("{}, session {}", claim.active ? to_string(health_of(claim.held_by)) : claim.end_reason.c_str(),
                  printable(claim.session));
  if (!claim.held_by.label.empty()) text += fmt::format(" ({})", on_one_line(claim.held_by.label));
  if (!claim.end_detail.empty()) text += ": " + on_one_line(claim.end_detail);
  return text;
}

Result<ListPicture> look_at(const Store& store, const ClaimFilter& filter) {
  const auto claims = store.claims().list(filter);
  if (!claims) return claims.error();
  return picture_of(
      *claims, table_of(claims->items), [](const auto& claim) { return claim.key; },
      [](const auto& each) { return gist_of(each); });
}

int list_claims(const Context& context, ClaimLsOptions& options) {
  if (const auto handle = SessionHandle::parse(options.filter.session)) options.filter.session = handle->id;
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store,
                   {.what = "claims", .watch = options.watch, .look = [&] { return look_at(*store, options.filter); }});
}

}  // namespace

void add_claim_ls(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "ls", "List claims: owner, since when, alive, working, and when they free",
                  {"leasehold claim ls", "leasehold claim ls --session s-81f --all", "leasehold claim ls --watch",
                   "leasehold claim ls --json | jq -r '.items[] | [.key, .session] | @tsv'"});
  auto options = std::make_shared<ClaimLsOptions>();
  command->add_option("--item", options->filter.item, "Only claims of this item")->check(not_empty)->type_name("ITEM");
  command->add_option("--session", options->filter.session, "Only claims of this session")
      ->check(not_empty)
      ->type_name("ID");
  command->add_flag("--all", options->filter.ended, "Also ended claims, and how they ended");
  add_paging(*command, options->filter.max, options->filter.page);
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] { return list_claims(context, *options); });
}

}  // namespace leasehold::cli

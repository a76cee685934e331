// leasehold claim ls: which item is whose.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_live.h"
#include "cli/session_text.h"
#include "cli/table.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ClaimLsOptions {
  ClaimFilter filter;
  bool watch = false;
};

/// How an active claim's session is doing, or how the claim ended.
std::string shown_state(const ClaimInfo& claim) {
  return claim.active ? coloured(health_of(claim.owner)) : coloured(Tone::faint, claim.end_reason);
}

std::vector<std::string> row_of(const ClaimInfo& claim) {
  const auto& owner = claim.owner;
  const auto of_active = [&claim](std::string text) { return claim.active ? std::move(text) : std::string("-"); };
  return {printable(claim.item),
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
               {"TITLE", Column::may_be_cut},
               "STATUS",
               {"SESSION", Column::may_be_cut},
               {"LABEL", Column::may_be_cut},
               {"HOST", Column::may_be_cut},
               "TTY",
               "HEARTBEAT",
               "PROGRESS",
               "CLAIMED",
               "FREES"});
  for (const auto& claim : claims) table.add(row_of(claim));
  return table.lines();
}

/// What is worth a line of its own when it changes.
std::string gist_of(const ClaimInfo& claim) {
  auto text = fmt::format("{}, session {}", claim.active ? to_string(health_of(claim.owner)) : claim.end_reason.c_str(),
                          printable(claim.session));
  if (!claim.owner.label.empty()) text += fmt::format(" ({})", on_one_line(claim.owner.label));
  if (!claim.end_detail.empty()) text += ": " + on_one_line(claim.end_detail);
  return text;
}

Result<ListPicture> look_at(const Store& store, const ClaimFilter& filter) {
  const auto claims = store.claims().list(filter);
  if (!claims) return claims.error();
  ListPicture picture{.table = table_of(*claims), .entries = {}, .json = wire::to_json(*claims)};
  // The newest of an item comes first, and is the one that counts.
  for (const auto& claim : *claims) picture.entries.try_emplace(claim.item, gist_of(claim));
  return picture;
}

int list_claims(const Context& context, const ClaimLsOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const WatchedList list{
      .what = "claims", .limit = options.filter.limit, .look = [&] { return look_at(*store, options.filter); }};
  return options.watch ? watch_list(context, *store, list) : print_list(context, list);
}

}  // namespace

void add_claim_ls(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "ls", "List claimed items: whose, since when, alive, working, and when they free",
                  {"leasehold claim ls", "leasehold claim ls --session s-81f --all", "leasehold claim ls --watch",
                   "leasehold claim ls --json | jq -r '.[] | [.item, .session] | @tsv'"});
  auto options = std::make_shared<ClaimLsOptions>();
  command->add_option("--item", options->filter.item, "Only claims of this item")->check(not_empty)->type_name("ITEM");
  command->add_option("--session", options->filter.session, "Only claims of this session")
      ->check(not_empty)
      ->type_name("ID");
  command->add_flag("--all", options->filter.ended, "Also those that have ended, with how");
  add_number(*command, "--limit", options->filter.limit, 1, 1'000'000, "At most N (default 1000)");
  command->add_flag("-w,--watch", options->watch,
                    "Go on until interrupted: redrawn in place on a terminal, otherwise a line for every change");
  set_action(*command, context, [&context, options] { return list_claims(context, *options); });
}

}  // namespace leasehold::cli

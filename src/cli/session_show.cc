// leasehold session show: one session, with all there is to know about it.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "cli/session_text.h"
#include "cli/table.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

void print_time(std::string_view name, const std::optional<Timestamp>& when, const SessionInfo& session) {
  if (when) print_field(name, with_distance(*when, session.store_now));
}

void print_holder(const Holder& holder) {
  print_field("holder", printable(holder.name));
  print_text("host", holder.host);
  if (holder.pid != 0) {
    print_field("pid", fmt::format("{}{}", holder.pid, holder.process_start == 0 ? "  (its end is not noticed)" : ""));
  }
  print_field("tty", shown_terminal(holder));
}

void print_life(const SessionInfo& session) {
  print_time("opened", session.opened_at, session);
  print_field("heartbeat", age_in_words_and_seconds(session.heartbeat_age()));
  print_field("progress", age_in_words_and_seconds(session.progress_age()));
  print_text("note", session.progress);
  print_time("parked", session.parked_until, session);
  if (!session.ended_at) {
    print_field("stale", fmt::format("{}  (after {} of silence)", shown_end_of(session), format_duration(session.ttl)));
  }
  print_time("ends by", session.ends_by, session);
  print_time("ended", session.ended_at, session);
  print_text("reason", session.end_detail);
}

void print_session(const SessionInfo& session) {
  print_field("session", printable(session.id));
  print_field("status", coloured(session.status));
  print_text("label", session.label);
  print_holder(session.holder);
  print_text("codebase", session.codebase);
  print_text("track", session.track);
  if (session.metadata != "{}") print_text("metadata", session.metadata);
  if (session.exclusive) print_field("exclusive", "one claim at a time");
  print_life(session);
  print_field("token", std::to_string(session.token.value));
}

void print_claims(const std::vector<ClaimInfo>& claims) {
  if (claims.empty()) return;
  Table table(
      {{"ITEM", Column::may_be_cut}, {"TITLE", Column::may_be_cut}, "CLAIMED", {"TOKEN", Column::to_the_right}});
  for (const auto& claim : claims) {
    table.add({printable(claim.item), on_one_line(claim.title), format_age(claim.store_now - claim.taken_at),
               std::to_string(claim.token.value)});
  }
  print_line("");
  table.print();
}

int show(const Context& context, const std::string& id) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto session = store->sessions().show(id);
  if (!session) return report(context, session.error());
  if (context.json) {
    print_line(wire::to_json(*session));
    return exit_code::ok;
  }
  const auto claims = store->claims().list({.session = id});
  if (!claims) return report(context, claims.error());
  print_session(*session);
  print_claims(*claims);
  return exit_code::ok;
}

}  // namespace

void add_session_show(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "show",
                              "Tell who a session is, whether it is alive and working, and what it has (exit code 4: "
                              "unknown)",
                              {"leasehold session show    # one's own", "leasehold session show s-81f",
                               "leasehold session show s-81f --json | jq .seconds_until_stale"});
  auto session = std::make_shared<NamedSession>();
  add_named_session(*command, *session, false);
  set_action(*command, context, [&context, session] { return show(context, session->id); });
}

}  // namespace leasehold::cli

// leasehold session show, mine, ls.
#include <limits>
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
#include "model/words.h"

namespace leasehold::cli {

// leasehold session show: one session in full.
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
  print_field("state", coloured(session.state));
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
      {{"ITEM", Column::may_be_cut}, {"TITLE", Column::may_be_cut, 1}, "CLAIMED", {"TOKEN", Column::to_the_right}});
  for (const auto& claim : claims) {
    table.add({printable(claim.key), on_one_line(claim.title), format_age(claim.store_now - claim.taken_at),
               std::to_string(claim.token.value)});
  }
  print_line("");
  table.print();
}

int show_session(const Context& context, const std::string& id) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto session = store->sessions().show(id);
  if (!session) return report(context, session.error());
  if (context.json) {
    print_line(model::to_json(*session));
    return exit_code::ok;
  }
  const auto claims = store->claims().list({.session = id});
  if (!claims) return report(context, claims.error());
  print_session(*session);
  print_claims(claims->items);
  return exit_code::ok;
}

}  // namespace

void add_session_show(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "show",
                  "Show a session: its holder, whether it is alive and working, its claims (exit code 4: unknown)",
                  {"leasehold session show    # your own", "leasehold session show s-81f",
                   "leasehold session show s-81f --json | jq .seconds_until_stale"});
  auto session = std::make_shared<NamedSession>();
  add_named_session(*command, context, *session, false);
  set_action(*command, context, [&context, session] { return show_session(context, session->id); });
}

// leasehold session mine: the sessions of the caller's own process.
namespace {

int show_own_sessions(const Context& context, int watched_pid) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  std::optional<ProcessId> process;
  if (watched_pid != 0) {
    const auto holder = holder_of_process(watched_pid);
    if (!holder) return report(context, holder.error());
    process = ProcessId{.pid = holder->pid, .start = holder->process_start};
  }
  const auto own = store->sessions().mine(process);
  if (!own) return report(context, own.error());
  if (context.json) {
    print_line(model::to_json(*own));
  } else {
    for (const auto& each : *own) print_line(printable(each.handle));
  }
  return own->empty() ? exit_code::nothing_to_do : exit_code::ok;
}

}  // namespace

void add_session_mine(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "mine",
      "Print the handles of your own live sessions, the latest first: those of the processes above this command, up to "
      "the first that is no shell (exit code 3: there is none)",
      {"leasehold session mine", "handle=$(leasehold session mine | head -n1)",
       "leasehold session mine --json | jq -r '.items[] | [.handle, .item] | @tsv'"});
  auto pid = std::make_shared<int>(0);
  add_number(*command, "--watch-pid", *pid, 1, std::numeric_limits<int>::max(),
             "Only those of this process, which must be one above this command");
  set_action(*command, context, [&context, pid] { return show_own_sessions(context, *pid); });
}

// leasehold session ls: all sessions, alive or not, working or not.
namespace {

struct SessionLsOptions {
  SessionFilter filter;
  std::string state;
  bool stale = false;
  bool all = false;
  bool watch = false;
};

std::string shown_claims(const SessionInfo& session) {
  if (session.claims == 0) return "-";
  const auto more = session.claims > 1 ? fmt::format(" +{}", session.claims - 1) : "";
  return on_one_line(session.item) + more;
}

std::vector<std::string> row_of(const SessionInfo& session) {
  const bool ended = session.ended_at.has_value();
  return {printable(session.id),
          coloured(session.state),
          on_one_line(session.label),
          printable(session.holder.host),
          shown_terminal(session.holder),
          format_age(session.heartbeat_age()),
          format_age(session.progress_age()),
          ended ? "-" : shown_end_of(session),
          shown_claims(session),
          session.item_taken_at ? format_age(session.store_now - *session.item_taken_at) : "-"};
}

std::vector<std::string> table_of(const std::vector<SessionInfo>& sessions) {
  Table table({{"SESSION", Column::may_be_cut},
               {"STATE", Column::as_it_is, 3},
               {"LABEL", Column::may_be_cut, 2},
               {"HOST", Column::may_be_cut},
               {"TTY", Column::as_it_is, -1},
               {"HEARTBEAT", Column::as_it_is, 1},
               "PROGRESS",
               {"STALE", Column::as_it_is, 1},
               {"ITEM", Column::may_be_cut, 2},
               {"CLAIMED", Column::as_it_is, -1}});
  for (const auto& session : sessions) table.add(row_of(session));
  return table.lines();
}

/// The text that is worth a line when it changes.
std::string gist_of(const SessionInfo& session) {
  auto text = fmt::format("{}, {}", to_string(session.state), printable(session.holder.name));
  if (!session.label.empty()) text += ", " + on_one_line(session.label);
  if (session.claims > 0) text += ", has " + shown_claims(session);
  if (!session.progress.empty()) text += ": " + on_one_line(session.progress);
  return text;
}

Result<ListPicture> look_at(const Store& store, const SessionFilter& filter) {
  const auto sessions = store.sessions().list(filter);
  if (!sessions) return sessions.error();
  return picture_of(
      *sessions, table_of(sessions->items), [](const auto& session) { return session.id; },
      [](const auto& each) { return gist_of(each); });
}

int list_sessions(const Context& context, SessionLsOptions& options) {
  auto& filter = options.filter;
  filter.state = options.stale ? SessionState::stale : from_word<SessionState>(options.state);
  filter.released = options.all || filter.state == SessionState::released;
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store,
                   {.what = "sessions", .watch = options.watch, .look = [&] { return look_at(*store, filter); }});
}

void add_options(CLI::App& command, SessionLsOptions& options) {
  auto* stale = command.add_flag("--stale", options.stale, "Only sessions that went silent or lost their process");
  add_choice(command, "--state", options.state, {"active", "idle", "stale", "released"}, "Only sessions in this state")
      ->excludes(stale);
  command.add_flag("--all", options.all, "Also closed sessions");
  command.add_option("--host", options.filter.host, "Only those of this host")->check(not_empty)->type_name("HOST");
  command.add_option("--codebase", options.filter.codebase, "Only sessions of this codebase")
      ->check(not_empty)
      ->type_name("TEXT");
  command.add_option("--track", options.filter.track, "Only sessions of this track")
      ->check(not_empty)
      ->type_name("TEXT");
  add_paging(command, options.filter.max, options.filter.page);
  add_watch(command, options.watch);
}

}  // namespace

void add_session_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List sessions: alive or stale, working or idle, and on what",
                              {"leasehold session ls", "leasehold session ls --stale", "leasehold session ls --watch",
                               "leasehold session ls --json | jq -r '.items[] | [.id, .heartbeat_age_human] | @tsv'"});
  auto options = std::make_shared<SessionLsOptions>();
  add_options(*command, *options);
  set_action(*command, context, [&context, options] { return list_sessions(context, *options); });
}

}  // namespace leasehold::cli

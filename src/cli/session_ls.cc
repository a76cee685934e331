// leasehold session ls: who is there, alive or not, working or not.
#include <memory>

#include "base/names.h"
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

struct SessionLsOptions {
  SessionFilter filter;
  std::string status;
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
          coloured(session.status),
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
               "STATUS",
               {"LABEL", Column::may_be_cut},
               {"HOST", Column::may_be_cut},
               "TTY",
               "HEARTBEAT",
               "PROGRESS",
               "STALE",
               {"ITEM", Column::may_be_cut},
               "CLAIMED"});
  for (const auto& session : sessions) table.add(row_of(session));
  return table.lines();
}

/// What is worth a line of its own when it changes.
std::string gist_of(const SessionInfo& session) {
  auto text = fmt::format("{}, {}", to_string(session.status), printable(session.holder.name));
  if (!session.label.empty()) text += ", " + on_one_line(session.label);
  if (session.claims > 0) text += ", has " + shown_claims(session);
  if (!session.progress.empty()) text += ": " + on_one_line(session.progress);
  return text;
}

Result<ListPicture> look_at(const Store& store, const SessionFilter& filter) {
  const auto sessions = store.sessions().list(filter);
  if (!sessions) return sessions.error();
  ListPicture picture{.table = table_of(*sessions), .entries = {}, .json = wire::to_json(*sessions)};
  for (const auto& session : *sessions) picture.entries[session.id] = gist_of(session);
  return picture;
}

int list_sessions(const Context& context, SessionLsOptions& options) {
  auto& filter = options.filter;
  filter.status = options.stale ? SessionStatus::stale : session_status_from(options.status);
  filter.released = options.all || filter.status == SessionStatus::released;
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const WatchedList list{.what = "sessions", .limit = filter.limit, .look = [&] { return look_at(*store, filter); }};
  return options.watch ? watch_list(context, *store, list) : print_list(context, list);
}

void add_options(CLI::App& command, SessionLsOptions& options) {
  auto* stale = command.add_flag("--stale", options.stale, "Only those that went silent, or whose process is gone");
  add_choice(command, "--status", options.status, {"active", "idle", "stale", "released"}, "Only those that are so")
      ->excludes(stale);
  command.add_flag("--all", options.all, "Also those that were closed");
  command.add_option("--host", options.filter.host, "Only those of this host")->check(not_empty)->type_name("HOST");
  command.add_option("--codebase", options.filter.codebase, "Only those that work on it")
      ->check(not_empty)
      ->type_name("TEXT");
  command.add_option("--track", options.filter.track, "Only those of this line of work")
      ->check(not_empty)
      ->type_name("TEXT");
  add_number(command, "--limit", options.filter.limit, 1, 1'000'000, "At most N (default 1000)");
  command.add_flag("-w,--watch", options.watch,
                   "Go on until interrupted: redrawn in place on a terminal, otherwise a line for every change");
}

}  // namespace

void add_session_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List sessions: alive or stale, working or idle, and on what",
                              {"leasehold session ls", "leasehold session ls --stale", "leasehold session ls --watch",
                               "leasehold session ls --json | jq -r '.[] | [.id, .heartbeat_age_human] | @tsv'"});
  auto options = std::make_shared<SessionLsOptions>();
  add_options(*command, *options);
  set_action(*command, context, [&context, options] { return list_sessions(context, *options); });
}

}  // namespace leasehold::cli

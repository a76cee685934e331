// The panel of sessions: alive or not, working or not, and on what.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cli/print.h"
#include "cli/session_text.h"
#include "cli/top_panel.h"
#include "core/duration.h"

namespace leasehold::cli {
namespace {

std::string shown_item(const SessionInfo& session) {
  if (session.claims == 0) return "-";
  return short_text(session.item) + (session.claims > 1 ? fmt::format(" +{}", session.claims - 1) : "");
}

std::vector<std::string> row_of(const SessionInfo& session) {
  return {short_text(session.id),
          coloured(session.status),
          shown_item(session),
          format_age(session.heartbeat_age()),
          format_age(session.progress_age()),
          session.item_taken_at ? format_age(session.store_now - *session.item_taken_at) : "-",
          short_text(session.label),
          short_text(session.holder.host),
          shown_terminal(session.holder),
          short_text(session.progress)};
}

/// Whoever keeps others from an item without being there, then who works, then who is only there, then the dead.
int urgency(const SessionInfo& session) {
  const bool stale = session.status == SessionStatus::stale;
  if (session.claims > 0) return stale ? 0 : 1;
  return stale ? 3 : 2;
}

/// Within that the order does not move with every heartbeat: a row can be followed by eye.
std::vector<SessionInfo> in_order(std::vector<SessionInfo> sessions) {
  const auto place = [](const SessionInfo& session) {
    return std::tuple(urgency(session), session.opened_at, std::string_view(session.id));
  };
  std::sort(sessions.begin(), sessions.end(),
            [&](const SessionInfo& a, const SessionInfo& b) { return place(a) < place(b); });
  return sessions;
}

TopCount count_of(const std::vector<SessionInfo>& sessions, SessionStatus status) {
  const auto is_so = [&](const SessionInfo& session) { return session.status == status; };
  return {static_cast<std::size_t>(std::count_if(sessions.begin(), sessions.end(), is_so)), coloured(status)};
}

}  // namespace

TopPanel session_panel(const TopPicture& picture) {
  const auto& sessions = picture.sessions;
  TopPanel panel{
      .name = "sessions",
      .summary = summary_of({count_of(sessions, SessionStatus::active), count_of(sessions, SessionStatus::idle),
                             count_of(sessions, SessionStatus::stale)},
                            sessions.size()),
      .columns = {{"SESSION", Column::may_be_cut},
                  "STATUS",
                  {"ITEM", Column::may_be_cut},
                  "HEARTBEAT",
                  "PROGRESS",
                  "CLAIMED",
                  {"LABEL", Column::may_be_cut},
                  {"HOST", Column::may_be_cut},
                  "TTY",
                  {"NOTE", Column::may_be_cut}},
      .rows = {}};
  for (const auto& session : in_order(sessions)) panel.rows.push_back(row_of(session));
  return panel;
}

}  // namespace leasehold::cli

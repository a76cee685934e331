// The panels of sessions, schedules and events.
#include <fmt/format.h>
#include <algorithm>
#include <tuple>

#include "base/time_text.h"
#include "cli/print/print.h"
#include "cli/print/schedule_text.h"
#include "cli/print/session_text.h"
#include "cli/top/panel.h"

namespace leasehold::cli {

// The panel of sessions: alive or not, working or not, and on which item.
namespace {

std::string shown_item(const SessionInfo& session) {
  if (session.claims == 0) return "-";
  return short_text(session.item) + (session.claims > 1 ? fmt::format(" +{}", session.claims - 1) : "");
}

std::vector<std::string> row_of(const SessionInfo& session) {
  return {short_text(session.id),
          coloured(session.state),
          shown_item(session),
          format_age(session.heartbeat_age()),
          format_age(session.progress_age()),
          session.item_taken_at ? format_age(session.store_now - *session.item_taken_at) : "-",
          short_text(session.label),
          short_text(session.holder.host),
          shown_terminal(session.holder),
          short_text(session.progress)};
}

/// First stale sessions with claims, then live ones with claims, then live ones without, then stale ones without.
int urgency(const SessionInfo& session) {
  const bool stale = session.state == SessionState::stale;
  if (session.claims > 0) return stale ? 0 : 1;
  return stale ? 3 : 2;
}

/// Within that, the order does not change with every heartbeat, so that the eye can follow a row.
std::vector<SessionInfo> in_order(std::vector<SessionInfo> sessions) {
  const auto place = [](const SessionInfo& session) {
    return std::tuple(urgency(session), session.opened_at, std::string_view(session.id));
  };
  std::sort(sessions.begin(), sessions.end(),
            [&](const SessionInfo& a, const SessionInfo& b) { return place(a) < place(b); });
  return sessions;
}

TopCount count_of(const std::vector<SessionInfo>& sessions, SessionState status) {
  const auto is_so = [&](const SessionInfo& session) { return session.state == status; };
  return {static_cast<std::size_t>(std::count_if(sessions.begin(), sessions.end(), is_so)), coloured(status)};
}

}  // namespace

TopPanel session_panel(const TopPicture& picture) {
  const auto& sessions = picture.sessions;
  TopPanel panel{
      .name = "sessions",
      .summary = summary_of({count_of(sessions, SessionState::active), count_of(sessions, SessionState::idle),
                             count_of(sessions, SessionState::stale)},
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

// The panel of schedules: due, running, and their results.
namespace {

std::vector<std::string> row_of(const ScheduleInfo& schedule) {
  return {short_text(schedule.name), coloured(schedule.state), shown_next(schedule),
          shown_last(schedule),      shown_holder(schedule),   short_text(shown_rule(schedule.options.rule))};
}

/// First expired runs, then running and due schedules, then waiting ones, then paused ones.
int urgency(ScheduleState state) {
  switch (state) {
    case ScheduleState::expired: return 0;
    case ScheduleState::running: return 1;
    case ScheduleState::due: return 2;
    case ScheduleState::waiting: return 3;
    case ScheduleState::paused: break;
  }
  return 4;
}

std::vector<ScheduleInfo> in_order(std::vector<ScheduleInfo> schedules) {
  const auto place = [](const ScheduleInfo& schedule) {
    return std::tuple(urgency(schedule.state), schedule.next_run_at, std::string_view(schedule.name));
  };
  std::sort(schedules.begin(), schedules.end(),
            [&](const ScheduleInfo& a, const ScheduleInfo& b) { return place(a) < place(b); });
  return schedules;
}

TopCount count_of(const std::vector<ScheduleInfo>& schedules, ScheduleState state) {
  const auto is_so = [&](const ScheduleInfo& schedule) { return schedule.state == state; };
  return {static_cast<std::size_t>(std::count_if(schedules.begin(), schedules.end(), is_so)), coloured(state)};
}

}  // namespace

TopPanel schedule_panel(const TopPicture& picture) {
  const auto& schedules = picture.schedules;
  TopPanel panel{
      .name = "schedules",
      .summary = summary_of({count_of(schedules, ScheduleState::running), count_of(schedules, ScheduleState::expired),
                             count_of(schedules, ScheduleState::due), count_of(schedules, ScheduleState::waiting),
                             count_of(schedules, ScheduleState::paused)},
                            schedules.size()),
      .columns = {{"SCHEDULE", Column::may_be_cut},
                  "STATE",
                  "NEXT",
                  "LAST",
                  {"HOLDER", Column::may_be_cut},
                  {"RULE", Column::may_be_cut}},
      .rows = {}};
  for (const auto& schedule : in_order(schedules)) panel.rows.push_back(row_of(schedule));
  return panel;
}

// The panel of recent events.
namespace {

/// A holder lost something, or another one took it over.
Tone tone_of(const Event& event) {
  if (event.what == "revoked" || event.what == "failed" || event.what == "exhausted") return Tone::bad;
  return event.what == "expired" || event.what == "reclaimed" ? Tone::warning : Tone::normal;
}

std::vector<std::string> row_of(const Event& event, Timestamp now) {
  return {local_time(event.at, now),
          event.kind,
          short_text(event.key),
          coloured(tone_of(event), event.what),
          short_text(event.holder ? event.holder->name : ""),
          short_text(event.detail),
          short_text(event.previous_holder ? event.previous_holder->name : ""),
          short_text(event.holder ? event.holder->host : "")};
}

}  // namespace

TopPanel event_panel(const TopPicture& picture) {
  TopPanel panel{.name = "events",
                 .summary = picture.events.empty() ? "none" : "newest first",
                 .columns = {"AT",
                             "KIND",
                             {"KEY", Column::may_be_cut},
                             "WHAT",
                             {"HOLDER", Column::may_be_cut},
                             {"DETAIL", Column::may_be_cut},
                             {"FROM", Column::may_be_cut},
                             {"HOST", Column::may_be_cut}},
                 .rows = {}};
  for (const auto& event : picture.events) panel.rows.push_back(row_of(event, picture.taken_at));
  return panel;
}

}  // namespace leasehold::cli

// Reads sessions: which ones exist, are alive, are working.
#include <algorithm>
#include <limits>

#include "lease/page.h"
#include "lease/reap.h"
#include "model/bounds.h"
#include "model/described.h"
#include "model/words.h"
#include "session/sessions.h"
#include "storage/query.h"

namespace leasehold {
namespace session {
namespace {

Holder holder_from(sql::SessionRow& row) {
  return {.name = std::move(row.holder),
          .host = std::move(row.host),
          .boot_id = std::move(row.boot_id),
          .pid = row.pid,
          .process_start = row.process_start,
          .tty = std::move(row.tty),
          .instance = std::move(row.instance)};
}

/// The store cannot know that a process of this host is gone: its session only looks alive.
SessionState status_of(const sql::SessionRow& row, const Holder& holder) {
  const auto status = from_word<SessionState>(row.state).value_or(SessionState::stale);
  const bool alive = status == SessionState::active || status == SessionState::idle;
  return alive && lease::is_gone(holder) ? SessionState::stale : status;
}

}  // namespace

SessionInfo session_info_from(sql::SessionRow& row) {
  auto holder = holder_from(row);
  const auto status = status_of(row, holder);
  auto info = std::move(row).as<SessionInfo, 1>();
  info.holder = std::move(holder);
  info.state = status;
  return info;
}

namespace {

std::optional<std::string_view> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

}  // namespace

bool end_if_gone(storage::Backend& backend, const Holder& process, BootTime deadline) {
  if (!lease::is_gone(process)) return false;
  static_cast<void>(lease::reap_process(backend, process.pid, process.process_start, deadline));
  return true;
}

bool end_if_gone(storage::Backend& backend, std::string_view id, BootTime deadline) {
  if (id.empty()) return false;
  sql::SessionList statement{.id = id};
  statement.max = 1;
  auto rows = storage::query(backend, statement, deadline);
  if (!rows || rows->empty() || rows->front().ended_at) return false;
  return end_if_gone(backend, holder_from(rows->front()), deadline);
}

}  // namespace session

Result<SessionInfo> Sessions::show(std::string_view id) const {
  if (auto checked = check_name("session id", id); !checked) return std::move(checked).error();
  sql::SessionList statement{.id = id};
  statement.released = true;
  statement.max = 1;
  auto sessions = impl_->new_call().list(statement, session::session_info_from);
  if (!sessions) return std::move(sessions).error();
  if (sessions->empty()) return session::no_such_session(id);
  return std::move(sessions->front());
}

Result<Page<SessionInfo>> Sessions::list(const SessionFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto skip = lease::page_number(filter.page);
  if (!skip) return std::move(skip).error();
  sql::SessionList statement{.id = std::nullopt,
                             .host = session::unless_empty(filter.host),
                             .codebase = session::unless_empty(filter.codebase),
                             .track = session::unless_empty(filter.track)};
  statement.released = filter.released || filter.state == SessionState::released;
  // Only this host knows which of its processes are gone, so the store cannot filter by state.
  statement.max = filter.state ? std::numeric_limits<int>::max() : lease::rows_for(filter.max);
  statement.skip = filter.state ? 0 : *skip;
  auto sessions = impl_->new_call().list(statement, session::session_info_from);
  if (sessions && filter.state) {
    std::erase_if(*sessions, [&](const SessionInfo& session) { return session.state != filter.state; });
    sessions->erase(sessions->begin(), sessions->begin() + std::min<std::int64_t>(*skip, std::ssize(*sessions)));
  }
  return lease::page_of(std::move(sessions), filter.max, lease::counted(*skip));
}

}  // namespace leasehold

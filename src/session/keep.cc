// What keeps a session alive, and what ends it.
#include <algorithm>

#include "core/limits.h"
#include "core/session_limits.h"
#include "lease/heartbeat.h"
#include "lease/retry.h"
#include "session/answer.h"
#include "session/impl.h"
#include "storage/query.h"

namespace leasehold {
namespace session {
namespace {

/// `statement` is sql::SessionHeartbeat or sql::SessionPark.
template <typename S>
Result<Grant> extend(storage::Backend& backend, const S& statement, BootTime deadline) {
  BootTime before_sending;
  auto answer = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return storage::query_one(backend, statement, deadline);
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "extended") return lease::grant_from(*answer, before_sending);
  return session_refusal(*answer, statement.id);
}

/// `Row` is what sql::SessionClose and sql::SessionRevoke give: a row per item, or one without.
template <typename Row>
Result<SessionClosed> closed_from(std::vector<Row>& rows, std::string_view id) {
  if (rows.empty()) return odd_answer(describe_session(id), "nothing");
  const auto& first = rows.front();
  if (first.outcome == "released" || first.outcome == "revoked") {
    SessionClosed closed;
    for (auto& row : rows) {
      if (row.item) closed.items.push_back(std::move(*row.item));
    }
    return closed;
  }
  if (first.outcome == "lost") {
    return lease::lost_error(describe_session(id), first.why.value_or(""),
                             lease::present_holder(first, "session", std::string(id)));
  }
  if (first.outcome != "not_found") return odd_answer(describe_session(id), first.outcome);
  if (first.why == "ended")
    return Error{.code = Errc::not_found, .message = describe_session(id) + " has ended before"};
  return no_such_session(id);
}

}  // namespace
}  // namespace session

Result<Grant> Sessions::Impl::keep_alive(const Grant& held) const {
  const auto patience = std::min(call_timeout, held.ttl / 3);
  const sql::SessionHeartbeat statement{
      .id = held.key, .token = held.token.value, .ttl = std::nullopt, .progress = std::nullopt};
  return session::extend(*backend, statement, BootClock::now() + patience);
}

Result<Grant> Sessions::heartbeat(std::string_view id, Token token, const SessionHeartbeat& heartbeat) const {
  if (auto checked = check_session_heartbeat(id, heartbeat); !checked) return std::move(checked).error();
  auto new_ttl = lease::new_ttl(heartbeat.ttl);
  if (!new_ttl) return std::move(new_ttl).error();
  const sql::SessionHeartbeat statement{
      .id = id, .token = token.value, .ttl = *new_ttl, .progress = heartbeat.progress};
  return session::extend(*impl_->backend, statement, impl_->deadline());
}

Result<Grant> Sessions::park(std::string_view id, Token token, Duration silence) const {
  if (auto checked = check_name("session id", id); !checked) return std::move(checked).error();
  if (auto checked = check_silence(silence); !checked) return std::move(checked).error();
  const sql::SessionPark statement{.id = id, .token = token.value, .silence = silence};
  return session::extend(*impl_->backend, statement, impl_->deadline());
}

Result<SessionClosed> Sessions::close(std::string_view id, Token token, std::string_view reason) const {
  if (auto checked = check_name("session id", id); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  const sql::SessionClose statement{.id = id, .token = token.value, .reason = reason};
  const auto deadline = impl_->deadline();
  auto rows = lease::ask_again(deadline, [&] { return storage::query(*impl_->backend, statement, deadline); });
  if (!rows) return std::move(rows).error();
  return session::closed_from(*rows, id);
}

Result<SessionClosed> Sessions::revoke(std::string_view id, std::string_view reason) const {
  if (auto checked = check_name("session id", id); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  // Not repeated where the answer was lost: a second one would hit whoever has the id by then.
  const sql::SessionRevoke statement{.id = id, .reason = reason};
  auto rows = storage::query(*impl_->backend, statement, impl_->deadline());
  if (!rows) return std::move(rows).error();
  return session::closed_from(*rows, id);
}

}  // namespace leasehold

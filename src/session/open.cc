// Sessions::open and hold: begins a session.
#include <algorithm>
#include <system_error>

#include "base/digest.h"
#include "lease/call.h"
#include "lease/reap.h"
#include "model/bounds.h"
#include "model/described.h"
#include "session/sessions.h"
#include "storage/query.h"

namespace leasehold {

namespace session {
namespace {

/// Short enough to type, long enough to be unique.
std::string random_session_id() { return "s-" + random_hex().substr(0, 12); }

/// Fills in options that may be left out.
SessionOptions completed(SessionOptions options) {
  if (options.id.empty()) options.id = random_session_id();
  if (options.request_id.empty()) options.request_id = random_request_id();
  return options;
}

/// Borrows the options and the holder.
sql::SessionOpen statement_for(const SessionOptions& options, const Holder& holder) {
  sql::SessionOpen open{.id = options.id,
                        .ttl = options.ttl,
                        .label = options.label,
                        .codebase = options.codebase,
                        .track = options.track,
                        .metadata = options.metadata,
                        .exclusive = options.exclusive,
                        .max_age = options.max_age};
  open.request_id = options.request_id;
  return lease::with_holder(open, holder);
}

/// `statement` is sql::SessionHeartbeat or sql::SessionPark.
template <typename S>
Result<Grant> extend(lease::StoreCall call, const S& statement) {
  auto answer = call.ask_again(statement);
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) return session_refusal(*answer, statement.id);
  auto grant = lease::grant_from(*answer, call.before_sending());
  if (!end_if_gone(call.backend(), grant.holder, call.deadline())) return grant;
  // The session's process has ended, even if another process continues its heartbeats.
  return lease::lost_error(describe_session(statement.id), "expired", std::nullopt);
}

}  // namespace
}  // namespace session

Result<Grant> Sessions::open(const SessionOptions& options, const Call& call) const {
  const auto request = session::completed(options);
  if (auto checked = model::check_fields_of(request); !checked) return std::move(checked).error();
  if (auto checked = check_call(call); !checked) return std::move(checked).error();
  const auto holder = lease::holder_of(call);
  const auto statement = session::statement_for(request, holder);
  impl_->housekeeper->before_work();
  auto store = impl_->new_call(call);
  auto answer = lease::ask_past_dead_holders(store, [&] { return store.ask_again(statement); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return lease::grant_from(*answer, store.before_sending());
  return session::session_refusal(*answer, request.id);
}

Result<HeldLease> Sessions::hold(const SessionOptions& options, const Call& call) const {
  auto grant = open(options, call);
  if (!grant) return std::move(grant).error();
  const auto sessions = *this;
  const auto close_it = [sessions](const Grant& held) -> Result<void> {
    auto closed = sessions.close(held.key, held.token);
    return closed ? Result<void>() : Result<void>(std::move(closed).error());
  };
  const auto opened = *grant;
  try {
    return HeldLease(
        std::move(*grant),
        [impl = impl_](const Grant& held) {
          const sql::SessionHeartbeat statement{
              .id = held.key, .token = held.token.value, .ttl = std::nullopt, .progress = std::nullopt};
          return session::extend(impl->new_heartbeat(held), statement);
        },
        close_it, lease::watch_with(impl_->recalls));
  } catch (const std::system_error& error) {
    // Without the thread, nothing would keep the session alive: close it.
    static_cast<void>(close_it(opened));
    return Error{.code = Errc::unavailable, .message = std::string("no thread for heartbeats: ") + error.what()};
  }
}

// Keeps a session alive, and ends it.
namespace session {
namespace {

/// `Row` is the row of sql::SessionClose and sql::SessionRevoke: one per item, or a single one without an item.
template <typename Row>
Result<SessionClosed> closed_from(std::vector<Row>& rows, std::string_view id) {
  if (rows.empty()) return odd_answer(describe_session(id), "nothing");
  const auto& first = rows.front();
  if (first.outcome.done()) {
    SessionClosed closed{.id = std::string(id)};
    for (auto& row : rows) {
      if (row.item) closed.items.push_back(std::move(*row.item));
    }
    return closed;
  }
  const auto code = first.outcome.refusal();
  if (code == Errc::lost) {
    return lease::lost_error(describe_session(id), first.why.value_or(""),
                             lease::present_holder(first, "session", std::string(id)));
  }
  if (code != Errc::not_found) return odd_answer(describe_session(id), first.outcome.word());
  if (first.why == "ended") return Error{.code = code, .message = describe_session(id) + " has already ended"};
  return no_such_session(id);
}

}  // namespace
}  // namespace session

Result<Grant> Sessions::heartbeat(std::string_view id, Token token, const SessionHeartbeat& heartbeat) const {
  if (auto checked = check_name("session id", id); !checked) return std::move(checked).error();
  if (auto checked = model::check_fields_of(heartbeat); !checked) return std::move(checked).error();
  const sql::SessionHeartbeat statement{
      .id = id, .token = token.value, .ttl = heartbeat.ttl, .progress = heartbeat.progress};
  return session::extend(impl_->new_call(), statement);
}

Result<Grant> Sessions::park(std::string_view id, Token token, Duration silence) const {
  if (auto checked = check_name("session id", id); !checked) return std::move(checked).error();
  if (auto checked = check_silence(silence); !checked) return std::move(checked).error();
  const sql::SessionPark statement{.id = id, .token = token.value, .silence = silence};
  return session::extend(impl_->new_call(), statement);
}

Result<SessionClosed> Sessions::close(std::string_view id, Token token, std::string_view reason) const {
  if (auto checked = check_name("session id", id); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  const sql::SessionClose statement{.id = id, .token = token.value, .reason = reason};
  auto rows = impl_->new_call().ask_rows_again(statement);
  if (!rows) return std::move(rows).error();
  return session::closed_from(*rows, id);
}

Result<SessionClosed> Sessions::revoke(std::string_view id, std::string_view reason) const {
  if (auto checked = check_name("session id", id); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  // Not repeated if the answer was lost: a second revoke would hit the next session of this id.
  const sql::SessionRevoke statement{.id = id, .reason = reason};
  auto rows = impl_->new_call().ask_rows(statement);
  if (!rows) return std::move(rows).error();
  return session::closed_from(*rows, id);
}

}  // namespace leasehold

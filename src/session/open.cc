// Sessions::open and hold: how a session begins.
#include <algorithm>
#include <system_error>

#include "base/digest.h"
#include "lease/ask.h"
#include "lease/reap.h"
#include "model/bounds.h"
#include "model/bounds_people.h"
#include "session/sessions.h"
#include "storage/query.h"

namespace leasehold {

namespace session {
namespace {

/// Short enough to be typed, long enough that nobody draws it twice.
std::string random_session_id() { return "s-" + random_hex().substr(0, 12); }

/// With everything in it that may be left out.
SessionOptions completed(SessionOptions options) {
  if (options.id.empty()) options.id = random_session_id();
  if (options.request_id.empty()) options.request_id = random_request_id();
  if (!options.holder) options.holder = Holder::self();
  return options;
}

/// Borrows the options.
sql::SessionOpen statement_for(const SessionOptions& options) {
  sql::SessionOpen open{.id = options.id,
                        .ttl = options.ttl,
                        .label = options.label,
                        .codebase = options.codebase,
                        .track = options.track,
                        .metadata = options.metadata,
                        .exclusive = options.exclusive,
                        .max_age = options.max_age};
  open.request_id = options.request_id;
  return lease::with_holder(open, *options.holder);
}

}  // namespace
}  // namespace session

Result<Grant> Sessions::open(const SessionOptions& options) const {
  const auto wish = session::completed(options);
  if (auto checked = check_session_options(wish); !checked) return std::move(checked).error();
  const auto statement = session::statement_for(wish);
  const auto deadline = impl_->deadline();
  BootTime before_sending;
  auto answer = lease::ask_past_dead_holders(*impl_->backend, deadline, [&] {
    return lease::ask_again(deadline, [&] {
      before_sending = BootClock::now();
      return storage::query_one(*impl_->backend, statement, deadline);
    });
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return lease::grant_from(*answer, before_sending);
  return session::session_refusal(*answer, wish.id);
}

Result<HeldLease> Sessions::hold(const SessionOptions& options) const {
  auto grant = open(options);
  if (!grant) return std::move(grant).error();
  const auto sessions = *this;
  const auto close_it = [sessions](const Grant& held) -> Result<void> {
    auto closed = sessions.close(held.key, held.token);
    return closed ? Result<void>() : Result<void>(std::move(closed).error());
  };
  const auto opened = *grant;
  try {
    return HeldLease(
        std::move(*grant), [impl = impl_](const Grant& held) { return impl->keep_alive(held); }, close_it,
        lease::watch_with(impl_->recalls));
  } catch (const std::system_error& error) {
    // Without its thread nobody would keep the session alive: better not to have it.
    static_cast<void>(close_it(opened));
    return Error{.code = Errc::unavailable, .message = std::string("no thread for heartbeats: ") + error.what()};
  }
}

// What keeps a session alive, and what ends it.
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
  if (!answer->outcome.done()) return session_refusal(*answer, statement.id);
  auto grant = lease::grant_from(*answer, before_sending);
  if (!lease::is_gone(grant.holder)) return grant;
  // The process that it stands for has ended, whoever else goes on with its heartbeats.
  static_cast<void>(lease::reap_process(backend, grant.holder.pid, grant.holder.process_start, deadline));
  return lease::lost_error(describe_session(statement.id), "expired", std::nullopt);
}

/// `Row` is what sql::SessionClose and sql::SessionRevoke give: a row per item, or one without.
template <typename Row>
Result<SessionClosed> closed_from(std::vector<Row>& rows, std::string_view id) {
  if (rows.empty()) return odd_answer(describe_session(id), "nothing");
  const auto& first = rows.front();
  if (first.outcome.done()) {
    SessionClosed closed;
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
  if (first.why == "ended") return Error{.code = code, .message = describe_session(id) + " has ended before"};
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

// Sessions::open and hold: how a session begins.
#include <system_error>

#include "base/random_id.h"
#include "core/session_limits.h"
#include "lease/past_dead_holders.h"
#include "lease/retry.h"
#include "lease/with_holder.h"
#include "session/answer.h"
#include "session/impl.h"
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
  if (answer->outcome == "granted") return lease::grant_from(*answer, before_sending);
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
        std::move(*grant), [impl = impl_](const Grant& held) { return impl->keep_alive(held); }, close_it);
  } catch (const std::system_error& error) {
    // Without its thread nobody would keep the session alive: better not to have it.
    static_cast<void>(close_it(opened));
    return Error{.code = Errc::unavailable, .message = std::string("no thread for heartbeats: ") + error.what()};
  }
}

}  // namespace leasehold

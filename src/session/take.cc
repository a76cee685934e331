// Claims::take and switch_to: an item for a session, past the dead of this host, and waiting for it.
#include "core/limits.h"
#include "core/session_limits.h"
#include "lease/past_dead_holders.h"
#include "lease/patience.h"
#include "lease/retry.h"
#include "session/answer.h"
#include "session/impl.h"
#include "storage/query.h"

namespace leasehold {
namespace session {
namespace {

/// `statement` is sql::ClaimTake or sql::ClaimSwitch: asked again where the answer got lost, for whoever has the item
/// already is told the same again.
template <typename S>
Result<Claim> try_take(storage::Backend& backend, const S& statement, std::string_view item, std::string_view session,
                       BootTime deadline) {
  std::optional<sql::ClaimAnswer> dead_owner;
  const auto ask = [&] {
    return lease::ask_again(deadline, [&] { return storage::query_one(backend, statement, deadline); });
  };
  const auto note_owner = [&](const sql::ClaimAnswer& refusal) {
    if (refusal.outcome != "blocked") dead_owner = refusal;
  };
  auto claim = claim_from(lease::ask_past_dead_holders(backend, deadline, ask, note_owner), item, session);
  if (!claim || !dead_owner) return claim;
  // For the store the item was free; it was taken over all the same.
  claim->previous_session = dead_owner->session_id.value_or("");
  claim->previous_holder = dead_owner->holder.value_or("");
  return claim;
}

/// Waiting can change that.
bool may_change(const Error& refusal) {
  return refusal.code == Errc::held || refusal.code == Errc::race || refusal.code == Errc::blocked ||
         refusal.code == Errc::busy;
}

/// The item that has to become free first.
std::string obstacle(const Error& refusal, std::string_view item) {
  const bool another_one = refusal.code == Errc::blocked && refusal.current;
  return another_one ? refusal.current->key : std::string(item);
}

}  // namespace
}  // namespace session

Result<Claim> Claims::Impl::take_patiently(std::string_view item, const ItemTakeOptions& options,
                                           const std::function<Result<Claim>()>& once) const {
  const auto until = BootClock::now() + bounded_wait(options.wait);
  std::string watched(item);
  for (;;) {
    const lease::Patience patience{.topic = "item:" + watched, .until = until, .stop = options.stop};
    auto claim = lease::ask_patiently(*backend, *awaited, call_timeout, patience, once, [&](const Error& refusal) {
      return session::may_change(refusal) && session::obstacle(refusal, item) == watched;
    });
    const bool over = options.stop.stop_requested() || BootClock::now() >= until;
    if (claim || over || !session::may_change(claim.error())) return claim;
    // What stands in the way is another item than a moment ago.
    watched = session::obstacle(claim.error(), item);
  }
}

Result<Claim> Claims::take(std::string_view item, std::string_view session, const ItemTakeOptions& options) const {
  if (auto checked = check_claim(item, session); !checked) return std::move(checked).error();
  if (auto checked = check_wait(options.wait); !checked) return std::move(checked).error();
  sql::ClaimTake statement{.item = item, .session_id = session};
  if (options.session_token) statement.session_token = options.session_token->value;
  statement.create = options.create;
  const auto once = [&] { return session::try_take(*impl_->backend, statement, item, session, impl_->deadline()); };
  return options.wait == Duration(0) ? once() : impl_->take_patiently(item, options, once);
}

Result<Claim> Claims::switch_to(std::string_view from, Token token, std::string_view to,
                                const ItemTakeOptions& options) const {
  if (auto checked = check_name("item key", from); !checked) return std::move(checked).error();
  if (auto checked = check_name("item key", to); !checked) return std::move(checked).error();
  if (auto checked = check_wait(options.wait); !checked) return std::move(checked).error();
  if (from == to) {
    return Error{.code = Errc::invalid_argument,
                 .message = "a switch is from one item to another, not to the same: " + session::describe_item(to)};
  }
  const sql::ClaimSwitch statement{.from_item = from, .token = token.value, .to_item = to, .create = options.create};
  const auto once = [&] { return session::try_take(*impl_->backend, statement, to, {}, impl_->deadline()); };
  return options.wait == Duration(0) ? once() : impl_->take_patiently(to, options, once);
}

}  // namespace leasehold

// Claims::take and switch_to: an item for a session, past the dead of this host, and waiting for it.
#include "lease/call.h"
#include "lease/patience.h"
#include "lease/reap.h"
#include "model/bounds.h"
#include "model/errors.h"
#include "session/sessions.h"
#include "storage/query.h"

namespace leasehold {

namespace session {
namespace {

/// `statement` is sql::ClaimTake or sql::ClaimSwitch: asked again where the answer got lost, for whoever has the item
/// already is told the same again.
template <typename S>
Result<Claim> try_take(lease::StoreCall call, const S& statement, std::string_view item, std::string_view session) {
  end_if_gone(call.backend(), session, call.deadline());
  std::optional<sql::ClaimAnswer> dead_owner;
  const auto ask = [&] { return call.ask_again(statement); };
  const auto note_owner = [&](const sql::ClaimAnswer& refusal) {
    if (refusal.outcome.refusal() != Errc::blocked) dead_owner = refusal;
  };
  auto claim = claim_from(lease::ask_past_dead_holders(call, ask, note_owner), item, session);
  if (!claim || !dead_owner) return claim;
  // For the store the item was free; it was taken over all the same.
  claim->previous_session = dead_owner->session_id.value_or("");
  claim->previous_holder = dead_owner->holder.value_or("");
  return claim;
}

/// Whose claim it is, if it is still there.
std::string session_of_claim(lease::StoreCall call, std::string_view item, Token token) {
  sql::ClaimList statement{.item = item};
  statement.most = 1;
  const auto rows = call.ask_rows(statement);
  return rows && !rows->empty() && rows->front().token == token.value ? rows->front().session_id : std::string();
}

/// Waiting can change that. Where the session itself is full, its own item is in the way: only its owner changes that.
bool may_change(const Error& refusal) { return may_wait(refusal.code) && refusal.code != Errc::at_capacity; }

/// The item that has to become free first.
std::string obstacle(const Error& refusal, std::string_view item) {
  const bool another_one = refusal.code == Errc::blocked && refusal.current;
  return another_one ? refusal.current->key : std::string(item);
}

}  // namespace
}  // namespace session

Result<Claim> Claims::Impl::take_patiently(std::string_view item, Duration wait, const Call& call,
                                           const std::function<Result<Claim>()>& once) const {
  const auto until = BootClock::now() + bounded_wait(wait);
  std::string watched(item);
  for (;;) {
    const lease::Patience patience{.topic = "item:" + watched, .until = until, .stop = call.stop};
    auto claim = lease::ask_patiently(*backend, *awaited, call_timeout, patience, once, [&](const Error& refusal) {
      return session::may_change(refusal) && session::obstacle(refusal, item) == watched;
    });
    const bool over = call.stop.stop_requested() || BootClock::now() >= until;
    if (claim || over || !session::may_change(claim.error())) return claim;
    // What stands in the way is another item than a moment ago.
    watched = session::obstacle(claim.error(), item);
  }
}

Result<Claim> Claims::take(std::string_view item, std::string_view session, const ItemTakeOptions& options,
                           const Call& call) const {
  if (auto checked = check_claim(item, session); !checked) return std::move(checked).error();
  if (auto checked = check_call(call); !checked) return std::move(checked).error();
  if (auto checked = check_wait(options.wait); !checked) return std::move(checked).error();
  sql::ClaimTake statement{.item = item, .session_id = session};
  if (options.session_token) statement.session_token = options.session_token->value;
  statement.create = options.create;
  const auto once = [&] { return session::try_take(impl_->new_call(call), statement, item, session); };
  return options.wait == Duration(0) ? once() : impl_->take_patiently(item, options.wait, call, once);
}

Result<Claim> Claims::switch_to(std::string_view from, Token token, std::string_view to, const ItemTakeOptions& options,
                                const Call& call) const {
  if (auto checked = check_name("item key", from); !checked) return std::move(checked).error();
  if (auto checked = check_call(call); !checked) return std::move(checked).error();
  if (auto checked = check_name("item key", to); !checked) return std::move(checked).error();
  if (auto checked = check_wait(options.wait); !checked) return std::move(checked).error();
  if (from == to) {
    return Error{.code = Errc::invalid_argument,
                 .message = "a switch is from one item to another, not to the same: " + session::describe_item(to)};
  }
  const sql::ClaimSwitch statement{.from_item = from, .token = token.value, .to_item = to, .create = options.create};
  const auto once = [&] {
    const auto store = impl_->new_call(call);
    const auto session = session::session_of_claim(store, from, token);
    return session::try_take(store, statement, to, session);
  };
  return options.wait == Duration(0) ? once() : impl_->take_patiently(to, options.wait, call, once);
}

// What else is done with claims: given up, handed over, revoked, looked at.
namespace session {
namespace {

/// A claim that has ended holds nothing any more, whatever became of its session.
void note_end(ClaimInfo& info) {
  info.active = false;
  info.owner.state = LeaseState::free;
  info.owner.ended_at = info.ended_at;
  info.owner.end_reason = info.end_reason;
  info.owner.end_detail = info.end_detail;
}

ClaimInfo claim_info_from(sql::ClaimList::Row& row) {
  auto owner = owner_from(row, row.item);
  auto session = std::move(row.session_id);
  auto info = std::move(row).as<ClaimInfo, 3>();
  info.owner = std::move(owner);
  info.session = std::move(session);
  info.active = !info.ended_at;
  if (!info.active) note_end(info);
  return info;
}

ClaimInfo revoked_from(const sql::ClaimAnswer& answer, std::string_view reason) {
  ClaimInfo info;
  info.owner = owner_from(answer, answer.key);
  info.item = answer.key;
  info.token = info.owner.token;
  info.session = info.owner.session;
  info.taken_at = info.owner.taken_at.value_or(Timestamp{});
  info.ended_at = answer.store_now;
  info.end_reason = "revoked";
  info.end_detail = reason;
  info.store_now = answer.store_now;
  note_end(info);
  return info;
}

}  // namespace
}  // namespace session

Result<void> Claims::release(std::string_view item, std::string_view session, Token token,
                             std::string_view reason) const {
  if (auto checked = check_claim(item, session); !checked) return checked;
  if (auto checked = check_text("reason", reason); !checked) return checked;
  const sql::ClaimRelease statement{.item = item, .session_id = session, .token = token.value, .reason = reason};
  auto answer = impl_->new_call().ask_again(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  return session::claim_refusal(*answer, item, session);
}

Result<Claim> Claims::transfer(std::string_view item, std::string_view to_session, std::optional<Token> token,
                               std::string_view reason) const {
  if (auto checked = check_claim(item, to_session); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  sql::ClaimTransfer statement{.item = item, .to_session = to_session};
  if (token) statement.token = token->value;
  statement.reason = reason;
  auto call = impl_->new_call();
  session::end_if_gone(call.backend(), to_session, call.deadline());
  auto answer = lease::ask_past_dead_holders(call, [&] {
    // An operator's is not repeated where the answer was lost: a second one would take it from whoever has it by then.
    return token ? call.ask_again(statement) : call.ask_until_free(statement);
  });
  return session::claim_from(std::move(answer), item, to_session);
}

Result<ClaimInfo> Claims::revoke(std::string_view item, std::string_view reason) const {
  if (auto checked = check_name("item key", item); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  // Not repeated where the answer was lost: a second one would hit whoever has it by then.
  const sql::ClaimRevoke statement{.item = item, .reason = reason};
  auto answer = impl_->new_call().ask(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return session::revoked_from(*answer, reason);
  if (answer->outcome.refusal() == Errc::not_found && answer->why == "claim") {
    return Error{.code = Errc::not_found,
                 .message = session::describe_item(item) + " is not claimed, there is nothing to revoke"};
  }
  return session::claim_refusal(*answer, item);
}

Result<ClaimInfo> Claims::show(std::string_view item) const {
  if (auto checked = check_name("item key", item); !checked) return std::move(checked).error();
  sql::ClaimList statement{.item = item};
  statement.ended = true;
  statement.most = 1;
  auto claims = impl_->new_call().list(statement, session::claim_info_from);
  if (!claims) return std::move(claims).error();
  if (!claims->empty()) return std::move(claims->front());
  return Error{.code = Errc::not_found, .message = session::describe_item(item) + " has never been claimed"};
}

Result<std::vector<ClaimInfo>> Claims::list(const ClaimFilter& filter) const {
  if (auto checked = check_text("item key", filter.item); !checked) return std::move(checked).error();
  if (auto checked = check_text("session id", filter.session); !checked) return std::move(checked).error();
  if (auto checked = check_limit(filter.limit); !checked) return std::move(checked).error();
  sql::ClaimList statement{.item = std::nullopt};
  if (!filter.item.empty()) statement.item = filter.item;
  if (!filter.session.empty()) statement.session_id = filter.session;
  statement.ended = filter.ended;
  statement.most = filter.limit;
  return impl_->new_call().list(statement, session::claim_info_from);
}

}  // namespace leasehold

// Claims::take and switch_to: take an item for a session, past dead processes of this host, and wait for it.
#include "base/digest.h"
#include "lease/answer.h"
#include "lease/call.h"
#include "lease/page.h"
#include "lease/patience.h"
#include "lease/reap.h"
#include "model/bounds.h"
#include "model/described.h"
#include "model/errors.h"
#include "session/sessions.h"
#include "storage/query.h"

namespace leasehold {

namespace session {
namespace {

/// When to check that the session's own process is not gone. Before the request costs a read each time; afterwards the
/// grant itself names the process. If the process is gone, ending its session also takes back the grant, so that is
/// enough where a grant changes nothing else.
enum class SessionCheck { before, after };

/// After an answer: true if the session's process was gone and its session was ended.
bool ended_after(const lease::StoreCall& call, const sql::ClaimAnswer& answer, std::string_view session) {
  if (answer.outcome.done()) return end_if_gone(call.backend(), lease::process_in(answer), call.deadline());
  return answer.outcome.refusal() != Errc::unregistered && end_if_gone(call.backend(), session, call.deadline());
}

/// `statement` is sql::ClaimTake or sql::ClaimSwitch. Repeated if the answer got lost: a session that holds the item
/// already gets the same answer again.
template <typename S>
Result<Claim> try_take(lease::StoreCall call, const S& statement, std::string_view item, std::string_view session,
                       SessionCheck check) {
  if (check == SessionCheck::before) end_if_gone(call.backend(), session, call.deadline());
  std::optional<sql::ClaimAnswer> dead_owner;
  const auto ask = [&] { return call.ask_again(statement); };
  const auto note_owner = [&](const sql::ClaimAnswer& refusal) {
    if (refusal.outcome.refusal() != Errc::blocked) dead_owner = refusal;
  };
  auto answer = lease::ask_past_dead_holders(call, ask, note_owner);
  if (check == SessionCheck::after && answer && ended_after(call, *answer, session)) {
    // Once more: the store now knows that the session has ended, and explains it.
    answer = ask();
    // The store could not know it, but this host does: `session ls` shows stale, too.
    if (answer && answer->outcome.done()) return stale_session(session);
  }
  auto claim = claim_from(std::move(answer), item, session);
  if (!claim || !dead_owner) return claim;
  // For the store the item was free, but it was a takeover.
  claim->previous_session = dead_owner->session_id.value_or("");
  claim->previous_holder = lease::holder_in(*dead_owner);
  return claim;
}

/// Dead processes may hold what is left, though the first to free is alive: this host looks at all of them.
bool ended_the_dead(const lease::StoreCall& call, const sql::ClaimAnswer& answer) {
  const auto code = answer.outcome.refusal();
  if (code != Errc::held && code != Errc::blocked) return false;
  return lease::Reaper::reap(call.backend(), call.deadline()).leases > 0;
}

Result<Claim> try_next(lease::StoreCall call, const sql::ClaimNext& statement, std::string_view parent) {
  const auto session = statement.session_id;
  const auto ask = [&] { return call.ask_again(statement); };
  auto answer = ask();
  if (answer && ended_the_dead(call, *answer)) answer = ask();
  if (answer && ended_after(call, *answer, session)) {
    answer = ask();
    if (answer && answer->outcome.done()) return stale_session(session);
  }
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) return no_next_item(*answer, parent, session);
  const auto key = answer->key;
  return claim_from(std::move(answer), key, session);
}

/// The session of the claim, if the claim still exists.
std::string session_of_claim(lease::StoreCall call, std::string_view item, Token token) {
  sql::ClaimList statement{.item = item};
  statement.max = 1;
  const auto rows = call.ask_rows(statement);
  return rows && !rows->empty() && rows->front().token == token.value ? rows->front().session_id : std::string();
}

/// Waiting can change this refusal. If the session is full, its own item is in the way: only the session changes that.
bool may_change(const Error& refusal) { return may_wait(refusal.code) && refusal.code != Errc::at_capacity; }

/// The item that must become free first.
std::string obstacle(const Error& refusal, std::string_view item) {
  const bool another_one = refusal.code == Errc::blocked && refusal.held_by;
  return another_one ? refusal.held_by->key : std::string(item);
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
    // Another item is in the way than a moment ago.
    watched = session::obstacle(claim.error(), item);
  }
}

Result<Claim> Claims::take(std::string_view item, std::string_view session, const ItemTakeOptions& options,
                           const Call& call) const {
  if (auto checked = check_claim(item, session); !checked) return std::move(checked).error();
  if (auto checked = check_call(call); !checked) return std::move(checked).error();
  if (auto checked = model::check_fields_of(options); !checked) return std::move(checked).error();
  sql::ClaimTake statement{.item = item, .session_id = session};
  if (options.session_token) statement.session_token = options.session_token->value;
  statement.create = options.create;
  const auto check = options.create ? session::SessionCheck::before : session::SessionCheck::after;
  impl_->housekeeper->before_work();
  const auto once = [&] { return session::try_take(impl_->new_call(call), statement, item, session, check); };
  return options.wait == Duration(0) ? once() : impl_->take_patiently(item, options.wait, call, once);
}

Result<Claim> Claims::next(std::string_view session, const ClaimNextOptions& options, const Call& call) const {
  if (auto checked = check_name("session id", session); !checked) return std::move(checked).error();
  if (auto checked = check_call(call); !checked) return std::move(checked).error();
  if (auto checked = model::check_fields_of(options); !checked) return std::move(checked).error();
  const auto request = options.request_id.empty() ? random_request_id() : options.request_id;
  sql::ClaimNext statement{.session_id = session, .session_token = options.session_token.value};
  if (!options.parent.empty()) statement.parent = options.parent;
  statement.request_id = request;
  impl_->housekeeper->before_work();
  const auto once = [&] { return session::try_next(impl_->new_call(call), statement, options.parent); };
  if (options.wait == Duration(0)) return once();
  const lease::Patience patience{
      .topic = "items", .until = BootClock::now() + bounded_wait(options.wait), .stop = call.stop};
  return lease::ask_patiently(*impl_->backend, *impl_->awaited, impl_->call_timeout, patience, once,
                              session::may_change);
}

Result<Claim> Claims::switch_to(std::string_view from, Token token, std::string_view to, const ItemTakeOptions& options,
                                const Call& call) const {
  if (auto checked = check_name("item key", from); !checked) return std::move(checked).error();
  if (auto checked = check_call(call); !checked) return std::move(checked).error();
  if (auto checked = check_name("item key", to); !checked) return std::move(checked).error();
  if (auto checked = model::check_fields_of(options); !checked) return std::move(checked).error();
  if (from == to) {
    return Error{.code = Errc::invalid_argument,
                 .message = "cannot switch an item to itself: " + session::describe_item(to)};
  }
  const sql::ClaimSwitch statement{.from_item = from, .token = token.value, .to_item = to, .create = options.create};
  const auto once = [&] {
    const auto store = impl_->new_call(call);
    const auto session = session::session_of_claim(store, from, token);
    return session::try_take(store, statement, to, session, session::SessionCheck::before);
  };
  return options.wait == Duration(0) ? once() : impl_->take_patiently(to, options.wait, call, once);
}

// Other actions on claims: release, transfer, revoke, read.
namespace session {
namespace {

/// An ended claim holds nothing any more, whatever happened to its session.
void note_end(ClaimInfo& info) {
  info.active = false;
  info.held_by.state = LeaseState::free;
  info.held_by.ended_at = info.ended_at;
  info.held_by.end_reason = info.end_reason;
  info.held_by.end_detail = info.end_detail;
}

ClaimInfo claim_info_from(sql::ClaimList::Row& row) {
  auto owner = owner_from(row, row.item);
  auto session = std::move(row.session_id);
  auto key = std::move(row.item);
  auto info = std::move(row).as<ClaimInfo, 4>();
  info.key = std::move(key);
  info.held_by = std::move(owner);
  info.session = std::move(session);
  info.active = !info.ended_at;
  if (!info.active) note_end(info);
  return info;
}

ClaimInfo revoked_from(const sql::ClaimAnswer& answer, std::string_view reason) {
  ClaimInfo info;
  info.held_by = owner_from(answer, answer.key);
  info.key = answer.key;
  info.token = info.held_by.token;
  info.session = info.held_by.session;
  info.taken_at = info.held_by.taken_at.value_or(Timestamp{});
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

Result<void> Claims::release(std::string_view item, const SessionHandle& session, std::string_view reason) const {
  if (auto checked = check_claim(item, session.id); !checked) return checked;
  if (auto checked = check_text("reason", reason); !checked) return checked;
  sql::ClaimRelease statement{.item = item, .session_id = session.id};
  statement.reason = reason;
  statement.session_token = session.token.value;
  auto answer = impl_->new_call().ask_again(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  return session::claim_refusal(*answer, item, session.id);
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
    // An operator's is not repeated if the answer was lost: a second one would take the item from the next owner.
    return token ? call.ask_again(statement) : call.ask_until_free(statement);
  });
  return session::claim_from(std::move(answer), item, to_session);
}

Result<ClaimInfo> Claims::revoke(std::string_view item, std::string_view reason) const {
  if (auto checked = check_name("item key", item); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  // Not repeated if the answer was lost: a second revoke would hit the next owner.
  const sql::ClaimRevoke statement{.item = item, .reason = reason};
  auto answer = impl_->new_call().ask(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return session::revoked_from(*answer, reason);
  if (answer->outcome.refusal() == Errc::not_found && answer->why == "claim") {
    return Error{.code = Errc::not_found,
                 .message = session::describe_item(item) + " is not claimed: nothing to revoke"};
  }
  return session::claim_refusal(*answer, item);
}

Result<ClaimInfo> Claims::show(std::string_view item) const {
  if (auto checked = check_name("item key", item); !checked) return std::move(checked).error();
  sql::ClaimList statement{.item = item};
  statement.ended = true;
  statement.max = 1;
  auto claims = impl_->new_call().list(statement, session::claim_info_from);
  if (!claims) return std::move(claims).error();
  if (!claims->empty()) return std::move(claims->front());
  return Error{.code = Errc::not_found, .message = session::describe_item(item) + " has never been claimed"};
}

Result<Page<ClaimInfo>> Claims::list(const ClaimFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto skip = lease::page_number(filter.page);
  if (!skip) return std::move(skip).error();
  sql::ClaimList statement{.item = std::nullopt};
  if (!filter.item.empty()) statement.item = filter.item;
  if (!filter.session.empty()) statement.session_id = filter.session;
  statement.ended = filter.ended;
  statement.max = lease::rows_for(filter.max);
  statement.skip = *skip;
  return lease::page_of(impl_->new_call().list(statement, session::claim_info_from), filter.max, lease::counted(*skip));
}

}  // namespace leasehold

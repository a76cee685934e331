// What else is done with claims: given up, handed over, revoked, looked at.
#include "core/limits.h"
#include "core/session_limits.h"
#include "lease/past_dead_holders.h"
#include "lease/retry.h"
#include "session/answer.h"
#include "session/impl.h"
#include "session/owner.h"
#include "storage/query.h"

namespace leasehold {
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
  ClaimInfo info;
  info.owner = owner_from(row, row.item);
  info.item = std::move(row.item);
  info.title = std::move(row.title);
  info.token = {row.token};
  info.session = std::move(row.session_id);
  info.active = !row.ended_at;
  info.taken_at = row.taken_at;
  info.ended_at = row.ended_at;
  info.end_reason = std::move(row.end_reason).value_or("");
  info.end_detail = std::move(row.end_detail).value_or("");
  info.store_now = row.store_now;
  if (row.ended_at) note_end(info);
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
  const auto deadline = impl_->deadline();
  auto answer = lease::ask_again(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "released") return {};
  return session::claim_refusal(*answer, item, session);
}

Result<Claim> Claims::transfer(std::string_view item, std::string_view to_session, std::optional<Token> token,
                               std::string_view reason) const {
  if (auto checked = check_claim(item, to_session); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  sql::ClaimTransfer statement{.item = item, .to_session = to_session};
  if (token) statement.token = token->value;
  statement.reason = reason;
  const auto deadline = impl_->deadline();
  const auto once = [&] { return storage::query_one(*impl_->backend, statement, deadline); };
  auto answer = lease::ask_past_dead_holders(*impl_->backend, deadline, [&] {
    // An operator's is not repeated where the answer was lost: a second one would take it from whoever has it by then.
    return token ? lease::ask_again(deadline, once) : lease::ask_until_free(deadline, once);
  });
  return session::claim_from(std::move(answer), item, to_session);
}

Result<ClaimInfo> Claims::revoke(std::string_view item, std::string_view reason) const {
  if (auto checked = check_name("item key", item); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  // Not repeated where the answer was lost: a second one would hit whoever has it by then.
  const sql::ClaimRevoke statement{.item = item, .reason = reason};
  auto answer = storage::query_one(*impl_->backend, statement, impl_->deadline());
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "revoked") return session::revoked_from(*answer, reason);
  if (answer->outcome == "not_found" && answer->why == "claim") {
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
  auto claims = storage::query_list(*impl_->backend, statement, impl_->deadline(), session::claim_info_from);
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
  return storage::query_list(*impl_->backend, statement, impl_->deadline(), session::claim_info_from);
}

}  // namespace leasehold

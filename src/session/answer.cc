#include "session/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "base/text.h"
#include "session/owner.h"

namespace leasehold::session {
namespace {

constexpr std::string_view how_to_open = "open one with `leasehold session open`";

std::optional<LeaseInfo> owner_in(const sql::ClaimAnswer& answer) {
  if (!answer.session_id || !answer.holder) return std::nullopt;
  auto owner = owner_from(answer, answer.key);
  owner.holder.instance = answer.instance.value_or("");
  return owner;
}

/// For `held`, `race` and `blocked`: who has it, and when to look again if nothing else happens.
Error refused_by_owner(Errc code, std::string message, const sql::ClaimAnswer& answer) {
  Error error{.code = code, .message = std::move(message), .current = owner_in(answer)};
  if (!error.current) return error;
  error.message += " by " + describe_owner(*error.current);
  error.retry_at = error.current->expires_at;
  error.retry_in = std::max(error.current->frees_in(), Duration::zero());
  return error;
}

std::string describe_obstacle(const sql::ClaimAnswer& answer) {
  const auto why = answer.why.value_or("");
  if (why == "parent") return fmt::format("{}, above it,", describe_item(answer.key));
  if (why == "child") return fmt::format("{}, below it,", describe_item(answer.key));
  return fmt::format("{}, which it conflicts with,", describe_item(answer.key));
}

Error unregistered(const sql::ClaimAnswer& answer, std::string_view session) {
  const auto why = answer.why.value_or("");
  const auto who = session.empty() ? "the session" : describe_session(session);
  const auto what = why == "stale"        ? "is stale: it was silent for too long, or its process is gone"
                    : why == "closed"     ? "is closed"
                    : why == "superseded" ? "was opened anew, and this token is of an earlier opening"
                                          : "is unknown";
  return {.code = Errc::unregistered, .message = fmt::format("{} {}; {}", who, what, how_to_open)};
}

Error at_capacity(const sql::ClaimAnswer& answer, std::string_view session) {
  const auto who = session.empty() ? "the session" : describe_session(session);
  return {
      .code = Errc::at_capacity,
      .message = fmt::format("{} is exclusive and has {}: release that one, or switch", who, describe_item(answer.key)),
      .current = owner_in(answer)};
}

Error lost(const sql::ClaimAnswer& answer) {
  const auto why = lost_reason_from(answer.why.value_or(""));
  auto message =
      fmt::format("the claim of {} is lost: {}", describe_item(answer.key),
                  why == LostReason::expired ? "its session was silent for too long"
                                             : lease::describe_loss(why, quoted(answer.end_detail.value_or(""))));
  auto current = owner_in(answer);
  const bool taken_over = why == LostReason::expired || why == LostReason::superseded;
  if (current && taken_over) message += "; now with " + describe_session(current->session);
  return {.code = Errc::lost, .message = std::move(message), .lost_reason = why, .current = std::move(current)};
}

Error busy(const sql::ClaimAnswer& answer, std::string_view item) {
  if (answer.why == "children") {
    return {.code = Errc::busy, .message = describe_item(item) + " has children: remove them first"};
  }
  return {.code = Errc::busy,
          .message = describe_item(item) + " is stale, but its session is just finishing a write; try again",
          .current = owner_in(answer)};
}

}  // namespace

std::string describe_session(std::string_view id) { return "session " + quoted(id); }

std::string describe_item(std::string_view key) { return "item " + quoted(key); }

Error no_such_session(std::string_view id) {
  return {.code = Errc::not_found, .message = fmt::format("{} is unknown; {}", describe_session(id), how_to_open)};
}

Error no_such_item(std::string_view key) {
  return {.code = Errc::not_found, .message = describe_item(key) + " does not exist: add it first"};
}

Error session_refusal(const sql::LeaseAnswer& answer, std::string_view id) {
  if (answer.outcome == "not_found") return no_such_session(id);
  return lease::refusal_from(answer, describe_session(id));
}

Error claim_refusal(const sql::ClaimAnswer& answer, std::string_view item, std::string_view session) {
  const auto what = describe_item(item);
  if (answer.outcome == "held") return refused_by_owner(Errc::held, what + " is claimed", answer);
  if (answer.outcome == "race") return refused_by_owner(Errc::race, what + " was taken in the same instant", answer);
  if (answer.outcome == "blocked") {
    const auto message = fmt::format("{} is blocked: {} is claimed", what, describe_obstacle(answer));
    return refused_by_owner(Errc::blocked, message, answer);
  }
  if (answer.outcome == "unregistered") return unregistered(answer, session);
  if (answer.outcome == "at_capacity") return at_capacity(answer, session);
  if (answer.outcome == "lost") return lost(answer);
  if (answer.outcome == "busy") return busy(answer, item);
  if (answer.outcome == "not_found") return no_such_item(answer.key);
  if (answer.outcome == "terminal") {
    return {.code = Errc::terminal, .message = what + " is done: reopen it to have it worked on again"};
  }
  return odd_answer(what, answer.outcome);
}

Result<Claim> claim_from(Result<sql::ClaimAnswer> answer, std::string_view item, std::string_view session) {
  if (!answer) return std::move(answer).error();
  if (answer->outcome != "granted") return claim_refusal(*answer, item, session);
  return Claim{.item = std::move(answer->key),
               .token = {answer->token.value_or(0)},
               .session = std::move(answer->session_id).value_or(""),
               .taken_at = answer->taken_at.value_or(Timestamp{}),
               .expires_at = answer->expires_at.value_or(Timestamp{}),
               .previous_session = std::move(answer->previous_session).value_or(""),
               .previous_holder = std::move(answer->previous_holder).value_or(""),
               .created = answer->created,
               .replayed = answer->replayed};
}

}  // namespace leasehold::session

#include "lease/answer.h"

#include <fmt/format.h>

#include "base/names.h"
#include "core/duration.h"
#include "core/limits.h"

namespace leasehold::lease {
namespace {

template <typename Answer>
Holder holder_from(const Answer& answer) {
  return {.name = answer.holder.value_or(""),
          .host = answer.host.value_or(""),
          .boot_id = answer.boot_id.value_or(""),
          .pid = answer.pid.value_or(0),
          .process_start = answer.process_start.value_or(0),
          .tty = answer.tty.value_or(""),
          .instance = answer.instance.value_or("")};
}

// Derived here again for answers whose outcome says something else.
template <typename Answer>
LeaseState state_of(const Answer& answer) {
  if (!answer.lease_id || answer.ended_at) return LeaseState::free;
  return answer.expires_at.value_or(Timestamp{}) > answer.store_now ? LeaseState::running : LeaseState::expired;
}

std::string busy_message(std::string_view what, const sql::LeaseAnswer& answer) {
  if (answer.waiters > 0) {
    return fmt::format("{} is not yours yet: {} {} in line before you", what, answer.waiters,
                       answer.waiters == 1 ? "stands" : "stand");
  }
  return fmt::format("{} has expired, but its holder is just finishing a write; try again", what);
}

std::string held_message(std::string_view what, const sql::LeaseAnswer& answer, const LeaseInfo& current) {
  if (answer.why != "delayed") return fmt::format("{} is {}", what, describe_holding(current));
  return fmt::format("{} is kept from everybody for a while: {} may not know yet that its lease {}", what,
                     current.holder.name, current.end_reason == "revoked" ? "was revoked" : "ran out");
}

std::string mismatch_message(std::string_view what, const sql::LeaseAnswer& answer) {
  const auto capacity = answer.why.value_or("");
  return fmt::format("{} is shared by others {}: name the same, or wait until nobody has a share", what,
                     capacity == "unlimited" ? "without a capacity" : "with a capacity of " + capacity);
}

}  // namespace

std::string describe_holding(const LeaseInfo& current) {
  auto who = current.holder.name;
  if (!current.holder.host.empty()) who += fmt::format(" on {}", current.holder.host);
  return fmt::format("held by {}, last heartbeat {}, frees in {}", who, format_age(current.heartbeat_age()),
                     format_duration(current.frees_in()));
}

std::string describe_loss(LostReason why, std::string_view end_detail) {
  switch (why) {
    case LostReason::expired: return "the lease ran out";
    case LostReason::superseded: return "a later grant exists";
    case LostReason::revoked: return fmt::format("revoked ({})", end_detail);
    case LostReason::finished: return "it was released before";
  }
  return "it is not current";
}

Error odd_answer(std::string_view what, std::string_view outcome) {
  return {.code = Errc::internal, .message = fmt::format("{}: the store answered \"{}\"", what, outcome)};
}

Error lost_error(std::string_view what, std::string_view why, std::optional<LeaseInfo> current) {
  const auto reason = lost_reason_from(why);
  auto message = fmt::format("{} is lost: {}", what,
                             reason == LostReason::finished ? "it was settled before" : describe_loss(reason, why));
  const bool taken_over = reason == LostReason::expired || reason == LostReason::superseded;
  // Without an expiry nobody holds it: whoever had it last has finished.
  const auto* when = current && current->expires_at == Timestamp{} ? "last" : "now";
  if (current && taken_over) message += fmt::format("; {} with {}", when, current->holder.name);
  return {.code = Errc::lost, .message = std::move(message), .lost_reason = reason, .current = std::move(current)};
}

template <typename Answer>
LeaseInfo info_from(const Answer& answer) {
  return {.kind = answer.kind.value_or(""),
          .key = answer.key,
          .state = state_of(answer),
          .token = {answer.token.value_or(0)},
          .holder = holder_from(answer),
          .ttl = answer.ttl.value_or(Duration{}),
          .acquired_at = answer.acquired_at.value_or(Timestamp{}),
          .heartbeat_at = answer.heartbeat_at.value_or(Timestamp{}),
          .expires_at = answer.expires_at.value_or(Timestamp{}),
          .ended_at = answer.ended_at,
          .end_reason = answer.end_reason.value_or(""),
          .end_detail = answer.end_detail.value_or(""),
          .waiters = answer.waiters,
          .store_now = answer.store_now};
}

template LeaseInfo info_from(const sql::LeaseAnswer& answer);
template LeaseInfo info_from(const sql::LockInfo& answer);

Grant grant_from(const sql::LeaseAnswer& answer, BootTime before_sending) {
  const auto ttl = answer.ttl.value_or(Duration{});
  const auto expires_at = answer.expires_at.value_or(Timestamp{});
  return {.key = answer.key,
          .token = {answer.token.value_or(0)},
          .holder = holder_from(answer),
          .ttl = ttl,
          .acquired_at = answer.acquired_at.value_or(Timestamp{}),
          .expires_at = expires_at,
          .trusted_until = trusted_until(before_sending, ttl, expires_at - answer.store_now),
          .replayed = answer.replayed};
}

Error refusal_from(const sql::LeaseAnswer& answer, std::string_view what) {
  if (answer.outcome == "not_found") {
    return {.code = Errc::not_found, .message = fmt::format("{} has never been held", what)};
  }
  const auto current = info_from(answer);
  const auto shown = answer.lease_id ? std::optional(current) : std::nullopt;
  if (answer.outcome == "held") {
    return {.code = Errc::held, .message = held_message(what, answer, current), .current = shown};
  }
  if (answer.outcome == "reentry") {
    return {.code = Errc::reentry,
            .message =
                fmt::format("you hold {} already, with token {}: it cannot be taken twice", what, current.token.value),
            .current = shown};
  }
  if (answer.outcome == "mismatch") {
    return {.code = Errc::mismatch, .message = mismatch_message(what, answer), .current = shown};
  }
  if (answer.outcome == "busy") {
    return {.code = Errc::busy, .message = busy_message(what, answer), .current = shown};
  }
  if (answer.outcome == "lost") {
    const auto why = lost_reason_from(answer.why.value_or(""));
    // Told to an acquire: a holder's own token is never `replayed` and superseded.
    const bool belongs_to_another = answer.replayed && why == LostReason::superseded;
    return {.code = Errc::lost,
            .message = fmt::format("{} is lost: {}", what,
                                   belongs_to_another ? "this request id belongs to another grant"
                                                      : describe_loss(why, current.end_detail)),
            .lost_reason = why,
            .current = shown};
  }
  return odd_answer(what, answer.outcome);
}

}  // namespace leasehold::lease

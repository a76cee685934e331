#include "lease/answer.h"

#include <fmt/format.h>

#include "base/time_text.h"
#include "lease/shared_lease.h"
#include "model/bounds.h"
#include "model/words.h"

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

// Derived here again for answers with another kind of outcome.
template <typename Answer>
LeaseState state_of(const Answer& answer) {
  if (!answer.holder || answer.ended_at) return LeaseState::free;
  return answer.expires_at.value_or(Timestamp{}) > answer.store_now ? LeaseState::running : LeaseState::expired;
}

std::string busy_message(std::string_view what, const sql::LeaseAnswer& answer) {
  if (answer.waiters > 0) {
    return fmt::format("{} is not yours yet: {} {} ahead of you", what, answer.waiters,
                       answer.waiters == 1 ? "waiter is" : "waiters are");
  }
  return fmt::format("{} has expired, but its holder is finishing a write; try again", what);
}

std::string held_message(std::string_view what, const sql::LeaseAnswer& answer, const LeaseInfo& current) {
  if (answer.why != "delayed") return fmt::format("{} is {}", what, describe_holding(current));
  return fmt::format("{} is in its lock delay: {} may not know yet that its lease {}", what, current.holder.name,
                     current.end_reason == "revoked" ? "was revoked" : "expired");
}

std::string mismatch_message(std::string_view what, const sql::LeaseAnswer& answer) {
  const auto capacity = answer.why.value_or("");
  return fmt::format("{} is shared by others {}: use the same, or wait until all shares are released", what,
                     capacity == "unlimited" ? "without a capacity" : "with a capacity of " + capacity);
}

std::string lost_message(std::string_view what, const sql::LeaseAnswer& answer, LostReason why) {
  // Only in an answer to acquire: a holder's own token is never `replayed` and superseded.
  const bool belongs_to_another = answer.replayed && why == LostReason::superseded;
  return fmt::format("{} is lost: {}", what,
                     belongs_to_another ? "this request id belongs to another grant"
                                        : describe_loss(why, answer.end_detail.value_or("")));
}

}  // namespace

std::string describe_holding(const LeaseInfo& current) {
  auto who = current.holder.name;
  if (!current.holder.host.empty()) who += fmt::format(" on {}", current.holder.host);
  return fmt::format("held by {}, last heartbeat {}, frees in {}", who, format_age(current.heartbeat_age()),
                     format_duration(current.retry_in()));
}

std::string describe_loss(LostReason why, std::string_view end_detail) {
  switch (why) {
    case LostReason::expired: return "the lease expired";
    case LostReason::superseded: return "a later grant exists";
    case LostReason::revoked: return fmt::format("revoked ({})", end_detail);
    case LostReason::finished: return "it was already released";
    case LostReason::timed_out: return "the attempt took longer than its time limit";
  }
  return "it is not current";
}

Error odd_answer(std::string_view what, std::string_view outcome) {
  return {.code = Errc::internal, .message = fmt::format("{}: the store answered \"{}\"", what, outcome)};
}

Error lost_error(std::string_view what, std::string_view why, std::optional<LeaseInfo> current) {
  const auto reason = lost_reason_from(why);
  auto message = fmt::format("{} is lost: {}", what,
                             reason == LostReason::finished ? "it was already settled" : describe_loss(reason, why));
  const bool taken_over = reason == LostReason::expired || reason == LostReason::superseded;
  // Without an expiry there is no holder now: the last one has finished.
  const auto* when = current && current->expires_at == Timestamp{} ? "last" : "now";
  if (current && taken_over) message += fmt::format("; {} with {}", when, current->holder.name);
  return {.code = Errc::lost, .message = std::move(message), .lost_reason = reason, .held_by = std::move(current)};
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
          .replayed = answer.replayed,
          .lease_id = answer.lease_id.value_or(0)};
}

Error refusal_from(const sql::LeaseAnswer& answer, std::string_view what) {
  const auto current = info_from(answer);
  Error error{.code = answer.outcome.refusal(), .message = {}};
  if (answer.holder) error.held_by = current;
  switch (error.code) {
    case Errc::not_found: return {.code = error.code, .message = fmt::format("{} has never been held", what)};
    case Errc::held: error.message = held_message(what, answer, current); break;
    case Errc::reentry: error.message = fmt::format("you already hold {}: it cannot be taken twice", what); break;
    case Errc::mismatch: error.message = mismatch_message(what, answer); break;
    case Errc::busy: error.message = busy_message(what, answer); break;
    case Errc::lost:
      error.lost_reason = lost_reason_from(answer.why.value_or(""));
      error.message = lost_message(what, answer, *error.lost_reason);
      break;
    default: return odd_answer(what, answer.outcome.word());
  }
  return error;
}

Error shared_lease_refusal(std::string_view what, const storage::Outcome& outcome,
                           const std::optional<std::string>& why) {
  switch (outcome.refusal()) {
    case Errc::lost: return lost_error(what, why.value_or(""));
    case Errc::not_found: return {.code = Errc::not_found, .message = std::string(what) + " does not exist"};
    default: return odd_answer(what, outcome.word());
  }
}

}  // namespace leasehold::lease

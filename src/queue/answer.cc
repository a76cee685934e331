#include "queue/answer.h"

#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "core/duration.h"
#include "lease/answer.h"

namespace leasehold::queue {
namespace {

LeaseState state_at(Timestamp expires_at, Timestamp now) {
  return expires_at > now ? LeaseState::running : LeaseState::expired;
}

// The lease that frees a place first.
std::optional<LeaseInfo> occupant(const sql::JobClaimed& answer) {
  if (!answer.holder) return std::nullopt;
  const auto expires_at = answer.expires_at.value_or(answer.store_now);
  LeaseInfo info;
  info.kind = "job";
  info.key = std::to_string(answer.job_id.value_or(0));
  info.state = state_at(expires_at, answer.store_now);
  info.token = {answer.token.value_or(0)};
  info.holder.name = *answer.holder;
  info.holder.host = answer.host.value_or("");
  info.ttl = answer.ttl.value_or(Duration{});
  info.acquired_at = answer.acquired_at.value_or(Timestamp{});
  info.heartbeat_at = answer.heartbeat_at.value_or(info.acquired_at);
  info.expires_at = expires_at;
  info.store_now = answer.store_now;
  return info;
}

std::optional<LeaseInfo> current_holder(const sql::JobSettled& answer) {
  if (!answer.holder) return std::nullopt;
  LeaseInfo info;
  info.kind = "job";
  info.key = std::to_string(answer.job_id);
  info.expires_at = answer.expires_at.value_or(answer.store_now);
  info.state = state_at(info.expires_at, answer.store_now);
  info.holder.name = *answer.holder;
  info.holder.host = answer.host.value_or("");
  info.store_now = answer.store_now;
  return info;
}

std::optional<Duration> retry_in(const sql::JobClaimed& answer) {
  if (!answer.retry_at) return std::nullopt;
  return *answer.retry_at - answer.store_now;
}

Error empty_error(const sql::JobClaimed& answer, const std::string& what) {
  const auto soon = retry_in(answer);
  return {.code = Errc::empty,
          .message = what + " has nothing to do" + (soon ? "; look again in " + format_duration(*soon) : ""),
          .retry_at = answer.retry_at,
          .retry_in = soon};
}

Error capacity_error(const sql::JobClaimed& answer, const std::string& what) {
  const auto current = occupant(answer);
  auto message = what + " runs as many jobs as it may";
  if (current) message += fmt::format(": job {} is {}", current->key, lease::describe_holding(*current));
  return {.code = Errc::at_capacity,
          .message = std::move(message),
          .current = current,
          .retry_at = answer.retry_at,
          .retry_in = retry_in(answer)};
}

Error paused_error(const sql::JobClaimed& answer, const std::string& what) {
  const auto reason = answer.why.value_or("");
  return {.code = Errc::paused, .message = what + " is paused" + (reason.empty() ? "" : ": " + reason)};
}

Error rate_error(const sql::JobClaimed& answer, const std::string& what) {
  const auto soon = retry_in(answer).value_or(Duration(0));
  return {.code = Errc::rate_limited,
          .message = fmt::format("{} has reached its rate; the next claim may come in {}", what, format_duration(soon)),
          .retry_at = answer.retry_at,
          .retry_in = soon};
}

}  // namespace

std::string describe(JobId id) { return fmt::format("job {}", id); }

std::string describe(std::string_view queue) { return "queue " + quoted(queue); }

Error no_such_job(JobId id) { return {.code = Errc::not_found, .message = describe(id) + " does not exist"}; }

Error odd_answer(std::string_view what, std::string_view outcome) {
  return {.code = Errc::internal, .message = fmt::format("{}: the store answered \"{}\"", what, outcome)};
}

Error lost_error(std::string_view what, std::string_view why, std::optional<LeaseInfo> current) {
  const auto reason = lost_reason_from(why);
  auto message =
      fmt::format("{} is lost: {}", what,
                  reason == LostReason::finished ? "it was settled before" : lease::describe_loss(reason, why));
  const bool taken_over = reason == LostReason::expired || reason == LostReason::superseded;
  if (current && taken_over) message += fmt::format("; now with {}", current->holder.name);
  return {.code = Errc::lost, .message = std::move(message), .lost_reason = reason, .current = std::move(current)};
}

Error claim_refusal(const sql::JobClaimed& answer, std::string_view queue) {
  const auto what = describe(queue);
  if (answer.outcome == "empty") return empty_error(answer, what);
  if (answer.outcome == "at_capacity") return capacity_error(answer, what);
  if (answer.outcome == "paused") return paused_error(answer, what);
  if (answer.outcome == "rate_limited") return rate_error(answer, what);
  if (answer.outcome == "busy") {
    return {.code = Errc::busy, .message = what + " has work, but others are just at it; try again"};
  }
  if (answer.outcome == "lost") return lost_error("the lease of this claim", answer.why.value_or(""));
  return odd_answer(what, answer.outcome);
}

Result<Settled> settled_from(const sql::JobSettled& answer) {
  const auto what = describe(answer.job_id);
  if (answer.outcome == "settled") {
    const auto state = job_state_from(answer.state.value_or(""));
    if (!state) return odd_answer(what, answer.state.value_or(""));
    return Settled{.state = *state, .due_at = answer.due_at, .replayed = answer.replayed};
  }
  if (answer.outcome == "lost") return lost_error(what, answer.why.value_or(""), current_holder(answer));
  if (answer.outcome == "not_found") return no_such_job(answer.job_id);
  return odd_answer(what, answer.outcome);
}

}  // namespace leasehold::queue

#include "queue/answer.h"

#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "core/duration.h"
#include "lease/answer.h"

namespace leasehold::queue {
namespace {

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
  // The lease that frees a place first.
  const auto current = lease::present_lease(answer, "job", std::to_string(answer.job_id.value_or(0)));
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
  if (answer.outcome == "lost") {
    return lost_error(what, answer.why.value_or(""),
                      lease::present_holder(answer, "job", std::to_string(answer.job_id)));
  }
  if (answer.outcome == "not_found") return no_such_job(answer.job_id);
  return odd_answer(what, answer.outcome);
}

}  // namespace leasehold::queue

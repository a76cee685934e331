#include <fmt/format.h>

#include "base/text.h"
#include "base/time_text.h"
#include "job/jobs.h"
#include "lease/answer.h"
#include "model/words.h"

namespace leasehold::job {
namespace {

std::optional<Duration> retry_in(const sql::JobClaimed& answer) {
  if (!answer.retry_at) return std::nullopt;
  return *answer.retry_at - answer.store_now;
}

Error empty_error(const sql::JobClaimed& answer, const std::string& what) {
  const auto soon = retry_in(answer);
  return {.code = Errc::empty,
          .message = what + " has no job ready" + (soon ? "; try again in " + format_duration(*soon) : ""),
          .retry_at = answer.retry_at,
          .retry_in = soon};
}

Error capacity_error(const sql::JobClaimed& answer, const std::string& what) {
  // The lease that frees a place first.
  const auto current = lease::present_lease(answer, "job", std::to_string(answer.held_job_id.value_or(0)));
  const auto group = answer.groups.empty() ? "" : answer.groups.front();
  auto message = group.empty() ? what + " is at its limit" : "every waiting group of " + what + " is at its limit";
  if (current) {
    message += fmt::format(": job {}{} is {}", current->key, group.empty() ? "" : " of group " + quoted(group),
                           lease::describe_holding(*current));
  }
  return {.code = Errc::at_capacity,
          .message = std::move(message),
          .held_by = current,
          .retry_at = answer.retry_at,
          .retry_in = retry_in(answer)};
}

Error paused_error(const sql::JobClaimed& answer, const std::string& what) {
  Error error{.code = Errc::paused, .message = what + " is paused"};
  if (!answer.why || answer.why->empty()) return error;
  error.message += ": " + *answer.why;
  error.detail = {{"pause_reason", *answer.why}};
  return error;
}

Error rate_error(const sql::JobClaimed& answer, const std::string& what) {
  const auto soon = retry_in(answer).value_or(Duration(0));
  return {.code = Errc::rate_limited,
          .message = fmt::format("{} has reached its rate; claim again in {}", what, format_duration(soon)),
          .retry_at = answer.retry_at,
          .retry_in = soon};
}

}  // namespace

std::string describe(JobId id) { return fmt::format("job {}", id); }

std::string describe(std::string_view queue) { return "queue " + quoted(queue); }

Error no_such_job(JobId id) { return {.code = Errc::not_found, .message = describe(id) + " does not exist"}; }

Error claim_refusal(const sql::JobClaimed& answer, std::string_view queue) {
  const auto what = describe(queue);
  switch (answer.outcome.refusal()) {
    case Errc::empty: return empty_error(answer, what);
    case Errc::at_capacity: return capacity_error(answer, what);
    case Errc::paused: return paused_error(answer, what);
    case Errc::rate_limited: return rate_error(answer, what);
    case Errc::busy: return {.code = Errc::busy, .message = what + ": other workers are claiming its jobs; try again"};
    case Errc::lost: return lost_error("the lease of this claim", answer.why.value_or(""));
    default: return odd_answer(what, answer.outcome.word());
  }
}

Result<JobSettled> settled_from(const sql::JobSettled& answer) {
  const auto what = describe(answer.job_id);
  if (answer.outcome.done()) {
    const auto state = from_word<JobState>(answer.state.value_or(""));
    if (!state) return odd_answer(what, answer.state.value_or(""));
    return JobSettled{.id = answer.job_id, .state = *state, .due_at = answer.due_at, .replayed = answer.replayed};
  }
  return settle_refusal(answer, answer.job_id);
}

}  // namespace leasehold::job

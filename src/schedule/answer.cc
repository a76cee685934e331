#include <fmt/format.h>
#include <algorithm>

#include "base/text.h"
#include "base/time_text.h"
#include "schedule/schedules.h"

namespace leasehold::schedule {
namespace {

/// The part of the answer about the lease of the current run.
sql::LeaseAnswer lease_part(const sql::ScheduleAnswer& answer) {
  sql::LeaseAnswer lease{};
  lease.outcome = answer.outcome;
  lease.why = answer.why;
  lease.kind = "schedule";
  lease.key = answer.name;
  lease.token = answer.token;
  lease.lease_id = answer.lease_id;
  lease.holder = answer.holder;
  lease.host = answer.host;
  lease.boot_id = answer.boot_id;
  lease.pid = answer.pid;
  lease.process_start = answer.process_start;
  lease.tty = answer.tty;
  lease.instance = answer.instance;
  lease.ttl = answer.ttl;
  lease.acquired_at = answer.acquired_at;
  lease.heartbeat_at = answer.heartbeat_at;
  lease.expires_at = answer.expires_at;
  lease.ended_at = answer.ended_at;
  lease.end_reason = answer.end_reason;
  lease.end_detail = answer.end_detail;
  lease.replayed = answer.replayed;
  lease.store_now = answer.store_now;
  return lease;
}

Error paused(const sql::ScheduleAnswer& answer) {
  Error error{.code = Errc::paused, .message = describe(answer.name) + " was paused", .held_by = current_from(answer)};
  if (answer.paused_at) {
    const auto age = answer.wall_now - *answer.paused_at;
    error.message += " " + format_age(age);
    error.detail = {{"paused_at", *answer.paused_at}, {"paused_for", age}};
  }
  const auto reason = answer.paused_reason.value_or("");
  if (reason.empty()) return error;
  error.message += ": " + reason;
  error.detail.push_back({"pause_reason", reason});
  return error;
}

Error not_due(const sql::ScheduleAnswer& answer) {
  Error error{.code = Errc::not_due, .message = describe(answer.name) + " is not due"};
  if (!answer.next_run_at) return error;
  error.retry_at = answer.next_run_at;
  error.retry_in = std::max(*answer.next_run_at - answer.wall_now, Duration::zero());
  error.message += fmt::format(": its next run is in {}", format_duration(*error.retry_in));
  return error;
}

Error held(const sql::ScheduleAnswer& answer) {
  auto error = lease::refusal_from(lease_part(answer), describe(answer.name));
  if (!error.held_by) return error;
  error.retry_at = error.held_by->expires_at;
  error.retry_in = std::max(error.held_by->retry_in(), Duration::zero());
  return error;
}

}  // namespace

std::string describe(std::string_view name) { return "schedule " + quoted(name); }

Error no_such_schedule(std::string_view name) {
  return {.code = Errc::not_found, .message = describe(name) + " does not exist: set it first"};
}

Grant grant_from(const sql::ScheduleAnswer& answer, BootTime before_sending) {
  return lease::grant_from(lease_part(answer), before_sending);
}

std::optional<LeaseInfo> current_from(const sql::ScheduleAnswer& answer) {
  if (!answer.holder) return std::nullopt;
  return lease::info_from(lease_part(answer));
}

Error refusal_from(const sql::ScheduleAnswer& answer) {
  switch (answer.outcome.refusal()) {
    case Errc::not_found: return no_such_schedule(answer.name);
    case Errc::paused: return paused(answer);
    case Errc::not_due: return not_due(answer);
    case Errc::held: return held(answer);
    case Errc::lost:
      return lease::lost_error(fmt::format("the run of {}", describe(answer.name)), answer.why.value_or(""),
                               current_from(answer));
    default: return lease::refusal_from(lease_part(answer), describe(answer.name));
  }
}

Error refusal_from(const sql::LeaseAnswer& answer, std::string_view name) {
  if (answer.outcome.refusal() == Errc::not_found) return no_such_schedule(name);
  return lease::refusal_from(answer, fmt::format("the run of {}", describe(name)));
}

}  // namespace leasehold::schedule

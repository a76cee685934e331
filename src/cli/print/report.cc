#include "cli/print/report.h"

#include <algorithm>

#include "base/time_text.h"
#include "cli/print/lock_text.h"
#include "cli/print/print.h"
#include "cli/print/session_text.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

std::string place_of(const Holder& holder) {
  std::string place = printable(holder.host);
  if (holder.pid != 0) place += fmt::format("{}pid {}", place.empty() ? "" : ", ", holder.pid);
  if (!holder.tty.empty()) place += fmt::format("{}tty {}", place.empty() ? "" : ", ", printable(holder.tty));
  return place.empty() ? "" : fmt::format(" ({})", place);
}

/// Not every refusal contains these times.
std::string signs_of_life(const LeaseInfo& lease) {
  if (lease.acquired_at == Timestamp{}) return "";
  return fmt::format(" since {}, heartbeat {}", local_time(lease.acquired_at, lease.store_now),
                     format_age(lease.heartbeat_age()));
}

/// Whether another holder has it now, which the message alone does not show. (For a job the message is complete.)
bool has_new_holder(const Error& error) {
  return error.lost_reason == LostReason::superseded && error.held_by && error.held_by->state == LeaseState::running &&
         error.held_by->acquired_at != Timestamp{};
}

/// The lock is free, but its lock delay has not passed.
bool is_lock_delay(const Error& error) {
  return error.code == Errc::held && error.held_by && error.held_by->kind == "lock" &&
         error.held_by->state != LeaseState::running;
}

std::string describe_delay(const Error& error) {
  if (!error.retry_at || !error.retry_in) return printable(error.message);
  const auto now = *error.retry_at - *error.retry_in;
  return fmt::format("{}: {} (last held by {}, which may not know yet)", printable(error.held_by->key),
                     delay_text(*error.retry_at, now), printable(error.held_by->holder.name));
}

}  // namespace

int exit_code_of(const Error& error, int held_code) {
  const int code = row_of(error.code).exit_status;
  return code == exit_code::held ? held_code : code;
}

int report(const Context& context, const Error& error, int held_code) {
  if (context.json) {
    print_line(model::to_json(error));
  } else if (is_lock_delay(error)) {
    say("leasehold: {}", describe_delay(error));
  } else if (error.code == Errc::held && error.held_by && error.held_by->kind != "row") {
    // The library's message is for logs; a person needs to find the holder.
    say("leasehold: {} is {}", printable(error.held_by->key), describe_holder(*error.held_by));
  } else {
    say("leasehold: {}", printable(error.message));
    if (has_new_holder(error)) say("  {}", describe_holder(*error.held_by));
  }
  return exit_code_of(error, held_code);
}

std::string describe_holder(const LeaseInfo& lease) {
  const auto until = local_time(lease.expires_at, lease.store_now);
  const auto frees = lease.retry_in() > Duration::zero()
                         ? fmt::format("frees at {} (in {})", until, format_duration(lease.retry_in()))
                         : fmt::format("expired at {}: free to take", until);
  return fmt::format("held by {}{}{}, {}", printable(lease.holder.name), place_of(lease.holder), signs_of_life(lease),
                     frees);
}

Error without_advice(Error error) {
  constexpr std::string_view fact = " does not exist";
  const auto at = error.message.rfind(fact);
  if (error.code == Errc::not_found && at != std::string::npos) error.message.resize(at + fact.size());
  return error;
}

int ask_for_yes(const Context& context, std::string_view what) {
  return report(context, {.code = Errc::invalid_argument,
                          .message = fmt::format("{}: add --yes to do it, --dry-run to see what it would do", what)});
}

namespace {

/// A lost claim names no owner: the reason matters there.
bool names_session(const Error& error) {
  return error.code != Errc::lost && error.held_by && !error.held_by->session.empty();
}

}  // namespace

int report_refusal(const Context& context, const Error& error, int held_code) {
  if (context.json) {
    print_line(model::to_json(error));
    return exit_code_of(error, held_code);
  }
  say("leasehold: {}", printable(error.message));
  if (names_session(error)) {
    for (const auto& field : fields_of_owner(*error.held_by)) say("  {:<9}  {}", field.name, field.value);
  }
  return exit_code_of(error, held_code);
}

}  // namespace leasehold::cli

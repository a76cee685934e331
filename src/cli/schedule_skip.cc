#include "cli/schedule_skip.h"

#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

std::string described(const Error& refusal, const std::optional<ScheduleInfo>& paused) {
  if (refusal.code == Errc::held && refusal.current) return describe_holder(*refusal.current);
  if (refusal.code == Errc::not_due && refusal.retry_at && refusal.retry_in) {
    return "not due: next run at " + with_distance(*refusal.retry_at, *refusal.retry_at - *refusal.retry_in);
  }
  if (!paused || !paused->paused_at) return leasehold::to_string(refusal.code);
  const auto& reason = paused->paused_reason;
  return fmt::format("paused since {}{}", with_distance(*paused->paused_at, paused->wall_now),
                     reason.empty() ? "" : ": " + printable(reason));
}

/// The refusal does not say since when, and why.
std::optional<ScheduleInfo> about_pause(const Schedules& schedules, const std::string& name, const Error& refusal) {
  if (refusal.code != Errc::paused) return std::nullopt;
  auto schedule = schedules.show(name);
  return schedule ? std::optional(std::move(*schedule)) : std::nullopt;
}

}  // namespace

bool is_skip(const Error& refusal) {
  return refusal.code == Errc::not_due || refusal.code == Errc::held || refusal.code == Errc::paused;
}

int tell_skip(const Context& context, const Schedules& schedules, const std::string& name, const Error& refusal,
              const SkipManner& manner) {
  if (manner.quiet && !context.json) return manner.code;
  const auto paused = about_pause(schedules, name, refusal);
  if (context.json) print_line(wire::skip_to_json(name, refusal, paused));
  if (!manner.quiet) say("leasehold: {} is {}", printable(name), described(refusal, paused));
  return manner.code;
}

}  // namespace leasehold::cli

#include "cli/print/schedule_text.h"

#include <fmt/format.h>

#include "base/time_text.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/session_text.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

std::string distance(Timestamp when, Timestamp now) {
  return when > now ? "in " + format_duration(when - now) : format_age(now - when);
}

/// "+02:00"; a few old offsets also have seconds, which are omitted.
std::string shown_offset(std::chrono::seconds offset) {
  const auto minutes = std::chrono::abs(std::chrono::duration_cast<std::chrono::minutes>(offset)).count();
  return fmt::format("{}{:02}:{:02}", offset.count() < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

/// "3 skipped through 2026-03-29T01:30:00Z: misfire"
std::string shown_skip(const RunInfo& run) {
  auto text = fmt::format("{} skipped", run.missed);
  if (run.missed > 1 && run.through) text += " through " + to_string(*run.through);
  return run.reason.empty() ? text : fmt::format("{}: {}", text, printable(run.reason));
}

}  // namespace

std::string coloured(ScheduleState state) {
  switch (state) {
    case ScheduleState::running: return coloured(Tone::good, to_string(state));
    case ScheduleState::due: return coloured(Tone::warning, to_string(state));
    case ScheduleState::expired: return coloured(Tone::bad, to_string(state));
    case ScheduleState::paused: return coloured(Tone::faint, to_string(state));
    case ScheduleState::waiting: break;
  }
  return to_string(state);
}

std::string coloured_outcome(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::running:
    case RunOutcome::completed: return coloured(Tone::good, to_string(outcome));
    case RunOutcome::failed:
    case RunOutcome::lost: return coloured(Tone::bad, to_string(outcome));
    case RunOutcome::expired: return coloured(Tone::warning, to_string(outcome));
    case RunOutcome::released:
    case RunOutcome::skipped: return coloured(Tone::faint, to_string(outcome));
    case RunOutcome::enqueued: break;
  }
  return to_string(outcome);
}

std::string shown_between(const Between& between) {
  const auto min = format_duration(between.min);
  return between.min == between.max ? min : fmt::format("{}-{}", min, format_duration(between.max));
}

std::string shown_rule(const ScheduleRule& rule) {
  if (const auto* every = std::get_if<Every>(&rule)) return "every " + shown_between(every->pause);
  const auto& cron = std::get<CronRule>(rule);
  auto text = printable(cron.expression);
  if (cron.zone != "UTC") text += " " + printable(cron.zone);
  if (cron.jitter > Duration::zero()) text += " +" + format_duration(cron.jitter);
  return text;
}

std::string shown_next(const ScheduleInfo& schedule) {
  const bool after_this_run = schedule.state == ScheduleState::running &&
                              std::holds_alternative<Every>(schedule.options.rule) &&
                              schedule.next_cause != "triggered";
  if (schedule.paused_at || after_this_run) return "-";
  return shown_distance(schedule.due_in());
}

std::string shown_last(const ScheduleInfo& schedule) {
  if (!schedule.last) return "-";
  const auto& run = *schedule.last;
  return fmt::format("{} {}", coloured_outcome(run.outcome),
                     format_age(schedule.wall_now - run.finished_at.value_or(run.occurrence)));
}

std::string shown_holder(const ScheduleInfo& schedule) {
  return schedule.held_by ? on_one_line(schedule.held_by->holder.name) : "-";
}

std::string shown_note(const RunInfo& run) {
  if (run.outcome == RunOutcome::skipped) return shown_skip(run);
  if (run.job_id) return fmt::format("job {}", *run.job_id);
  const std::string error(first_line(run.error));
  if (error.empty()) return on_one_line(run.counts);
  return on_one_line(run.counts.empty() ? error : error + "  " + run.counts);
}

ScheduleClock::ScheduleClock(const ScheduleRule& rule, Timestamp now) : now_(now) {
  const auto* cron = std::get_if<CronRule>(&rule);
  if (cron == nullptr) return;
  if (auto zone = find_zone(cron->zone)) zone_ = std::move(*zone);
}

std::string ScheduleClock::time(Timestamp when) const {
  return zone_ ? zoned_time(when, *zone_) : local_time(when, now_);
}

std::string ScheduleClock::time_and_distance(Timestamp when) const {
  return fmt::format("{} ({})", time(when), distance(when, now_));
}

std::string zoned_time(Timestamp when, const Zone& zone) {
  const auto second = std::chrono::floor<std::chrono::seconds>(when);
  const auto offset = zone.period_at(second).offset;
  const auto shown = to_string(Timestamp(second + offset));
  // Shifted by the offset, "2026-03-29T03:30:00Z" shows the clock of the zone.
  return fmt::format("{} {} {}", shown.substr(0, 10), shown.substr(11, 8), shown_offset(offset));
}

namespace {

std::string described(const Error& refusal) {
  if (refusal.code == Errc::held && refusal.held_by) return describe_holder(*refusal.held_by);
  if (refusal.code == Errc::not_due && refusal.retry_at && refusal.retry_in) {
    return "not due: next run at " + with_distance(*refusal.retry_at, *refusal.retry_at - *refusal.retry_in);
  }
  const auto* paused_at = refusal.find<Timestamp>("paused_at");
  const auto* paused_for = refusal.find<Duration>("paused_for");
  if (paused_at == nullptr || paused_for == nullptr) return leasehold::to_string(refusal.code);
  const auto* reason = refusal.find<std::string>("pause_reason");
  return fmt::format("paused since {}{}", with_distance(*paused_at, *paused_at + *paused_for),
                     reason != nullptr ? ": " + printable(*reason) : "");
}

}  // namespace

/// `busy` does not count: whether the schedule is due is not known yet.
bool is_skip(const Error& refusal) { return may_wait(refusal.code) && refusal.code != Errc::busy; }

int report_skip(const Context& context, const std::string& name, const Error& refusal, const SkipManner& manner) {
  const int code = manner.code.value_or(refusal.code == Errc::held ? exit_code::held : exit_code::nothing_to_do);
  if (manner.quiet && !context.json) return code;
  if (context.json) {
    print_line(model::to_json(refusal));
  } else {
    say("leasehold: {} is {}", printable(name), described(refusal));
  }
  return code;
}

}  // namespace leasehold::cli

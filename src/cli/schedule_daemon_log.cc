#include "cli/schedule_daemon_log.h"

#include <fmt/format.h>

#include "cli/print.h"
#include "cli/session_text.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

void log(std::string_view schedule, std::string_view what) {
  const auto now = wall_clock();
  say("{}  {}: {}", local_time(now, now), printable(schedule), what);
}

/// ", 3 occurrences before it skipped"
std::string shown_skipped(std::int64_t skipped) {
  return skipped > 0 ? fmt::format(", {} before it skipped", counted(skipped, "occurrence")) : "";
}

std::string shown_occurrence(Timestamp occurrence, std::string_view cause) {
  return fmt::format("{}, due at {}", printable(cause), local_time(occurrence, wall_clock()));
}

void log_fired(std::string_view schedule, const Fired& fired) {
  log(schedule, fmt::format("fired: job {} ({}{})", fired.job, shown_occurrence(fired.occurrence, fired.cause),
                            shown_skipped(fired.skipped)));
}

void log_started(const ScheduleRun& run) {
  const auto lost = run.lost ? fmt::format(", the run before was lost: {}", printable(run.lost_holder)) : "";
  log(run.grant.key,
      fmt::format("started ({}{}{})", shown_occurrence(run.occurrence, run.cause), shown_skipped(run.skipped), lost));
}

std::string described(const RunVerdict& verdict) {
  switch (verdict.kind) {
    case RunVerdict::Kind::ok: return "ok";
    case RunVerdict::Kind::fail: return "failed: " + on_one_line(verdict.error);
    case RunVerdict::Kind::release: break;
  }
  return "released";
}

void log_finished(const ScheduleRun& run, const RunVerdict& verdict, const Result<Finished>& finished) {
  if (!finished) return log(run.grant.key, fmt::format("lost: {}", printable(finished.error().message)));
  const auto next = verdict.kind == RunVerdict::Kind::release ? std::string("it is due again")
                                                              : "next run in " + format_duration(finished->next_in);
  log(run.grant.key, fmt::format("finished {}; {}", described(verdict), next));
}

}  // namespace

void log_events(SchedulerOptions& options) {
  options.on_fire = log_fired;
  options.on_start = log_started;
  options.on_finish = log_finished;
  options.on_trouble = [](const Error& error) { say("leasehold: {}", printable(error.message)); };
}

void tell_summary(const Context& context, const ScheduleSummary& summary) {
  if (context.json) {
    print_line(wire::object({{"enqueued", summary.enqueued},
                             {"started", summary.started},
                             {"ok", summary.ok},
                             {"failed", summary.failed},
                             {"released", summary.released},
                             {"lost", summary.lost}}));
    return;
  }
  std::string text;
  for (const auto& [count, what] :
       {std::pair{summary.enqueued, "enqueued"}, std::pair{summary.ok, "ok"}, std::pair{summary.failed, "failed"},
        std::pair{summary.released, "released"}, std::pair{summary.lost, "lost"}}) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  say("leasehold: {}", text.empty() ? "nothing was due" : text);
}

}  // namespace leasehold::cli

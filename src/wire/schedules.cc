#include "wire/schedules.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "wire/json.h"
#include "wire/leases.h"

namespace leasehold::wire {
namespace {

namespace json = boost::json;

json::value seconds_or_null(const std::optional<Duration>& span) {
  return span ? seconds(*span) : json::value(nullptr);
}

void put_between(json::object& out, const std::string& what, const std::optional<Between>& between) {
  out[what + "_least_seconds"] = between ? seconds(between->least) : json::value(nullptr);
  out[what + "_most_seconds"] = between ? seconds(between->most) : json::value(nullptr);
}

void put_rule(json::object& out, const ScheduleRule& rule) {
  const auto* every = std::get_if<Every>(&rule);
  put_between(out, "every", every != nullptr ? std::optional(every->pause) : std::nullopt);
  const auto* cron = std::get_if<CronRule>(&rule);
  out["cron"] = cron != nullptr ? json::value(text(cron->expression)) : json::value(nullptr);
  out["zone"] = cron != nullptr ? json::value(text(cron->zone)) : json::value(nullptr);
  out["jitter_seconds"] = seconds(cron != nullptr ? cron->jitter : Duration::zero());
}

/// What becomes of an occurrence: a job, a command, or whatever its callers do.
void put_task(json::object& out, const ScheduleOptions& options) {
  out["queue"] = text_or_null(options.queue);
  if (!options.queue.empty()) put_bytes(out, "payload", options.payload);
  json::array command;
  for (const auto& word : options.command) command.push_back(text(word));
  out["command"] = command.empty() ? json::value(nullptr) : json::value(std::move(command));
}

void put_options(json::object& out, const ScheduleOptions& options) {
  put_rule(out, options.rule);
  put_between(out, "fail", options.on_fail);
  out["ttl_seconds"] = seconds(options.ttl);
  out["misfire"] = leasehold::to_string(options.misfire);
  out["misfire_after_seconds"] = seconds(options.misfire_after);
  put_task(out, options);
}

void put_holding(json::object& out, const LeaseInfo& current) {
  out["holder"] = text(current.holder.name);
  out["host"] = text_or_null(current.holder.host);
  out["since"] = timestamp(current.acquired_at);
  out["frees_at"] = timestamp(current.expires_at);
  out["frees_in_seconds"] = seconds(std::max(current.frees_in(), Duration::zero()));
}

}  // namespace

std::string to_json(const ScheduleInfo& schedule) {
  json::object out{{"name", text(schedule.name)}, {"state", leasehold::to_string(schedule.state)}};
  put_options(out, schedule.options);
  out["next_run_at"] = timestamp(schedule.next_run_at);
  out["next_in_seconds"] = seconds(std::max(schedule.due_in(), Duration::zero()));
  out["next_cause"] = text(schedule.next_cause);
  out["next_occurrence"] = timestamp_or_null(schedule.next_occurrence);
  out["paused_at"] = timestamp_or_null(schedule.paused_at);
  out["paused_reason"] = text_or_null(schedule.paused_reason);
  out["current"] = schedule.current ? json::value(encode(*schedule.current)) : json::value(nullptr);
  out["created_at"] = timestamp(schedule.created_at);
  out["wall_now"] = timestamp(schedule.wall_now);
  return with_members(render(out), {{"last", schedule.last ? to_json(*schedule.last) : "null"}});
}

std::string to_json(const RunInfo& run) {
  const json::object out{{"schedule", text(run.schedule)},
                         {"occurrence", timestamp(run.occurrence)},
                         {"outcome", text(run.outcome)},
                         {"cause", text(run.cause)},
                         {"token", number_or_null(run.token.value)},
                         {"holder", text_or_null(run.holder)},
                         {"host", text_or_null(run.host)},
                         {"started_at", timestamp_or_null(run.started_at)},
                         {"finished_at", timestamp_or_null(run.finished_at)},
                         {"took_seconds", seconds_or_null(run.took())},
                         {"error", text_or_null(run.error)},
                         {"reason", text_or_null(run.reason)},
                         {"through", timestamp_or_null(run.through)},
                         {"missed", run.missed},
                         {"job_id", number_or_null(run.job.value_or(0))}};
  return with_members(render(out), {{"counts", run.counts.empty() ? "null" : as_it_is(run.counts)}});
}

std::string to_json(const ScheduleRun& run) {
  const auto& grant = run.grant;
  const Duration trusted_for = std::max(grant.trusted_until - BootClock::now(), Duration::zero());
  return render(json::object{{"ok", true},
                             {"skipped", false},
                             {"schedule", text(grant.key)},
                             {"token", grant.token.value},
                             {"occurrence", timestamp(run.occurrence)},
                             {"cause", text(run.cause)},
                             {"holder", encode(grant.holder)},
                             {"ttl_seconds", seconds(grant.ttl)},
                             {"acquired_at", timestamp(grant.acquired_at)},
                             {"expires_at", timestamp(grant.expires_at)},
                             {"trusted_for_seconds", seconds(trusted_for)},
                             {"replayed", grant.replayed},
                             {"missed", run.skipped},
                             {"lost_occurrence", timestamp_or_null(run.lost)},
                             {"lost_holder", text_or_null(run.lost_holder)}});
}

std::string skip_to_json(std::string_view name, const Error& refusal, const std::optional<ScheduleInfo>& paused) {
  json::object out{
      {"ok", true}, {"skipped", true}, {"reason", leasehold::to_string(refusal.code)}, {"schedule", text(name)}};
  if (refusal.code == Errc::not_due) {
    out["next_run_at"] = timestamp_or_null(refusal.retry_at);
    out["next_in_seconds"] = seconds_or_null(refusal.retry_in);
  } else if (refusal.code == Errc::held && refusal.current) {
    put_holding(out, *refusal.current);
  } else if (refusal.code == Errc::paused) {
    out["since"] = timestamp_or_null(paused ? paused->paused_at : std::nullopt);
    out["paused_reason"] = text_or_null(paused ? paused->paused_reason : "");
  }
  return render(out);
}

std::string to_json(std::string_view name, const Defined& defined) {
  return render(json::object{{"name", text(name)},
                             {"created", defined.created},
                             {"changed", defined.changed},
                             {"next_run_at", timestamp(defined.next_run_at)}});
}

std::string to_json(std::string_view name, const Finished& finished) {
  return render(json::object{{"schedule", text(name)},
                             {"next_run_at", timestamp(finished.next_run_at)},
                             {"next_in_seconds", seconds(finished.next_in)},
                             {"replayed", finished.replayed}});
}

}  // namespace leasehold::wire

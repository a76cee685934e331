// Reads schedules: one, many, their next occurrences, their history.
#include <algorithm>

#include "base/json.h"
#include "core/schedule_plan.h"
#include "lease/answer.h"
#include "lease/page.h"
#include "model/bounds.h"
#include "model/described.h"
#include "model/words.h"
#include "schedule/schedules.h"
#include "storage/query.h"

namespace leasehold {
namespace schedule {
namespace {

using Row = sql::ScheduleList::Row;

std::optional<Between> between(const std::optional<Duration>& min, const std::optional<Duration>& max) {
  if (!min || !max) return std::nullopt;
  return Between{*min, *max};
}

ScheduleRule rule_from(Row& row) {
  if (const auto pause = between(row.every_min, row.every_max)) return Every{*pause};
  return CronRule{.expression = std::move(row.cron_given).value_or(""),
                  .zone = std::move(row.zone).value_or("UTC"),
                  .jitter = row.jitter};
}

ScheduleOptions options_from(Row& row) {
  ScheduleOptions options;
  options.rule = rule_from(row);
  options.on_fail = between(row.fail_min, row.fail_max);
  options.ttl = row.ttl;
  options.misfire = from_word<Misfire>(row.misfire).value_or(Misfire::once);
  options.misfire_after = row.misfire_after;
  options.queue = std::move(row.queue).value_or("");
  options.payload = std::move(row.payload).value_or("");
  if (row.command) options.command = texts_from_json(*row.command);
  return options;
}

std::optional<LeaseInfo> current_from(const Row& row) {
  if (!row.lease_id) return std::nullopt;
  LeaseInfo lease;
  lease.kind = "schedule";
  lease.key = row.name;
  lease.token = {row.token.value_or(0)};
  lease.holder = {.name = row.holder.value_or(""),
                  .host = row.host.value_or(""),
                  .boot_id = row.boot_id.value_or(""),
                  .pid = row.pid.value_or(0),
                  .process_start = row.process_start.value_or(0),
                  .tty = row.tty.value_or(""),
                  .instance = row.instance.value_or("")};
  lease.ttl = row.run_ttl.value_or(Duration{});
  lease.acquired_at = row.acquired_at.value_or(Timestamp{});
  lease.heartbeat_at = row.heartbeat_at.value_or(Timestamp{});
  lease.expires_at = row.expires_at.value_or(Timestamp{});
  lease.store_now = row.store_now;
  lease.state = lease.expires_at > lease.store_now ? LeaseState::running : LeaseState::expired;
  return lease;
}

std::optional<RunInfo> last_from(Row& row) {
  if (!row.last_occurrence) return std::nullopt;
  RunInfo run;
  run.name = row.name;
  run.occurrence = *row.last_occurrence;
  run.cause = std::move(row.last_cause).value_or("");
  read_word(row.last_outcome.value_or(""), run.outcome);
  run.token = {row.last_token.value_or(0)};
  run.holder = lease::holder_named(std::move(row.last_holder));
  if (run.holder) run.holder->host = std::move(row.last_host).value_or("");
  run.started_at = row.last_started_at;
  run.finished_at = row.last_finished_at;
  run.error = std::move(row.last_error).value_or("");
  run.counts = std::move(row.last_counts).value_or("");
  run.job_id = row.last_job_id;
  run.wall_now = row.wall_now;
  return run;
}

ScheduleInfo info_from(Row& row) {
  ScheduleInfo info;
  info.state = from_word<ScheduleState>(row.state).value_or(ScheduleState::waiting);
  info.held_by = current_from(row);
  info.last = last_from(row);
  info.options = options_from(row);
  info.next_run_at = row.next_run_at;
  info.next_cause = std::move(row.next_cause);
  info.next_occurrence = row.next_occurrence;
  info.paused_at = row.paused_at;
  info.pause_reason = std::move(row.paused_reason).value_or("");
  info.created_at = row.created_at;
  info.wall_now = row.wall_now;
  info.name = std::move(row.name);
  return info;
}

RunInfo run_from(sql::ScheduleHistory::Row& row, std::string_view name) {
  auto holder = lease::holder_in(row);
  auto run = std::move(row).as<RunInfo, 2>();
  run.name = name;
  run.holder = std::move(holder);
  return run;
}

/// If several are due, only the first counts, unless each of them must run.
Timestamp first_to_follow(const ScheduleInfo& info) {
  const auto first = info.next_occurrence.value_or(info.next_run_at);
  return info.options.misfire == Misfire::all ? first : std::max(first, info.wall_now);
}

}  // namespace
}  // namespace schedule

Result<ScheduleInfo> Schedules::show(std::string_view name) const {
  if (auto checked = check_name("schedule name", name); !checked) return std::move(checked).error();
  const sql::ScheduleList statement{.name = name, .max = 1};
  auto found = impl_->new_call().list(statement, schedule::info_from);
  if (!found) return std::move(found).error();
  if (found->empty()) return schedule::no_such_schedule(name);
  return std::move(found->front());
}

Result<Page<ScheduleInfo>> Schedules::list(const ScheduleFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto skip = lease::page_number(filter.page);
  if (!skip) return std::move(skip).error();
  const sql::ScheduleList statement{.name = std::nullopt, .max = lease::rows_for(filter.max), .skip = *skip};
  return lease::page_of(impl_->new_call().list(statement, schedule::info_from), filter.max, lease::counted(*skip));
}

Result<std::vector<Timestamp>> Schedules::next(std::string_view name, int max) const {
  if (auto checked = check_range("number of occurrences", max, 1, bounds::max_next); !checked) {
    return std::move(checked).error();
  }
  const auto info = show(name);
  if (!info) return info.error();
  const auto* rule = std::get_if<CronRule>(&info->options.rule);
  if (rule == nullptr) return std::vector{info->next_run_at};
  const auto cron = parse_cron(rule->expression);
  if (!cron) return cron.error();
  const auto zone = find_zone(rule->zone);
  if (!zone) return zone.error();
  std::vector next = {info->next_occurrence.value_or(info->next_run_at)};
  const auto rest =
      occurrences(*cron, *zone, schedule::first_to_follow(*info), Timestamp::max(), static_cast<std::size_t>(max) - 1);
  next.insert(next.end(), rest.begin(), rest.end());
  return next;
}

Result<Page<RunInfo>> Schedules::history(std::string_view name, const RunFilter& filter) const {
  if (auto checked = check_name("schedule name", name); !checked) return std::move(checked).error();
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto skip = lease::page_number(filter.page);
  if (!skip) return std::move(skip).error();
  const sql::ScheduleHistory statement{.name = name, .max = lease::rows_for(filter.max), .skip = *skip};
  auto runs = impl_->new_call().list(statement, [name](auto& row) { return schedule::run_from(row, name); });
  // No runs: is the schedule new, or does it not exist?
  if (runs && runs->empty()) {
    if (auto known = show(name); !known) return std::move(known).error();
  }
  return lease::page_of(std::move(runs), filter.max, lease::counted(*skip));
}

}  // namespace leasehold

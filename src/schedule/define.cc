// Schedules::define: the rule, and when it begins.
#include <optional>

#include "base/json_list.h"
#include "core/schedule_limits.h"
#include "core/schedule_plan.h"
#include "lease/retry.h"
#include "schedule/answer.h"
#include "schedule/schedules.h"
#include "storage/query.h"

namespace leasehold {
namespace schedule {
namespace {

/// What the statement borrows.
struct Texts {
  std::string cron;
  std::string command;
};

void set_between(const Between& between, std::optional<Duration>& least, std::optional<Duration>& most) {
  least = between.least;
  most = between.most;
}

void set_task(const ScheduleOptions& options, Texts& texts, sql::ScheduleDefine& statement) {
  if (!options.queue.empty()) {
    statement.queue = options.queue;
    statement.payload = options.payload;
  }
  if (!options.command.empty()) {
    texts.command = json_from_texts(options.command);
    statement.command = texts.command;
  }
}

sql::ScheduleDefine statement_for(std::string_view name, const ScheduleOptions& options, Texts& texts) {
  sql::ScheduleDefine statement{};
  statement.name = name;
  if (const auto* pause = std::get_if<Every>(&options.rule)) {
    set_between(pause->pause, statement.every_least, statement.every_most);
  } else {
    const auto& rule = std::get<CronRule>(options.rule);
    statement.cron = texts.cron;
    statement.cron_given = rule.expression;
    statement.zone = rule.zone;
    statement.jitter = rule.jitter;
  }
  if (options.on_fail) set_between(*options.on_fail, statement.fail_least, statement.fail_most);
  statement.ttl = options.ttl;
  statement.misfire = to_string(options.misfire);
  statement.misfire_after = options.misfire_after;
  set_task(options, texts, statement);
  return statement;
}

/// Asks, and once more with the first occurrence where the store wants to be told that. It has none to ask about while
/// the definition stays as it is.
Result<sql::ScheduleDefine::Row> define(storage::Backend& backend, sql::ScheduleDefine statement,
                                        const std::optional<Cron>& cron, BootTime deadline) {
  for (int tries = 0; tries <= 10; ++tries) {
    auto row = lease::ask_again(deadline, [&] { return storage::query_one(backend, statement, deadline); });
    if (!row || row->next_run_at || !cron) return row;
    auto zone = find_zone(*statement.zone);
    if (!zone) return std::move(zone).error();
    statement.first_occurrence = next_occurrence_after(*cron, *zone, row->wall_now);
  }
  return Error{.code = Errc::busy, .message = describe(statement.name) + ": its first occurrence is over; try again"};
}

/// Nothing for a rule without one. Its zone is looked for, too: this knows what an unknown one may have meant.
Result<std::optional<Cron>> cron_of(const ScheduleRule& rule) {
  const auto* given = std::get_if<CronRule>(&rule);
  if (given == nullptr) return std::optional<Cron>();
  auto cron = parse_cron(given->expression);
  if (!cron) return std::move(cron).error();
  if (auto zone = find_zone(given->zone); !zone) return std::move(zone).error();
  return std::optional<Cron>(*cron);
}

}  // namespace
}  // namespace schedule

Result<Defined> Schedules::define(std::string_view name, const ScheduleOptions& options) const {
  if (auto checked = check_schedule(name, options); !checked) return std::move(checked).error();
  const auto cron = schedule::cron_of(options.rule);
  if (!cron) return cron.error();
  schedule::Texts texts;
  if (*cron) texts.cron = to_string(**cron);
  const auto statement = schedule::statement_for(name, options, texts);
  auto row = schedule::define(*impl_->backend, statement, *cron, impl_->deadline());
  if (!row) return std::move(row).error();
  return Defined{
      .created = row->created, .changed = row->changed, .next_run_at = row->next_run_at.value_or(Timestamp{})};
}

}  // namespace leasehold

// Schedules::set and ensure: the rule, and when it begins.
#include <fmt/format.h>
#include <optional>

#include "base/json.h"
#include "core/schedule_plan.h"
#include "lease/call.h"
#include "lease/reap.h"
#include "model/bounds.h"
#include "schedule/schedules.h"
#include "storage/query.h"

namespace leasehold {

namespace schedule {
namespace {

/// Texts that the statement borrows.
struct Texts {
  std::string cron;
  std::string command;
};

void set_between(const Between& between, std::optional<Duration>& min, std::optional<Duration>& max) {
  min = between.min;
  max = between.max;
}

void set_task(const ScheduleOptions& options, Texts& texts, sql::ScheduleSet& statement) {
  if (!options.queue.empty()) {
    statement.queue = options.queue;
    statement.payload = options.payload;
  }
  if (!options.command.empty()) {
    texts.command = json_from_texts(options.command);
    statement.command = texts.command;
  }
}

/// The common part of sql::ScheduleSet and sql::ScheduleEnsure.
template <typename S>
S statement_for(std::string_view name, const ScheduleOptions& options, const Texts& texts) {
  S statement{};
  statement.name = name;
  if (const auto* pause = std::get_if<Every>(&options.rule)) {
    set_between(pause->pause, statement.every_min, statement.every_max);
  } else {
    const auto& rule = std::get<CronRule>(options.rule);
    statement.cron = texts.cron;
    statement.cron_given = rule.expression;
    statement.zone = rule.zone;
    statement.jitter = rule.jitter;
  }
  if (options.on_fail) set_between(*options.on_fail, statement.fail_min, statement.fail_max);
  statement.ttl = options.ttl;
  statement.misfire = to_string(options.misfire);
  statement.misfire_after = options.misfire_after;
  statement.next_run_at = options.next_run_at;
  statement.next_run_in = options.next_run_in;
  return statement;
}

/// Sends the statement, and again with the first occurrence if the store needs it. It needs none while the settings
/// stay the same.
template <typename S>
Result<typename S::Row> ask_with_occurrence(lease::StoreCall call, S statement, const std::optional<Cron>& cron) {
  for (int tries = 0; tries <= 10; ++tries) {
    auto row = call.ask_again(statement);
    if (!row || row->next_run_at || !cron) return row;
    auto zone = find_zone(*statement.zone);
    if (!zone) return std::move(zone).error();
    statement.first_occurrence = next_occurrence_after(*cron, *zone, row->wall_now);
  }
  return Error{.code = Errc::busy,
               .message = describe(statement.name) + ": its first occurrence has passed; try again"};
}

/// Nothing for a rule without cron. Checks the zone, too: find_zone() suggests what an unknown name may have meant.
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

Result<ScheduleSaved> Schedules::set(std::string_view name, const ScheduleOptions& options) const {
  if (auto checked = check_schedule(name, options); !checked) return std::move(checked).error();
  const auto cron = schedule::cron_of(options.rule);
  if (!cron) return cron.error();
  schedule::Texts texts;
  if (*cron) texts.cron = to_string(**cron);
  auto statement = schedule::statement_for<sql::ScheduleSet>(name, options, texts);
  schedule::set_task(options, texts, statement);
  auto row = schedule::ask_with_occurrence(impl_->new_call(), statement, *cron);
  if (!row) return std::move(row).error();
  return ScheduleSaved{.name = std::string(name),
                       .created = row->created,
                       .changed = row->changed,
                       .next_run_at = row->next_run_at.value_or(Timestamp{})};
}

Result<Ensured> Schedules::ensure(std::string_view name, const ScheduleOptions& options) const {
  if (auto checked = check_schedule(name, options); !checked) return std::move(checked).error();
  if (!options.queue.empty() || !options.command.empty()) {
    return Error{.code = Errc::invalid_argument,
                 .message = schedule::describe(name) + ": only set() accepts a queue or a command"};
  }
  const auto cron = schedule::cron_of(options.rule);
  if (!cron) return cron.error();
  schedule::Texts texts;
  if (*cron) texts.cron = to_string(**cron);
  const auto statement = schedule::statement_for<sql::ScheduleEnsure>(name, options, texts);
  auto row = schedule::ask_with_occurrence(impl_->new_call(), statement, *cron);
  if (!row) return std::move(row).error();
  return Ensured{.name = std::string(name),
                 .created = row->created,
                 .differs = row->differs,
                 .next_run_at = row->next_run_at.value_or(Timestamp{})};
}

// Operators' actions on a schedule: trigger, pause, resume, rename, remove.
Result<std::optional<LeaseInfo>> Schedules::trigger(std::string_view name) const {
  if (auto checked = check_name("schedule name", name); !checked) return std::move(checked).error();
  const sql::ScheduleTrigger statement{.name = name};
  auto answer = impl_->new_call().ask_until_free(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return schedule::current_from(*answer);
  return schedule::refusal_from(*answer);
}

Result<void> Schedules::pause(std::string_view name, std::string_view reason) const {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  if (auto checked = check_text("reason", reason); !checked) return checked;
  const sql::SchedulePause statement{.name = name, .reason = reason};
  auto answer = impl_->new_call().ask_again(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.is(Reply::paused)) return {};
  if (answer->outcome.refusal() == Errc::not_found) return schedule::no_such_schedule(name);
  return lease::odd_answer(schedule::describe(name), answer->outcome.word());
}

Result<Timestamp> Schedules::resume(std::string_view name) const {
  if (auto checked = check_name("schedule name", name); !checked) return std::move(checked).error();
  sql::ScheduleResume statement{};
  statement.name = name;
  auto call = impl_->new_call();
  auto answer = call.repeat(lease::IfLost::ask_again,
                            [&] { return schedule::ask_with_plan(call, statement, schedule::plan_for_resuming); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return answer->next_run_at.value_or(answer->wall_now);
  return schedule::refusal_from(*answer);
}

Result<void> Schedules::rename(std::string_view name, std::string_view to) const {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  if (auto checked = check_name("new schedule name", to); !checked) return checked;
  const sql::ScheduleRename statement{.name = name, .new_name = to};
  auto answer = impl_->new_call().ask_until_free(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  if (answer->outcome.refusal() == Errc::not_found) return schedule::no_such_schedule(name);
  if (answer->outcome.is(Reply::exists)) {
    return Error{.code = Errc::invalid_argument,
                 .message = schedule::describe(to) + " already exists: remove it first"};
  }
  return lease::odd_answer(schedule::describe(name), answer->outcome.word());
}

Result<void> Schedules::remove(std::string_view name) const {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  const sql::ScheduleRemove statement{.name = name, .batch = defaults::sweep_batch};
  auto call = impl_->new_call();
  auto answer = lease::ask_past_dead_holders(call, [&] { return call.ask_until_free(statement); });
  if (!answer) return std::move(answer).error();
  lease::sweep<sql::ScheduleSweep>(*impl_);
  if (answer->outcome.done()) return {};
  return schedule::refusal_from(*answer);
}

}  // namespace leasehold

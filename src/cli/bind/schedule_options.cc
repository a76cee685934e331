#include "cli/bind/schedule_options.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/time_text.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/run/wrapper_variables.h"
#include "core/cron.h"
#include "model/bounds.h"
#include "model/words.h"

namespace leasehold::cli {
namespace {

/// "10m-15m", or "1h".
std::optional<Between> between_in(std::string_view text) {
  const auto dash = text.find('-');
  const auto min = parse_duration(text.substr(0, dash));
  const auto max = dash == std::string_view::npos ? min : parse_duration(text.substr(dash + 1));
  if (!min || !max) return std::nullopt;
  return Between{*min, *max};
}

CLI::Option* add_between(CLI::App& command, const std::string& names, std::optional<Between>& value,
                         const std::string& help) {
  const auto take = [&value, names](const std::string& text) {
    value = between_in(text);
    if (value) return;
    throw CLI::ValidationError(names, leasehold::quoted(text) + " is not a duration or a range: write 1h or 10m-15m");
  };
  return command.add_option_function<std::string>(names, take, help)->type_name("DURATION[-DURATION]");
}

}  // namespace

CLI::Option* add_schedule_name(CLI::App& command, std::string& name) {
  return add_name(command, "NAME", name, "The schedule");
}

void add_named_run(CLI::App& command, Context& context, NamedRun& run) {
  add_schedule_name(command, run.name)->envname(held::schedule.key_variable);
  add_held_token(command, context, run.token, held::schedule,
                 [&run] { return environment_says(held::schedule.key_variable, run.name); });
}

CLI::Option* add_next_run(CLI::App& command, NextRun& next, const std::string& help) {
  const auto take = [&next](const std::string& text) {
    next = {};
    if (text == "now") {
      next.in = Duration(0);
      return;
    }
    if (const auto pause = parse_duration(text); pause && *pause >= Duration(0) && *pause <= bounds::max_delay) {
      next.in = *pause;
      return;
    }
    const auto moment = parse_moment(text, wall_clock());
    if (!moment) {
      throw CLI::ValidationError("--next", leasehold::quoted(text) +
                                               " is neither a time nor a duration: write 2026-03-01T09:30:00Z, 09:30, "
                                               "90m or now");
    }
    next.at = *moment;
  };
  return command.add_option_function<std::string>("--next", take, help)->type_name("TIME|DURATION");
}

void ScheduleDefinition::add_rule(CLI::App& command) {
  auto* every =
      add_between(command, "--every", every_, "Pause this long after each run; a range draws a new length each time");
  auto* cron =
      command
          .add_option(
              "--cron", cron_,
              "When it is due: minute, hour, day, month, weekday; or with the second first; or @daily and similar")
          ->type_name("EXPRESSION")
          ->excludes(every);
  auto* zone = command.add_option("--tz", zone_, "The time zone of --cron: Europe/Berlin (default UTC)");
  zone->type_name("ZONE")->needs(cron);
  add_duration(command, "--jitter", jitter_, "Delay each occurrence of --cron by up to this time (default 0)")
      ->needs(cron);
  add_choice(command, "--misfire", misfire_, {"skip", "once", "all"},
             "Missed occurrences of --cron: skip them, run the latest once, or run all of them (default once)")
      ->needs(cron);
  misfire_after_given_ = add_duration(command, "--misfire-after", options_.misfire_after,
                                      fmt::format("With --misfire skip: skip those later than this (default {})",
                                                  format_duration(options_.misfire_after)))
                             ->needs(cron);
  of_a_rule_.push_back(add_between(
      command, "--on-fail", options_.on_fail,
      "Pause after a run that failed or was lost (default: after a failure as after a success, after a loss none)"));
}

void ScheduleDefinition::add_queue(CLI::App& command) {
  command.add_option("--enqueue", queue_and_payload_, "Add a job to this queue per occurrence, with this payload")
      ->expected(1, 2)
      ->allow_extra_args(false)
      ->type_name("QUEUE [PAYLOAD]");
}

void ScheduleDefinition::check() const {
  if (misfire_after_given_->count() > 0 && misfire_ != "skip") {
    throw CLI::ValidationError("--misfire-after", "it needs --misfire skip");
  }
  if (enqueues() && queue_and_payload_.front().empty()) {
    throw CLI::ValidationError("--enqueue", not_empty(queue_and_payload_.front()));
  }
}

bool ScheduleDefinition::given() const {
  check();
  if (every_ || cron_) return true;
  for (const auto* option : of_a_rule_) {
    if (option->count() == 0) continue;
    throw CLI::ValidationError(option->get_name(), "it needs a rule: add --every or --cron");
  }
  return false;
}

Result<ScheduleOptions> ScheduleDefinition::options() const {
  auto options = options_;
  if (every_) options.rule = Every{*every_};
  if (cron_) {
    if (auto cron = parse_cron(*cron_); !cron) return std::move(cron).error();
    options.rule = CronRule{.expression = *cron_, .zone = zone_, .jitter = jitter_};
  }
  options.misfire = from_word<Misfire>(misfire_).value_or(options.misfire);
  if (enqueues()) options.queue = queue_and_payload_.front();
  if (queue_and_payload_.size() > 1) options.payload = queue_and_payload_.back();
  return options;
}

CLI::Option* add_skip_exit_code(CLI::App& command, std::optional<int>& code) {
  return add_optional_number(command, "-E,--conflict-exit-code", code, 0, 255,
                             "Exit with N instead of 3 (not due or paused) and instead of 75 (held)");
}

}  // namespace leasehold::cli

// Descriptions of schedules and their runs.
#include <algorithm>
#include <variant>

#include "leasehold/limits.h"
#include "model/describe.h"

namespace leasehold::model {
namespace {

template <typename Part>
std::optional<Part> if_every(const ScheduleOptions& options, Part Between::*which) {
  const auto* every = std::get_if<Every>(&options.rule);
  return every != nullptr ? std::optional(every->pause.*which) : std::nullopt;
}

template <typename Part>
std::optional<Part> if_cron(const ScheduleOptions& options, Part CronRule::*which) {
  const auto* cron = std::get_if<CronRule>(&options.rule);
  return cron != nullptr ? std::optional(cron->*which) : std::nullopt;
}

std::optional<Duration> if_failing(const ScheduleOptions& options, Duration Between::*which) {
  return options.on_fail ? std::optional(*options.on_fail.*which) : std::nullopt;
}

constexpr auto every_min = [](const ScheduleOptions& options) { return if_every(options, &Between::min); };
constexpr auto every_max = [](const ScheduleOptions& options) { return if_every(options, &Between::max); };
constexpr auto cron_text = [](const ScheduleOptions& options) { return if_cron(options, &CronRule::expression); };
constexpr auto cron_zone = [](const ScheduleOptions& options) { return if_cron(options, &CronRule::zone); };
constexpr auto cron_jitter = [](const ScheduleOptions& options) {
  return if_cron(options, &CronRule::jitter).value_or(Duration::zero());
};
constexpr auto fail_min = [](const ScheduleOptions& options) { return if_failing(options, &Between::min); };
constexpr auto fail_max = [](const ScheduleOptions& options) { return if_failing(options, &Between::max); };

/// The rule becomes one of this kind.
template <typename Rule>
Rule& rule_as(ScheduleOptions& options, Rule fresh) {
  auto* rule = std::get_if<Rule>(&options.rule);
  return rule != nullptr ? *rule : options.rule.emplace<Rule>(std::move(fresh));
}

/// Without its other end, a span begins and ends with the given one.
template <Duration Between::*which>
constexpr auto set_every = [](ScheduleOptions& options, const std::optional<Duration>& given) {
  if (given) rule_as<Every>(options, every(*given)).pause.*which = *given;
};
template <Duration Between::*which>
constexpr auto set_fail = [](ScheduleOptions& options, const std::optional<Duration>& given) {
  if (!given) return;
  if (!options.on_fail) options.on_fail = Between{*given, *given};
  *options.on_fail.*which = *given;
};
template <std::string CronRule::*which>
constexpr auto set_cron = [](ScheduleOptions& options, const std::optional<std::string>& given) {
  if (given) rule_as<CronRule>(options, {}).*which = *given;
};
/// A pause is written with a jitter of zero, and stays a pause when that is read back.
constexpr auto set_jitter = [](ScheduleOptions& options, Duration given) {
  if (given != Duration::zero() || std::holds_alternative<CronRule>(options.rule)) {
    rule_as<CronRule>(options, {}).jitter = given;
  }
};
constexpr auto enqueues = [](const ScheduleOptions& options) { return !options.queue.empty(); };

constexpr auto next_in = [](const ScheduleInfo& schedule) { return std::max(schedule.due_in(), Duration::zero()); };

}  // namespace

namespace {

/// The settings of a schedule: a caller sets them, and ScheduleInfo shows them.
constexpr auto settings = std::to_array<Field>({
    derived<every_min, set_every<&Between::min>>("every_min_seconds")
        .called("pause")
        .from(bounds::min_pause, bounds::max_delay),
    derived<every_max, set_every<&Between::max>>("every_max_seconds")
        .called("pause")
        .from(bounds::min_pause, bounds::max_delay),
    derived<cron_text, set_cron<&CronRule::expression>>("cron").up_to(bounds::cron_bytes).not_with("every_min_seconds"),
    derived<cron_zone, set_cron<&CronRule::zone>>("zone").not_with("every_min_seconds"),
    derived<cron_jitter, set_jitter>("jitter_seconds").from(Duration(0), bounds::max_delay),
    derived<fail_min, set_fail<&Between::min>>("fail_min_seconds")
        .called("pause after a failure")
        .from(Duration(0), bounds::max_delay),
    derived<fail_max, set_fail<&Between::max>>("fail_max_seconds")
        .called("pause after a failure")
        .from(Duration(0), bounds::max_delay),
    field<&ScheduleOptions::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
    field<&ScheduleOptions::misfire>("misfire"),
    field<&ScheduleOptions::misfire_after>("misfire_after_seconds").from(Duration(0), bounds::max_delay),
    field<&ScheduleOptions::queue>("queue").or_null().as_name(),
    field<&ScheduleOptions::payload>("payload")
        .as(Kind::bytes)
        .up_to(bounds::payload_bytes)
        .when<enqueues>("the schedule has a queue"),
    field<&ScheduleOptions::command>("command").or_null().as_text(),
    hidden<&ScheduleOptions::rule>(),
    hidden<&ScheduleOptions::on_fail>(),
});

/// ScheduleInfo has its own next run.
Described settings_shown() {
  static constexpr auto fields = fields_of<ScheduleOptions>(
      joined(settings, {hidden<&ScheduleOptions::next_run_at>(), hidden<&ScheduleOptions::next_run_in>()}));
  return {"ScheduleOptions", fields};
}

}  // namespace

Described describe(Type<ScheduleOptions>) {
  static constexpr auto fields = fields_of<ScheduleOptions>(
      joined(settings, {field<&ScheduleOptions::next_run_at>("next_run_at").called("next run").as_moment(),
                        field<&ScheduleOptions::next_run_in>("next_run_in_seconds")
                            .from(Duration(0), bounds::max_delay)
                            .not_with("next_run_at")}));
  static const ScheduleOptions fresh;
  return {"ScheduleOptions", fields, &fresh};
}

Described describe(Type<ScheduleAcquireOptions>) {
  static constexpr auto fields = fields_of<ScheduleAcquireOptions>({
      field<&ScheduleAcquireOptions::now>("now"),
      field<&ScheduleAcquireOptions::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
      field<&ScheduleAcquireOptions::request_id>("request_id").or_null().as_name(),
  });
  static const ScheduleAcquireOptions fresh;
  return {"ScheduleAcquireOptions", fields, &fresh};
}

Described describe(Type<RunResult>) {
  static constexpr auto fields = fields_of<RunResult>({
      field<&RunResult::ok>("ok"),
      field<&RunResult::error>("error").or_null(),
      field<&RunResult::counts>("counts").or_null().as_json(bounds::counts_bytes),
      field<&RunResult::next_run_at>("next_run_at").called("next run").as_moment(),
      field<&RunResult::next_run_in>("next_run_in_seconds")
          .from(Duration(0), bounds::max_delay)
          .not_with("next_run_at"),
  });
  static const RunResult fresh;
  return {"RunResult", fields, &fresh};
}

Described describe(Type<ScheduleFilter>) {
  static constexpr auto fields = fields_of<ScheduleFilter>({
      field<&ScheduleFilter::max>("max").at_least_one(),
      field<&ScheduleFilter::page>("page").or_null().as_text(),
  });
  static const ScheduleFilter fresh;
  return {"ScheduleFilter", fields, &fresh};
}

Described describe(Type<RunFilter>) {
  static constexpr auto fields = fields_of<RunFilter>({
      field<&RunFilter::max>("max").at_least_one(),
      field<&RunFilter::page>("page").or_null().as_text(),
  });
  static const RunFilter fresh;
  return {"RunFilter", fields, &fresh};
}

Described describe(Type<ScheduleInfo>) {
  static constexpr auto fields = fields_of<ScheduleInfo>({
      field<&ScheduleInfo::name>("name"),
      field<&ScheduleInfo::state>("state"),
      inlined_as<&ScheduleInfo::options, settings_shown>(),
      field<&ScheduleInfo::next_run_at>("next_run_at"),
      field<next_in>("next_run_in_seconds"),
      field<&ScheduleInfo::next_cause>("next_cause"),
      field<&ScheduleInfo::next_occurrence>("next_occurrence"),
      field<&ScheduleInfo::paused_at>("paused_at"),
      field<&ScheduleInfo::pause_reason>("pause_reason").or_null(),
      field<&ScheduleInfo::held_by>("held_by").means("the lease of the current run, or of an expired one"),
      field<&ScheduleInfo::created_at>("created_at"),
      field<&ScheduleInfo::wall_now>("wall_now"),
      field<&ScheduleInfo::last>("last"),
  });
  return {"ScheduleInfo", fields};
}

Described describe(Type<ScheduleRun>) {
  static constexpr auto fields = fields_of<ScheduleRun>({
      field<&ScheduleRun::grant, &Grant::key>("name"),
      field<&ScheduleRun::grant, &Grant::token>("token"),
      field<&ScheduleRun::occurrence>("occurrence"),
      field<&ScheduleRun::cause>("cause"),
      field<&ScheduleRun::grant, &Grant::holder>("holder"),
      field<&ScheduleRun::grant, &Grant::ttl>("ttl_seconds"),
      field<&ScheduleRun::grant, &Grant::acquired_at>("since"),
      field<&ScheduleRun::grant, &Grant::expires_at>("until"),
      field<&ScheduleRun::grant, &Grant::trusted_until>("trusted_for_seconds"),
      field<&ScheduleRun::grant, &Grant::replayed>("replayed"),
      field<&ScheduleRun::skipped>("missed"),
      field<&ScheduleRun::lost>("lost_occurrence"),
      field<&ScheduleRun::lost_holder>("lost_holder"),
  });
  return {"ScheduleRun", fields};
}

Described describe(Type<RunInfo>) {
  static constexpr auto fields = fields_of<RunInfo>({
      field<&RunInfo::name>("name"),
      field<&RunInfo::occurrence>("occurrence"),
      field<&RunInfo::outcome>("outcome"),
      field<&RunInfo::cause>("cause"),
      field<&RunInfo::token>("token").is_proof(),
      field<&RunInfo::holder>("holder"),
      field<&RunInfo::started_at>("started_at"),
      field<&RunInfo::finished_at>("finished_at"),
      field<&RunInfo::took>("took_seconds"),
      field<&RunInfo::error>("error").or_null(),
      field<&RunInfo::reason>("reason").means("why it was skipped: `misfire` or `paused`").or_null(),
      field<&RunInfo::through>("through"),
      field<&RunInfo::missed>("missed"),
      field<&RunInfo::job_id>("job_id").means("the job that was enqueued"),
      field<&RunInfo::counts>("counts").as(Kind::json).or_null(),
      hidden<&RunInfo::wall_now>(),
  });
  return {"RunInfo", fields};
}

Described describe(Type<ScheduleSaved>) {
  static constexpr auto fields = fields_of<ScheduleSaved>({
      field<&ScheduleSaved::name>("name"),
      field<&ScheduleSaved::created>("created"),
      field<&ScheduleSaved::changed>("changed"),
      field<&ScheduleSaved::next_run_at>("next_run_at"),
  });
  return {"ScheduleSaved", fields};
}

Described describe(Type<RunSettled>) {
  static constexpr auto fields = fields_of<RunSettled>({
      field<&RunSettled::name>("name"),
      field<&RunSettled::next_run_at>("next_run_at"),
      field<&RunSettled::next_in>("next_run_in_seconds"),
      field<&RunSettled::replayed>("replayed"),
  });
  return {"RunSettled", fields};
}

Described describe(Type<Ensured>) {
  static constexpr auto fields = fields_of<Ensured>({
      field<&Ensured::name>("name"),
      field<&Ensured::created>("created"),
      field<&Ensured::differs>("differs").means(
          "a schedule of this name exists with other settings; it stays as it is"),
      field<&Ensured::next_run_at>("next_run_at"),
  });
  return {"Ensured", fields};
}

Described describe(Type<Fired>) {
  static constexpr auto fields = fields_of<Fired>({
      field<&Fired::job_id>("job_id").means("the job that was enqueued"),
      field<&Fired::occurrence>("occurrence"),
      field<&Fired::cause>("cause"),
      field<&Fired::skipped>("missed"),
  });
  return {"Fired", fields};
}

}  // namespace leasehold::model

// Descriptions of schedules and their runs.
#include <algorithm>
#include <variant>

#include "model/describe.h"

namespace leasehold::model {
namespace {

template <typename Told>
std::optional<Told> if_every(const ScheduleOptions& options, Told Between::*which) {
  const auto* every = std::get_if<Every>(&options.rule);
  return every != nullptr ? std::optional(every->pause.*which) : std::nullopt;
}

template <typename Told>
std::optional<Told> if_cron(const ScheduleOptions& options, Told CronRule::*which) {
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
constexpr auto enqueues = [](const ScheduleOptions& options) { return !options.queue.empty(); };

constexpr auto next_in = [](const ScheduleInfo& schedule) { return std::max(schedule.due_in(), Duration::zero()); };

}  // namespace

Described describe(Type<ScheduleOptions>) {
  static constexpr auto fields = fields_of<ScheduleOptions>({
      field<every_min>("every_min_seconds"),
      field<every_max>("every_max_seconds"),
      field<cron_text>("cron"),
      field<cron_zone>("zone"),
      field<cron_jitter>("jitter_seconds"),
      field<fail_min>("fail_min_seconds"),
      field<fail_max>("fail_max_seconds"),
      field<&ScheduleOptions::ttl>("ttl_seconds"),
      field<&ScheduleOptions::misfire>("misfire"),
      field<&ScheduleOptions::misfire_after>("misfire_after_seconds"),
      field<&ScheduleOptions::queue>("queue").or_null(),
      field<&ScheduleOptions::payload>("payload").as(Kind::bytes).when<enqueues>(),
      field<&ScheduleOptions::command>("command").or_null(),
      hidden<&ScheduleOptions::rule>(),
      hidden<&ScheduleOptions::on_fail>(),
      hidden<&ScheduleOptions::next_run_at>(),
      hidden<&ScheduleOptions::next_run_in>(),
  });
  return {"ScheduleOptions", fields};
}

Described describe(Type<ScheduleInfo>) {
  static constexpr auto fields = fields_of<ScheduleInfo>({
      field<&ScheduleInfo::name>("name"),
      field<&ScheduleInfo::state>("state"),
      inlined<&ScheduleInfo::options>(),
      field<&ScheduleInfo::next_run_at>("next_run_at"),
      field<next_in>("next_run_in_seconds"),
      field<&ScheduleInfo::next_cause>("next_cause"),
      field<&ScheduleInfo::next_occurrence>("next_occurrence"),
      field<&ScheduleInfo::paused_at>("paused_at"),
      field<&ScheduleInfo::pause_reason>("pause_reason").or_null(),
      field<&ScheduleInfo::held_by>("held_by"),
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
      field<&RunInfo::token>("token").or_null(),
      field<&RunInfo::holder>("holder"),
      field<&RunInfo::started_at>("started_at"),
      field<&RunInfo::finished_at>("finished_at"),
      field<&RunInfo::took>("took_seconds"),
      field<&RunInfo::error>("error").or_null(),
      field<&RunInfo::reason>("reason").or_null(),
      field<&RunInfo::through>("through"),
      field<&RunInfo::missed>("missed"),
      field<&RunInfo::job_id>("job_id"),
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
  return {"Defined", fields};
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

}  // namespace leasehold::model

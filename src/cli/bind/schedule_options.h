// Options and arguments shared by the commands about schedules.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "leasehold/schedule.h"

namespace leasehold::cli {

CLI::Option* add_schedule_name(CLI::App& command, std::string& name);

/// A run as named by its holder: else LEASEHOLD_SCHEDULE and LEASEHOLD_SCHEDULE_TOKEN, as `schedule run` sets them.
struct NamedRun {
  std::string name;
  Token token;
};
void add_named_run(CLI::App& command, Context& context, NamedRun& run);

/// --next: a moment, or a duration from the store's now.
struct NextRun {
  std::optional<Timestamp> at;
  std::optional<Duration> in;
};
CLI::Option* add_next_run(CLI::App& command, NextRun& next, const std::string& help);

/// The rule of a schedule, and the settings that belong to one.
class ScheduleDefinition {
 public:
  /// --every, --cron and related options, without --ttl.
  void add_rule(CLI::App& command);
  /// --enqueue.
  void add_queue(CLI::App& command);

  /// Whether there is a rule. Throws CLI::ValidationError if an option does not fit the rule, or needs one and there is
  /// none.
  [[nodiscard]] bool given() const;
  /// Whether each occurrence becomes a job.
  [[nodiscard]] bool enqueues() const { return !queue_and_payload_.empty(); }
  /// Includes the rule, if there is one. Refuses an invalid cron expression before any call to the store.
  [[nodiscard]] Result<ScheduleOptions> options() const;

 private:
  void check() const;

  std::optional<Between> every_;
  std::optional<std::string> cron_;
  std::string zone_ = "UTC";
  Duration jitter_{0};
  std::string misfire_;
  std::vector<std::string> queue_and_payload_;
  ScheduleOptions options_;
  std::vector<CLI::Option*> of_a_rule_;
  CLI::Option* misfire_after_given_ = nullptr;
};

/// -E, --conflict-exit-code N: replaces 3 if there is nothing to do, and 75 if another process runs it.
CLI::Option* add_skip_exit_code(CLI::App& command, std::optional<int>& code);

}  // namespace leasehold::cli

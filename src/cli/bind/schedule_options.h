// Options and arguments that the commands about schedules share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "leasehold/schedule.h"

namespace leasehold::cli {

CLI::Option* add_schedule_name(CLI::App& command, std::string& name);

/// A run as its holder names it: else LEASEHOLD_SCHEDULE and LEASEHOLD_SCHEDULE_TOKEN, as `schedule run` sets
/// them.
struct NamedRun {
  std::string name;
  Token token;
};
void add_named_run(CLI::App& command, Context& context, NamedRun& run);

/// --next: a moment, or how long from now, which is the store's.
struct NextRun {
  std::optional<Timestamp> at;
  std::optional<Duration> in;
};
CLI::Option* add_next_run(CLI::App& command, NextRun& next, const std::string& help);

/// What people say about a schedule: its rule, and what belongs to one.
class ScheduleDefinition {
 public:
  /// --every, --cron and their like. --lease is not among them.
  void add_rule(CLI::App& command);
  /// --enqueue.
  void add_queue(CLI::App& command);

  /// Whether there is a rule. Throws CLI::ValidationError where something does not fit to it, or belongs to one and
  /// there is none.
  [[nodiscard]] bool given() const;
  /// Whether each occurrence is to be a job.
  [[nodiscard]] bool enqueues() const { return !queue_and_payload_.empty(); }
  /// With the rule, if there is one. Refuses a cron expression that makes no sense, before any store is asked.
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

/// -E, --conflict-exit-code N: instead of 3 when there is nothing to do, and of 75 when somebody else does it.
CLI::Option* add_skip_exit_code(CLI::App& command, std::optional<int>& code);

}  // namespace leasehold::cli

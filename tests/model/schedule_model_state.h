// What the model of schedules remembers, and the small rules about single ones.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/schedule_model_words.h"

namespace leasehold::schedule_model {

inline constexpr std::int64_t most_missed = 10'000;

/// Here cron always means a fixed interval from the epoch, so the model needs no calendar.
struct Definition {
  bool cron = false;
  Moment period = 0;  ///< from the end of a run to the next, or from one occurrence to the next
  std::optional<Moment> on_fail{};
  Moment ttl = 0;
  std::string misfire = "once";
  Moment misfire_after = 0;
  bool queue = false;

  [[nodiscard]] bool same_rule(const Definition& other) const { return cron == other.cron && period == other.period; }
  friend bool operator==(const Definition&, const Definition&) = default;
};

struct ModelRun {
  std::string cause{};
  std::string outcome{};  ///< empty: under way
  Moment token = 0;
  std::string holder{};
  Moment ttl = 0;
  Moment expires_at = 0;
  std::optional<Moment> started_at{};
  std::optional<Moment> finished_at{};
  std::string reason{};
  std::optional<Moment> through{};
  std::int64_t missed = 0;

  void end(const std::string& how, Moment now) {
    outcome = how;
    finished_at = now;
  }
};

/// Which of the occurrences that are due is taken.
struct Plan {
  std::optional<Moment> taken{};
  std::string cause = "scheduled";
  Moment skipped_from = 0;
  Moment skipped_through = 0;
  std::int64_t missed = 0;
  Moment next_occurrence = 0;
};

struct ModelSchedule {
  int id = 0;
  Definition definition{};
  std::optional<Moment> paused_at{};
  std::string pause_reason{};
  std::optional<Moment> next_occurrence{};
  Moment next_run_at = 0;
  std::string next_cause = "scheduled";
  bool next_given = false;  ///< it was set by `next`; of cron, the next occurrence
  std::optional<Moment> triggered_at{};
  Moment token = 0;
  std::map<Moment, ModelRun> runs{};  ///< by occurrence

  [[nodiscard]] Moment due_at() const { return std::min(next_run_at, triggered_at.value_or(next_run_at)); }
  [[nodiscard]] Moment occurrence_after(Moment when) const {
    return (when / definition.period + 1) * definition.period;
  }
  /// The last occurrence up to a moment, and how many come before it; the first may be one that was set by `next`.
  [[nodiscard]] std::pair<Moment, std::int64_t> latest_until(Moment when) const {
    const auto first = next_occurrence.value();
    const auto latest = std::max(first, when / definition.period * definition.period);
    return {latest, latest / definition.period - first / definition.period};
  }

  ModelRun* under_way() {
    return find([](const ModelRun& run) { return run.outcome.empty(); });
  }
  ModelRun* of_token(Moment given) {
    return find([&](const ModelRun& run) { return run.token == given; });
  }
  /// The run before that of a token, where it was lost.
  std::pair<std::optional<Moment>, std::string> lost_before(Moment given) const {
    const std::pair<const Moment, ModelRun>* before = nullptr;
    for (const auto& each : runs) {
      const auto earlier = each.second.token;
      if (earlier > 0 && earlier < given && (before == nullptr || earlier > before->second.token)) before = &each;
    }
    if (before == nullptr || before->second.outcome != "lost") return {};
    return {before->first, before->second.holder};
  }
  Moment occurrence_of(const ModelRun& wanted) const {
    return std::find_if(runs.begin(), runs.end(), [&](const auto& each) { return &each.second == &wanted; })->first;
  }
  /// Where a moment has a row already, it counts as a microsecond later.
  Moment note(Moment occurrence, ModelRun run) {
    while (runs.count(occurrence) > 0) ++occurrence;
    runs.emplace(occurrence, std::move(run));
    return occurrence;
  }
  void skip(Moment from, Moment through, std::int64_t missed, const std::string& why, Moment now) {
    ModelRun row{.cause = "scheduled", .outcome = "skipped", .finished_at = now, .through = through, .missed = missed};
    row.reason = why + (missed == most_missed ? " (10000 or more)" : "");
    note(from, row);
  }
  void await(Moment occurrence) {
    next_given = next_given && next_occurrence == occurrence;
    next_occurrence = occurrence;
    next_run_at = occurrence;
    next_cause = "scheduled";
  }
  /// The next run is set by `next`.
  void plan_at(Moment when, const std::string& cause) {
    next_run_at = when;
    next_occurrence = definition.cron ? std::optional(when) : std::nullopt;
    next_cause = cause;
    next_given = true;
  }
  /// Another try, where the calendar has none before that.
  void retry(Moment when) {
    if (next_occurrence && when >= *next_occurrence) return;
    next_run_at = when;
    next_cause = "retry";
  }
  void lose(ModelRun& run, Moment now) {
    if (!next_given) retry(std::min(run.expires_at, now) + definition.on_fail.value_or(0));
    run.end("lost", now);
  }
  [[nodiscard]] Plan plan(Moment now) const {
    const auto first = next_occurrence.value();
    const auto again = next_cause == "retry" ? std::optional(next_run_at) : std::nullopt;
    if (definition.misfire == "all" || first > now)
      return plan_one(now, again, again ? first : occurrence_after(first));
    const auto [latest, earlier] = latest_until(now);
    const auto passed = earlier + (again ? 1 : 0);
    Plan found{.taken = latest, .missed = std::min(passed, most_missed), .next_occurrence = occurrence_after(latest)};
    found.skipped_from = again.value_or(first);
    found.skipped_through = latest > first ? std::max(first, latest - definition.period) : again.value_or(first);
    if (in_time(latest, now)) return found;
    return {.skipped_from = found.skipped_from,
            .skipped_through = latest,
            .missed = std::min(passed + 1, most_missed),
            .next_occurrence = found.next_occurrence};
  }

 private:
  [[nodiscard]] bool in_time(Moment latest, Moment now) const {
    return definition.misfire != "skip" || now - latest <= definition.misfire_after;
  }
  /// One alone is due: another try, or the first of those that will all run.
  [[nodiscard]] Plan plan_one(Moment now, std::optional<Moment> again, Moment next) const {
    const auto only = again.value_or(*next_occurrence);
    if (in_time(only, now)) return {.taken = only, .cause = again ? "retry" : "scheduled", .next_occurrence = next};
    return {.skipped_from = only, .skipped_through = only, .missed = 1, .next_occurrence = next};
  }
  template <typename Rule>
  ModelRun* find(Rule&& rule) {
    const auto found = std::find_if(runs.begin(), runs.end(), [&](const auto& each) { return rule(each.second); });
    return found == runs.end() ? nullptr : &found->second;
  }
};

}  // namespace leasehold::schedule_model

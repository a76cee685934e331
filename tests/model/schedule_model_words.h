// The words in which the model of schedules and the stores are compared: what an act gave, as one line of text.
//
// Times and tokens are written as their distance from now: a token is what the clock says, unless the last one of its
// schedule was that great already.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job_model_words.h"

namespace leasehold::schedule_model {

using model::away;
using model::Moment;

/// A run that was granted.
struct Granted {
  Moment occurrence = 0;
  std::string cause;
  std::int64_t skipped = 0;
  Moment token = 0;
  Moment expires_at = 0;
  std::optional<Moment> lost{};
  std::string lost_holder{};
  bool replayed = false;
};

inline std::string say(const Granted& run, Moment now) {
  return "granted " + away(run.occurrence, now) + " " + run.cause + " skipped " + std::to_string(run.skipped) +
         " token " + away(run.token, now) + " until " + away(run.expires_at, now) + " lost " + away(run.lost, now) +
         " of '" + run.lost_holder + "'" + (run.replayed ? " again" : "");
}

/// The holder of the current run.
struct Runner {
  std::string holder;
  Moment token = 0;
  Moment expires_at = 0;
};

inline std::string say(const std::string& word, const std::optional<Runner>& runner, Moment now) {
  if (!runner) return word;
  return word + ": run by " + runner->holder + " token " + (runner->token == 0 ? "-" : away(runner->token, now)) +
         " until " + away(runner->expires_at, now);
}

inline std::string say_next(const std::string& word, Moment next, Moment now) {
  return word + " next " + away(next, now);
}

/// A line of the history.
struct SeenRun {
  Moment occurrence = 0;
  std::string cause;
  std::string outcome;
  Moment token = 0;
  std::string holder{};
  std::optional<Moment> started_at{};
  std::optional<Moment> finished_at{};
  std::string reason{};
  std::optional<Moment> through{};
  std::int64_t missed = 0;
};

inline std::string say(const SeenRun& run, Moment now) {
  return away(run.occurrence, now) + " " + run.cause + " " + run.outcome + " token " +
         (run.token == 0 ? "-" : away(run.token, now)) + " by '" + run.holder + "' from " + away(run.started_at, now) +
         " to " + away(run.finished_at, now) + " " + run.reason + " through " + away(run.through, now) + " missed " +
         std::to_string(run.missed);
}

/// A schedule as one sees it.
struct SeenSchedule {
  std::string state;
  Moment next_run_at = 0;
  std::string next_cause;
  std::optional<Moment> next_occurrence{};
  std::optional<Moment> paused_at{};
  std::string pause_reason{};
  std::optional<Runner> runner{};
  std::string last{};
};

inline std::string say(const SeenSchedule& schedule, Moment now) {
  return say(schedule.state + " next " + away(schedule.next_run_at, now) + " " + schedule.next_cause + " calendar " +
                 away(schedule.next_occurrence, now) + " paused " + away(schedule.paused_at, now) + " '" +
                 schedule.pause_reason + "' last {" + schedule.last + "}",
             schedule.runner, now);
}

/// The due schedules in order, and when the next one is due.
struct SeenDue {
  std::vector<std::pair<Moment, std::string>> due{};
  std::optional<Moment> next{};
};

inline std::string say(const SeenDue& seen, Moment now) {
  std::string text = "due";
  for (const auto& [moment, name] : seen.due) text += " " + name + " " + away(moment, now);
  return text + " then " + away(seen.next, now);
}

}  // namespace leasehold::schedule_model

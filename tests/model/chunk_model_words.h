// The words in which the model of chunks and the stores are compared: what an act gave, as one line of text.
//
// Chunks are named by their keys, times and tokens by how far from now they are: a token is what the clock says, unless
// the last one of its chunk was that great already.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job_model_words.h"

namespace leasehold::chunk_model {

using model::away;
using model::Moment;

using Text = std::optional<std::string>;

inline std::string said(const Text& text) { return text ? "'" + *text + "'" : "-"; }

/// One chunk of a claim that was granted.
struct Given {
  std::string key;
  Moment token = 0;
  int attempt = 0;
  std::string spec{};
  Text cursor{};
  std::int64_t rows = 0;
  std::string previous_holder{};
  std::optional<Moment> synced_at{};
};

struct Granted {
  std::string holder;
  Moment ttl = 0;
  Moment expires_at = 0;
  bool solo = false;
  bool replayed = false;
  std::vector<Given> chunks{};
};

inline std::string say(const Granted& grant, Moment now) {
  std::string text = "granted to " + grant.holder + " ttl " + std::to_string(grant.ttl) + " until " +
                     away(grant.expires_at, now) + (grant.solo ? " solo" : "") + (grant.replayed ? " again" : "");
  for (const auto& chunk : grant.chunks) {
    text += "; " + chunk.key + " token " + away(chunk.token, now) + " attempt " + std::to_string(chunk.attempt) +
            " spec " + chunk.spec + " cursor " + said(chunk.cursor) + " rows " + std::to_string(chunk.rows) +
            " from '" + chunk.previous_holder + "' synced " + away(chunk.synced_at, now);
  }
  return text;
}

/// A chunk as one sees it.
struct Seen {
  std::string state;
  std::int64_t position = 0;
  std::string planner{};
  std::string spec{};
  Moment token = 0;
  int attempts = 0;
  int failures = 0;
  int crashes = 0;
  std::optional<Moment> due_at{};
  std::optional<Moment> started_at{};
  std::optional<Moment> finished_at{};
  std::optional<Moment> synced_at{};
  std::optional<Moment> saved_at{};
  std::optional<Moment> expires_at{};
  Text cursor{};
  std::int64_t rows = 0;
  std::string holder{};
  std::string error{};
  std::string note{};
};

inline std::string say(const Seen& chunk, Moment now) {
  return chunk.state + " at " + std::to_string(chunk.position) + " planner " + chunk.planner + " spec " + chunk.spec +
         " token " + (chunk.token == 0 ? "-" : away(chunk.token, now)) + " attempts " + std::to_string(chunk.attempts) +
         " failures " + std::to_string(chunk.failures) + " crashes " + std::to_string(chunk.crashes) + " due " +
         away(chunk.due_at, now) + " started " + away(chunk.started_at, now) + " finished " +
         away(chunk.finished_at, now) + " synced " + away(chunk.synced_at, now) + " saved " +
         away(chunk.saved_at, now) + " expires " + away(chunk.expires_at, now) + " cursor " + said(chunk.cursor) +
         " rows " + std::to_string(chunk.rows) + " holder '" + chunk.holder + "' error '" + chunk.error + "' note '" +
         chunk.note + "'";
}

/// A set as one sees it.
struct SeenSet {
  std::string state;
  std::string planner{};
  std::int64_t total = 0;
  std::int64_t available = 0;
  std::int64_t deferred = 0;
  std::int64_t running = 0;
  std::int64_t expired = 0;
  std::int64_t completed = 0;
  std::int64_t skipped = 0;
  std::int64_t exhausted = 0;
  std::int64_t rows = 0;
  std::int64_t attempts = 0;
  std::optional<Moment> finished_at{};
  std::optional<Moment> oldest_sync{};
};

inline std::string say(const SeenSet& set, Moment now) {
  return set.state + " planner " + set.planner + " total " + std::to_string(set.total) + " available " +
         std::to_string(set.available) + " deferred " + std::to_string(set.deferred) + " running " +
         std::to_string(set.running) + " expired " + std::to_string(set.expired) + " completed " +
         std::to_string(set.completed) + " skipped " + std::to_string(set.skipped) + " exhausted " +
         std::to_string(set.exhausted) + " rows " + std::to_string(set.rows) + " attempts " +
         std::to_string(set.attempts) + " finished " + away(set.finished_at, now) + " oldest " +
         away(set.oldest_sync, now);
}

/// The changes of a plan.
struct Changed {
  bool created = false;
  std::int64_t added = 0;
  std::int64_t replaced = 0;
  std::int64_t removed = 0;
  std::int64_t kept = 0;
  std::int64_t differing = 0;
  std::int64_t left = 0;
  std::int64_t total = 0;
  std::string state{};
};

inline std::string say(const Changed& plan) {
  return std::string(plan.created ? "new: " : "") + "added " + std::to_string(plan.added) + " replaced " +
         std::to_string(plan.replaced) + " removed " + std::to_string(plan.removed) + " kept " +
         std::to_string(plan.kept) + " differing " + std::to_string(plan.differing) + " left " +
         std::to_string(plan.left) + " of " + std::to_string(plan.total) + ", " + plan.state;
}

inline std::string say_settled(const std::string& state, std::optional<Moment> due_at, const std::string& set_state,
                               bool replayed, Moment now) {
  return state + " due " + away(due_at, now) + ", the set is " + set_state + (replayed ? ", again" : "");
}

inline std::string say_reset(std::int64_t reset, std::int64_t running, std::int64_t missing) {
  return "reset " + std::to_string(reset) + " running " + std::to_string(running) + " missing " +
         std::to_string(missing);
}

/// Not how many leases: see the model of jobs.
inline std::string say_recovered(std::int64_t chunks, std::int64_t failed) {
  return "recovered chunks " + std::to_string(chunks) + " failed " + std::to_string(failed);
}

}  // namespace leasehold::chunk_model

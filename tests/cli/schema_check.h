// Whether an answer of the tool is one that we know.
#pragma once
#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <set>
#include <string>
#include <vector>

#include "act/act.h"
#include "act/answers.h"
#include "act/confirmations.h"
#include "model/json.h"
#include "support/schema_walk.h"

namespace leasehold::support {

namespace json = boost::json;

/// The schemas of all that a command may print with --json.
inline const std::vector<json::object>& answer_schemas() {
  static const auto all = [] {
    std::vector<json::object> schemas;
    const auto add = [&]<typename... T>(model::Type<T>...) {
      (schemas.push_back(json::parse(model::schema_of(model::described<T>())).as_object()), ...);
    };
    using model::Type;
    add(Type<act::LockGrant>(), Type<act::SessionGrant>(), Type<act::RunGrant>(), Type<act::LockDetails>(),
        Type<act::EndedLock>(), Type<act::JobDetails>(), Type<act::ChunkDetails>(), Type<act::ChunkSetDetails>(),
        Type<act::PlanReport>(), Type<act::StoreReport>());
    add(Type<LockInfo>(), Type<LeaseInfo>(), Type<Enqueued>(), Type<Job>(), Type<JobGrant>(), Type<JobHeartbeat>(),
        Type<JobSettled>(), Type<JobInfo>(), Type<JobError>(), Type<QueueInfo>(), Type<BatchInfo>(), Type<JobsFound>(),
        Type<JobsChanged>());
    add(Type<Chunk>(), Type<ChunkGrant>(), Type<ChunkHeartbeat>(), Type<ChunkSettled>(), Type<ChunkInfo>(),
        Type<ChunkSetInfo>(), Type<ChunkResetOutcome>(), Type<RateInfo>(), Type<RateTurn>());
    add(Type<CreatedToken>(), Type<TokenInfo>(), Type<AuditEntry>());
    add(Type<OwnSession>(), Type<PathsTaken>(), Type<PathInfo>());
    add(Type<SessionInfo>(), Type<SessionClosed>(), Type<ItemInfo>(), Type<Claim>(), Type<ClaimInfo>(),
        Type<ScheduleInfo>(), Type<ScheduleRun>(), Type<RunInfo>(), Type<ScheduleSaved>(), Type<RunSettled>());
    add(Type<Event>(), Type<Pruned>(), Type<Retention>(), Type<Recovered>(), Type<RecoveryStats>(), Type<Finding>(),
        Type<MigrationInfo>(), Type<Drift>());
    add(Type<RowGrant>(), Type<RowSettled>(), Type<RowInfo>(), Type<RowRecovered>(), Type<AdoptStep>(),
        Type<AdoptPlan>(), Type<AdoptedTable>(), Type<TrialStep>());
    for (const auto& act : act::all()) {
      schemas.push_back(json::parse(model::schema_of(act.answer())).as_object());
    }
    return schemas;
  }();
  return all;
}

inline void collect_keys(const json::value& schema, std::set<std::string>& keys) {
  if (const auto* list = schema.if_array()) {
    for (const auto& each : *list) collect_keys(each, keys);
  }
  const auto* object = schema.if_object();
  if (object == nullptr) return;
  if (const auto* properties = object->if_contains("properties")) {
    for (const auto& [key, property] : properties->as_object()) keys.insert(std::string(key));
  }
  for (const auto& [key, member] : *object) collect_keys(member, keys);
}

/// Every key of a described struct, and those of the small answers of single commands.
inline const std::set<std::string>& known_keys() {
  static const auto all = [] {
    std::set<std::string> keys = {
        // confirmations
        "rehomed", "role", "scope", "exit_code",
        // summaries of work, chunk run, schedule daemon, import, demo
        "claimed", "completed", "failed", "snoozed", "cancelled", "lost", "skipped", "enqueued", "started", "added",
        "existing", "duplicates", "last_line", "lines", "loaded", "rows", "chunks", "jobs", "workers", "passed", "seed",
        "seconds", "verdict", "workers_killed", "workers_stopped", "jobs_taken_over", "median_takeover_seconds",
        "late_writes_refused", "doubled", "missing", "longest_takeover_seconds",
        // pages and scripts
        "sql", "script", "help", "version", "page", "folder",
        // elections and top
        "event", "term", "at", "queues", "chunk_sets", "sessions", "schedules", "events", "leases"};
    for (const auto& schema : answer_schemas()) collect_keys(schema, keys);
    return keys;
  }();
  return all;
}

inline std::string problem_in_answer(const json::value& answer) {
  const auto* object = answer.if_object();
  if (object == nullptr) return "an answer is an object: " + json::serialize(answer);
  if (const auto* error = object->if_contains("error"); error != nullptr && object->size() == 1) {
    return problem(*error, json::parse(model::schema_of(model::described<Error>())).as_object());
  }
  if (const auto* items = object->if_contains("items"); items != nullptr && object->contains("next")) {
    for (const auto& item : items->as_array()) {
      if (auto wrong = problem_in_answer(item); !wrong.empty()) return "in the list: " + wrong;
    }
    if (object->size() == 2) return "";
  }
  for (const auto& schema : answer_schemas()) {
    if (problem(answer, schema).empty()) return "";
  }
  // A small answer: its keys are known, each of its objects is a struct.
  for (const auto& [key, member] : *object) {
    if (!known_keys().contains(std::string(key))) return "no struct has the key " + std::string(key);
  }
  return "";
}

/// The act that a command performs, if it has one: "job rm" performs job.remove.
inline const act::Act* act_of(const std::vector<std::string>& words) {
  const auto has = [&](std::string_view option) {
    return std::find(words.begin(), words.end(), option) != words.end();
  };
  if (words.empty() || has("--dry-run") || has("--watch") || has("--follow")) return nullptr;
  const auto& group = words.at(0);
  for (const auto& [command, name] :
       {std::pair("events", "event.list"), std::pair("status", "store.status"), std::pair("doctor", "store.doctor"),
        std::pair("recover", "store.recover"), std::pair("prune", "store.prune"), std::pair("metrics", "store.metrics"),
        std::pair("history", "lease.history"), std::pair("audit", "audit.list")}) {
    if (group == command) return act::find(name);
  }
  if (words.size() < 2) return nullptr;
  const auto& verb = words.at(1);
  // These answer more: the job that waits for the plan; the chunks in progress beside the counts.
  if (group == "chunk" && (verb == "plan" || verb == "progress")) return nullptr;
  if (group == "chunk" && verb == "ls" && (words.size() == 2 || words.at(2).starts_with("-"))) {
    return act::find("chunk.sets");
  }
  if (group == "job" && verb == "add") return act::find("job.enqueue");
  if (group == "job" && has("--all")) return act::find("job.bulk");
  if (group == "retention") return act::find(verb == "set" ? "store.set_retention" : "store.retention");
  return act::find(group + "." + (verb == "ls" ? "list" : verb == "rm" ? "remove" : verb));
}

/// Errors in the output of a command with --json: it must be the answer of its act.
inline std::string problem_in_answer_of(const std::vector<std::string>& words, const json::value& answer) {
  if (auto wrong = problem_in_answer(answer); !wrong.empty()) return wrong;
  const auto* act = act_of(words);
  if (act == nullptr || answer.as_object().contains("error")) return "";
  const auto wrong = problem(answer, json::parse(model::schema_of(act->answer())).as_object());
  return wrong.empty() ? "" : "not as " + std::string(act->name) + " answers: " + wrong;
}

}  // namespace leasehold::support

// What to_json makes of every struct is as the struct's JSON Schema says.
#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "cli/answers.h"

namespace leasehold::support {
namespace {

namespace json = boost::json;

bool is_of_type(const json::value& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "integer") return value.is_int64();
  if (type == "number") return value.is_number();
  return type == "null" && value.is_null();
}

/// The part of JSON Schema that schema_of() uses. Empty: the value is as the schema says; otherwise what is wrong.
std::string problem(const json::value& value, const json::object& schema);

std::string problem_in_object(const json::object& value, const json::object& schema) {
  const auto& properties = schema.at("properties").as_object();
  for (const auto& key : schema.at("required").as_array()) {
    if (!value.contains(key.as_string())) return "there is no " + json::serialize(key);
  }
  for (const auto& [key, member] : value) {
    const auto* property = properties.if_contains(key);
    if (property == nullptr) return "the schema has no " + std::string(key);
    if (auto wrong = problem(member, property->as_object()); !wrong.empty()) return std::string(key) + ": " + wrong;
  }
  return "";
}

std::string problem(const json::value& value, const json::object& schema) {
  if (const auto* choices = schema.if_contains("anyOf")) {
    std::string wrong;
    for (const auto& choice : choices->as_array()) {
      const auto one = problem(value, choice.as_object());
      if (one.empty()) return "";
      wrong += one + "; ";
    }
    return wrong;
  }
  if (!schema.contains("type")) return "";
  const std::string type(schema.at("type").as_string());
  if (!is_of_type(value, type)) return json::serialize(value) + " is no " + type;
  if (const auto* words = schema.if_contains("enum")) {
    const auto& all = words->as_array();
    if (std::find(all.begin(), all.end(), value) == all.end()) return json::serialize(value) + " is none of its words";
  }
  if (type == "object") return problem_in_object(value.as_object(), schema);
  if (type != "array") return "";
  for (const auto& item : value.as_array()) {
    if (auto wrong = problem(item, schema.at("items").as_object()); !wrong.empty()) return "in the list: " + wrong;
  }
  return "";
}

template <typename T>
json::object schema_of() {
  return json::parse(wire::schema_of(model::described<T>())).as_object();
}

template <typename T>
void expect_as_its_schema(const T& answer) {
  const auto text = wire::to_json(model::object_of(answer));
  EXPECT_EQ(problem(json::parse(text), schema_of<T>()), "") << model::described<T>().name << ": " << text;
}

/// One with nothing in it, and one with something in every member.
template <typename... T>
void expect_as_their_schemas(const T&... full) {
  (expect_as_its_schema(T{}), ...);
  (expect_as_its_schema(full), ...);
}

TEST(Schema, LocksAndRefusalsAreAsItSays) {
  wire::LockGrant grant{some_grant(), {"a", "b"}, Share{.permits = 2, .capacity = 5}};
  wire::LockStory story{some_lock(), {some_lock_holder()}};
  wire::EndedLock ended{some_lease(), {"b"}};
  expect_as_their_schemas(some_holder(), some_lease(), item_lease(), some_grant(), some_lock(), some_lock_holder(),
                          some_error(), grant, story, ended);
}

TEST(Schema, JobsAndQueuesAreAsItSays) {
  const Job job{.id = 1, .token = {2}, .queue = "q", .payload = "\xff", .schedule = "s", .occurrence = moment(2)};
  const JobGrant grant{.jobs = {Job{}, job}, .token = {3}, .holder = some_holder(), .ttl = std::chrono::seconds(5)};
  const JobAttempt attempt{
      .outcome = "failed", .holder = "h", .host = "o", .pid = 3, .ended_at = moment(2), .error = "e"};
  const wire::JobStory story{.job = some_job(), .attempts = {attempt}, .payload = "p", .result = "\xfe"};
  expect_as_their_schemas(Enqueued{.id = 1}, job, grant, JobHeartbeat{.ttl = std::chrono::milliseconds(1500)},
                          JobSettled{.state = JobState::deferred, .due_at = moment(1)}, attempt, Predecessor{.id = 3},
                          some_job(), JobError{.holder = "h"}, some_queue(), story);
}

TEST(Schema, ChunksAndRatesAreAsItSays) {
  const ChunkGrant grant{.chunks = {some_chunk(), Chunk{}}, .holder = some_holder()};
  const LimitInfo limit{.name = "api", .taken_at = moment(2), .holder = "h", .host = "o"};
  const wire::PlanReport report{{}, 5, JobState::blocked};
  expect_as_their_schemas(some_chunk(), grant, ChunkHeartbeat{.rows = 4}, ChunkSettled{.due_at = moment(1)},
                          some_chunk_info(), some_set(), PlanOutcome{.created = true}, ChunkResetOutcome{.reset = 1},
                          limit, LimitSlot{.waited = std::chrono::milliseconds(100)}, report,
                          wire::ChunkStory{some_chunk_info(), {Event{}}},
                          wire::ChunkPicture{some_set(), {some_chunk_info()}, {some_chunk_info()}});
}

TEST(Schema, SessionsItemsAndClaimsAreAsItSays) {
  const Claim claim{.item = "i", .previous_session = "p", .previous_holder = "h"};
  const ClaimInfo info{.item = "i", .ended_at = moment(600), .end_reason = "r", .owner = item_lease()};
  expect_as_their_schemas(some_session(), SessionClosed{{"a", "b"}}, some_item(), claim, info);
}

TEST(Schema, SchedulesAreAsItSays) {
  auto by_cron = some_schedule();
  by_cron.options.rule = CronRule{.expression = "* * * * *", .zone = "Europe/Berlin"};
  const ScheduleRun run{.grant = some_grant(), .cause = "retry", .lost = moment(3), .lost_holder = "b"};
  expect_as_their_schemas(some_schedule(), by_cron, some_schedule().options, some_run(), run, Defined{.created = true},
                          leasehold::Finished{.next_in = std::chrono::seconds(2)});
  for (const auto code : {Errc::held, Errc::not_due, Errc::paused}) {
    auto refusal = some_error();
    refusal.code = code;
    expect_as_their_schemas(wire::SkippedRun{"refresh", refusal});
  }
}

TEST(Schema, TheStoreIsAsItSays) {
  const RecoveryStats stats{.stale_now = {.locks = 1}, .totals = {{.reason = "r", .last_at = moment(2)}}};
  expect_as_their_schemas(
      Event{.previous_holder = "p", .detail = "d"}, StoreStatus{.backend = "sqlite"}, Pruned{.jobs = 1},
      stats.stale_now, stats.totals.front(), stats, Finding{.level = Finding::Level::danger, .advice = "a"},
      MigrationInfo{.applied_at = moment(1)}, Drift{.object = "o"}, wire::StoreReport{{}, {some_queue()}, stats});
}

TEST(Schema, RefusesAnotherTypeAMissingKeyAnUnknownKeyAndAnUnknownWord) {
  const auto schema = schema_of<JobInfo>();
  auto job = json::parse(wire::to_json(some_job())).as_object();
  const auto with = [&job](std::string_view key, const json::value& value) {
    auto changed = job;
    changed[key] = value;
    return changed;
  };
  EXPECT_EQ(problem(job, schema), "");
  EXPECT_NE(problem(with("priority", "high"), schema), "");
  EXPECT_NE(problem(with("queue", nullptr), schema), "");
  EXPECT_NE(problem(with("prioritty", 1), schema), "");
  EXPECT_NE(problem(with("state", "asleep"), schema), "");
  job.erase("created_at");
  EXPECT_NE(problem(job, schema), "");
}

}  // namespace
}  // namespace leasehold::support

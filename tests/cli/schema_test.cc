// The output of to_json for every struct matches the struct's JSON Schema.
#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "cli/answers.h"
#include "cli/schema_check.h"

namespace leasehold::support {
namespace {

namespace json = boost::json;

template <typename T>
json::object schema_of() {
  return json::parse(model::schema_of(model::described<T>())).as_object();
}

template <typename T>
void expect_as_its_schema(const T& answer) {
  const auto text = model::to_json(model::object_of(answer));
  EXPECT_EQ(problem(json::parse(text), schema_of<T>()), "") << model::described<T>().name << ": " << text;
}

/// One with nothing in it, and one with something in every member.
template <typename... T>
void expect_as_their_schemas(const T&... full) {
  (expect_as_its_schema(T{}), ...);
  (expect_as_its_schema(full), ...);
}

TEST(Schema, LocksAndRefusalsMatchTheSchema) {
  act::LockGrant grant{some_grant(), {"a", "b"}, Share{.permits = 2, .capacity = 5}};
  act::LockDetails story{some_lock(), {some_lock_holder()}};
  act::EndedLock ended{some_lease(), {"b"}};
  expect_as_their_schemas(some_holder(), some_lease(), item_lease(), some_grant(), some_lock(), some_lock_holder(),
                          some_error(), grant, story, ended);
}

TEST(Schema, JobsAndQueuesMatchTheSchema) {
  const Job job{.id = 1, .token = {2}, .queue = "q", .payload = "\xff", .schedule = "s", .occurrence = moment(2)};
  const JobGrant grant{.jobs = {Job{}, job}, .token = {3}, .holder = some_holder(), .ttl = std::chrono::seconds(5)};
  const JobAttempt attempt{
      .outcome = AttemptOutcome::failed, .holder = some_holder(), .ended_at = moment(2), .error = "e"};
  const act::JobDetails story{.job = some_job(), .attempts = {attempt}, .payload = "p", .result = "\xfe"};
  expect_as_their_schemas(Enqueued{.id = 1}, job, grant, JobHeartbeat{.ttl = std::chrono::milliseconds(1500)},
                          JobSettled{.state = JobState::deferred, .due_at = moment(1)}, attempt, Predecessor{.id = 3},
                          some_job(), JobError{.holder = some_holder()}, some_queue(), story);
}

TEST(Schema, ChunksAndRatesMatchTheSchema) {
  const ChunkGrant grant{.chunks = {some_chunk(), Chunk{}}, .holder = some_holder()};
  const RateInfo rate{.name = "api", .taken_at = moment(2), .holder = some_holder()};
  const act::PlanReport report{{}, 5, JobState::blocked};
  expect_as_their_schemas(some_chunk(), grant, ChunkHeartbeat{.rows = 4}, ChunkSettled{.due_at = moment(1)},
                          some_chunk_info(), some_set(), PlanOutcome{.created = true}, ChunkResetOutcome{.reset = 1},
                          rate, RateTurn{.waited = std::chrono::milliseconds(100)}, report,
                          act::ChunkDetails{some_chunk_info(), {Event{}}},
                          act::ChunkSetDetails{some_set(), {some_chunk_info()}, {some_chunk_info()}});
}

TEST(Schema, SessionsItemsAndClaimsMatchTheSchema) {
  const Claim claim{.key = "i", .previous_session = "p", .previous_holder = some_holder()};
  const ClaimInfo info{.key = "i", .ended_at = moment(600), .end_reason = "r", .held_by = item_lease()};
  expect_as_their_schemas(some_session(), SessionClosed{.id = "a", .items = {"b"}}, some_item(), claim, info);
}

TEST(Schema, SchedulesMatchTheSchema) {
  auto by_cron = some_schedule();
  by_cron.options.rule = CronRule{.expression = "* * * * *", .zone = "Europe/Berlin"};
  const ScheduleRun run{.grant = some_grant(), .cause = "retry", .lost = moment(3), .lost_holder = some_holder()};
  expect_as_their_schemas(some_schedule(), by_cron, some_schedule().options, some_run(), run,
                          ScheduleSaved{.created = true}, leasehold::RunSettled{.next_in = std::chrono::seconds(2)});
  auto paused = some_error();
  paused.code = Errc::paused;
  paused.detail = {{"paused_at", moment(1)}, {"pause_reason", "r"}, {"paused_for", Duration(5)}};
  expect_as_their_schemas(paused, act::SessionGrant{some_grant()}, act::RunGrant{some_grant()});
}

TEST(Schema, TheStoreMatchesTheSchema) {
  const RecoveryStats stats{.stale_now = {.locks = 1}, .totals = {{.reason = "r", .last_at = moment(2)}}};
  expect_as_their_schemas(TokenInfo{.id = 1, .only = {"queue:mail*"}, .expires_at = moment(1)},
                          CreatedToken{.info = {.id = 1}, .secret = "lht_"},
                          AuditEntry{.id = 1, .by = "ann", .act = "queue.pause"});
  expect_as_their_schemas(Event{.holder = some_holder(), .previous_holder = some_holder(), .detail = "d"},
                          StoreStatus{.backend = "sqlite"}, Pruned{.jobs = 1}, Retention{}, stats.stale_now,
                          stats.totals.front(), stats, Finding{.level = Finding::Level::danger, .advice = "a"},
                          MigrationInfo{.applied_at = moment(1)}, Drift{.object = "o"},
                          act::StoreReport{{}, {}, {some_queue()}, stats});
}

TEST(Schema, RefusesAnotherTypeAMissingKeyAnUnknownKeyAndAnUnknownWord) {
  const auto schema = schema_of<JobInfo>();
  auto job = json::parse(model::to_json(some_job())).as_object();
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

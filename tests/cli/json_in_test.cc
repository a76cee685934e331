// JSON in: what to_json writes, read back by the same description.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "model/described.h"
#include "model/json.h"
#include "support/results.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

std::string refusal_of(std::string_view text) {
  const auto read = model::from_json<NewJob>(text);
  return read ? "read" : read.error().message;
}

TEST(JsonIn, AWrittenStructIsReadBack) {
  const NewJob job{.payload = "a\xff",
                   .priority = -7,
                   .delay = 1500ms,
                   .dedupe_key = "k",
                   .max_failures = 4,
                   .backoff = {.base = 2s, .max = 1min, .exponential = false},
                   .tags = {"a", "b"},
                   .depends_on = {3, 4},
                   .if_failed = IfFailed::run};
  const auto text = model::to_json(job);
  const auto read = model::from_json<NewJob>(text);
  ASSERT_TRUE(ok(read));
  EXPECT_EQ(model::to_json(*read), text);
  EXPECT_EQ(read->payload, job.payload);
  EXPECT_EQ(read->backoff.base, Duration(2s));
  EXPECT_FALSE(read->backoff.exponential);
  EXPECT_EQ(read->if_failed, IfFailed::run);
}

TEST(JsonIn, AMissingOrNullKeyKeepsTheDefault) {
  const auto read = model::from_json<NewJob>(R"({"priority":3,"delay_seconds":null})", {.delay = 5s, .group = "k"});
  ASSERT_TRUE(ok(read));
  EXPECT_EQ(read->priority, 3);
  EXPECT_EQ(read->delay, Duration(5s));
  EXPECT_EQ(read->group, "k");
  EXPECT_EQ(model::from_json<AcquireOptions>("{}")->share, std::nullopt);
}

TEST(JsonIn, AKeyThatIsWrittenTwiceIsRefused) {
  EXPECT_EQ(refusal_of(R"({"priority":3,"priority":4})"), "\"priority\" is written twice");
  EXPECT_EQ(refusal_of(R"({"delay":"1s","delay_seconds":4})"), "\"delay_seconds\" is written twice");
  EXPECT_EQ(refusal_of(R"({"priority":null,"priority":4})"), "read");
}

TEST(JsonIn, AKeyMayBeWrittenWithEscapes) {
  const auto read =
      model::from_json<NewJob>(R"( { "p\u0072iority" : 3 , "group" : "a\"b\u00e9" , "tags" : [ "x\\y" ] } )");
  ASSERT_TRUE(ok(read));
  EXPECT_EQ(read->priority, 3);
  EXPECT_EQ(read->group, "a\"b\u00e9");
  EXPECT_EQ(read->tags, (std::vector<std::string>{"x\\y"}));
}

TEST(JsonIn, NumbersOfAnotherKindAreRefused) {
  for (const auto* number : {"1.0", "1e2", "\"1\"", "12345678901234567890", "true", "[1]", "{}"}) {
    EXPECT_EQ(refusal_of(R"({"priority":)" + std::string(number) + "}"), "\"priority\" is not a whole number")
        << number;
  }
  EXPECT_EQ(refusal_of(R"({"priority":40000})"), "read") << "bounds are checked later";
  EXPECT_EQ(refusal_of(R"({"delay_seconds":1e400})"), "\"delay_seconds\" is not a number of seconds");
}

TEST(JsonIn, DurationsAreSecondsOrText) {
  EXPECT_EQ(model::from_json<NewJob>(R"({"delay_seconds":0.25})")->delay, Duration(250ms));
  EXPECT_EQ(model::from_json<NewJob>(R"({"delay":"10m"})")->delay, Duration(10min));
  EXPECT_EQ(refusal_of(R"({"delay_seconds":"10m"})"), "\"delay_seconds\" is not a number of seconds");
  EXPECT_EQ(refusal_of(R"({"delay":5})"), "\"delay\" is not a string");
}

TEST(JsonIn, AnObjectThatIsNotThereYetIsMade) {
  const auto read = model::from_json<AcquireOptions>(R"({"share":{"permits":2,"capacity":8},"ttl_seconds":60})");
  ASSERT_TRUE(ok(read));
  ASSERT_TRUE(read->share);
  EXPECT_EQ(read->share->permits, 2);
  EXPECT_EQ(read->share->capacity, 8);
  EXPECT_EQ(read->ttl, Duration(1min));
}

TEST(JsonIn, JsonIsKeptByteForByte) {
  const auto read = model::from_json<ChunkSave>(R"({"cursor": {"page":1.0e400 , "x":[ ]}, "rows":7})");
  ASSERT_TRUE(ok(read));
  EXPECT_EQ(read->cursor, R"({"page":1.0e400 , "x":[ ]})");
  EXPECT_EQ(read->rows, 7);
}

TEST(JsonIn, AValueThatDoesNotFitIsRefusedByItsKey) {
  EXPECT_EQ(refusal_of(R"({"priorty":1})"), "unknown key \"priorty\": did you mean priority?");
  EXPECT_EQ(refusal_of(R"({"priority":"1"})"), "\"priority\" is not a whole number");
  EXPECT_EQ(refusal_of(R"({"priority":1.5})"), "\"priority\" is not a whole number");
  EXPECT_EQ(refusal_of(R"({"priority":9999999999})"), "\"priority\" is not in range");
  EXPECT_EQ(refusal_of(R"({"if_failed":"explode"})"), "\"if_failed\" is not one of cancel, run, wait");
  EXPECT_EQ(refusal_of(R"({"tags":["a",1]})"), "\"tags\" is not a string");
  EXPECT_EQ(refusal_of(R"({"payload_base64":"!"})"), "\"payload_base64\" is not base64");
  EXPECT_EQ(refusal_of(R"({"backoff":{"base_second":1}})"), "unknown key \"base_second\": did you mean base_seconds?");
  EXPECT_EQ(refusal_of(R"({"backoff":7})"), "this is not a JSON object: \"7\"");
  EXPECT_EQ(refusal_of("[1]"), "this is not a JSON object: \"[1]\"");
}

TEST(JsonIn, BoundsComeFromTheDescription) {
  const auto refused = [](const NewJob& job) {
    const auto checked = model::check_fields(model::object_of(job));
    return checked ? std::string("fine") : checked.error().message;
  };
  EXPECT_EQ(refused({}), "fine");
  EXPECT_EQ(refused({.priority = 32768}), "priority is 32768, not between -32768 and 32767");
  EXPECT_EQ(refused({.delay = -1s}), "delay is -1s, not between 0s and 100 years");
  EXPECT_EQ(refused({.max_failures = 0}), "max failures is 0, not between 1 and 1000");
  EXPECT_EQ(refused({.backoff = {.base = -1s}}), "backoff base is -1s, not between 0s and 100 years");
  EXPECT_EQ(refused({.tags = std::vector<std::string>(21, "x")}), "the list of tags has 21 entries, 20 are allowed");
}

TEST(JsonIn, TheSchemaShowsBoundsAndDefaults) {
  const auto schema = boost::json::parse(model::schema_of(model::described<NewJob>()));
  const auto& properties = schema.at("properties");
  EXPECT_EQ(properties.at("priority").at("minimum"), -32768);
  EXPECT_EQ(properties.at("max_failures").at("default"), 10);
  EXPECT_EQ(properties.at("delay_seconds").at("default"), 0);
  EXPECT_TRUE(schema.at("required").as_array().empty());
}

template <typename T>
std::string refusal_by_bounds(const T& value) {
  const auto checked = model::check_fields_of(value);
  return checked ? std::string("fine") : checked.error().message;
}

template <typename T>
void expect_read_back(const T& value) {
  const auto text = model::to_json(value);
  const auto read = model::from_json<T>(text);
  ASSERT_TRUE(ok(read)) << text;
  EXPECT_EQ(model::to_json(*read), text);
}

TEST(JsonIn, OptionsOfSessionsAndItemsAreReadBack) {
  expect_read_back(SessionOptions{.id = "s-1",
                                  .ttl = 90s,
                                  .label = "parser",
                                  .metadata = R"({"a": [1.0]})",
                                  .exclusive = true,
                                  .max_age = 24h,
                                  .request_id = "r-1"});
  expect_read_back(SessionHeartbeat{.progress = "half", .ttl = 1min});
  expect_read_back(SessionFilter{.state = SessionState::idle, .track = "t", .released = true, .max = 3, .page = "p"});
  expect_read_back(ItemOptions{.title = "", .metadata = "7", .conflicts = {{"SD-2", "SD-3"}}});
  expect_read_back(ItemFilter{.state = ItemState::open, .parent = "SD-1"});
  expect_read_back(ItemTakeOptions{.session_token = Token{7}, .create = true, .wait = 1500ms});
  expect_read_back(ClaimFilter{.item = "SD-1", .ended = true});
  EXPECT_EQ(model::from_json<ItemOptions>("{}")->conflicts, std::nullopt) << "keeps the current list";
  EXPECT_EQ(model::from_json<ItemOptions>(R"({"conflicts":[]})")->conflicts, std::vector<std::string>());
}

TEST(JsonIn, FiltersAndPlansAreReadBack) {
  expect_read_back(LockFilter{.prefix = "deploy", .only_held = true, .max = 3});
  expect_read_back(JobFilter{.queue = "mail", .state = JobState::failed, .tag = "t", .page = "p"});
  expect_read_back(JobErrorFilter{.queue = "mail"});
  expect_read_back(ChunkFilter{.state = ChunkState::exhausted, .max = 3});
  expect_read_back(LeaseFilter{.page = "p"});
  expect_read_back(EventFilter{.after_id = 7, .key = "deploy"});
  expect_read_back(RetentionSettings{.keep_failed = 24h});
  expect_read_back(PlannedChunk{.key = "1-10", .spec = R"({"from": 1.0})"});
  expect_read_back(PlanOptions{.planner = "2", .settings = {.max_failures = 3}});
  expect_read_back(ChunkReset{.which = ChunkReset::Which::older, .older_than = 24h, .from_start = true});
  EXPECT_EQ(refusal_by_bounds(JobFilter{.queue = "\xff"}), R"(the queue is not UTF-8 text: "\xff")");
  EXPECT_EQ(refusal_by_bounds(ChunkReset{.keys = {""}}), "the entry of chunk keys is empty");
  EXPECT_EQ(refusal_by_bounds(PlanOptions{.settings = {.max_crashes = 0}}),
            "set max crashes is 0, not between 1 and 1000");
}

TEST(JsonIn, OptionsOfSchedulesAndRatesAreReadBack) {
  expect_read_back(ScheduleOptions{.rule = every(10min, 15min), .on_fail = Between{20min, 40min}});
  expect_read_back(ScheduleOptions{.rule = CronRule{.expression = "0 3 * * *", .zone = "Europe/Berlin", .jitter = 5s},
                                   .misfire = Misfire::all,
                                   .queue = "mail",
                                   .payload = "a\xff"});
  expect_read_back(ScheduleOptions{.command = {"echo", "hi"}, .next_run_in = 90s});
  expect_read_back(ScheduleAcquireOptions{.now = true, .ttl = 1min, .request_id = "r-1"});
  expect_read_back(
      RunResult{.ok = false, .error = "no disk", .counts = R"({"rows": 3})", .next_run_at = Timestamp(1h)});
  expect_read_back(ScheduleFilter{.max = 7, .page = "7"});
  expect_read_back(RunFilter{.max = 7});
  expect_read_back(RateTakeOptions{.every = 750ms, .burst = 3, .wait = 0s});
}

TEST(JsonIn, TheKeysOfAScheduleSelectItsRule) {
  const auto pause = model::from_json<ScheduleOptions>(R"({"every_max":"15m","every_min":"10m","fail_min":"20m"})");
  ASSERT_TRUE(ok(pause));
  EXPECT_EQ(pause->rule, ScheduleRule(every(10min, 15min)));
  EXPECT_EQ(pause->on_fail, (Between{20min, 20min}));
  const auto cron = model::from_json<ScheduleOptions>(R"({"zone":"Asia/Tokyo","jitter_seconds":9,"cron":"@daily"})");
  ASSERT_TRUE(ok(cron));
  EXPECT_EQ(cron->rule, ScheduleRule(CronRule{.expression = "@daily", .zone = "Asia/Tokyo", .jitter = 9s}));
  const auto both = model::from_json<ScheduleOptions>(R"({"cron":"@daily","every_min_seconds":60})");
  ASSERT_FALSE(both.ok());
  EXPECT_EQ(both.error().message, R"("cron" and "every_min_seconds" exclude each other: write one of them)");
}

TEST(JsonIn, TextsAreCheckedByTheirForm) {
  EXPECT_EQ(refusal_by_bounds(NewJob{.group = "two\nlines"}), R"(the group has control characters: "two\x0alines")");
  EXPECT_EQ(refusal_by_bounds(NewJob{.tags = {"a", ""}}), "the entry of tags is empty");
  EXPECT_EQ(refusal_by_bounds(SessionOptions{.label = "\xff"}), R"(the label is not UTF-8 text: "\xff")");
  EXPECT_EQ(refusal_by_bounds(SessionOptions{.metadata = "{"}), R"(the metadata must be JSON: "{")");
  EXPECT_EQ(refusal_by_bounds(SessionOptions{.id = ""}), "fine") << "a random id";
  EXPECT_EQ(refusal_by_bounds(ItemOptions{.parent = ""}), "fine") << "no parent";
  EXPECT_EQ(refusal_by_bounds(RunResult{.counts = "3 rows"}), R"(the counts must be JSON: "3 rows")");
  EXPECT_EQ(refusal_by_bounds(ScheduleOptions{.command = {"echo", "\xff"}}),
            R"(the entry of command is not UTF-8 text: "\xff")");
}

TEST(JsonIn, BoundsHoldForDerivedFieldsMomentsAndRivals) {
  EXPECT_EQ(refusal_by_bounds(ScheduleOptions{.rule = every(1ms)}), "pause is 1ms, not between 1s and 100 years");
  EXPECT_EQ(refusal_by_bounds(ScheduleOptions{.rule = CronRule{.jitter = -1s}}),
            "jitter is -1s, not between 0s and 100 years");
  EXPECT_EQ(refusal_by_bounds(ScheduleOptions{.next_run_at = model::end_of_moments}),
            "a next run of +10000-01-01T00:00:00Z is not in the years 1 to 9999");
  EXPECT_EQ(refusal_by_bounds(RunResult{.next_run_at = Timestamp(1h), .next_run_in = 1h}),
            "next run in and next run at exclude each other: set one of them");
  EXPECT_EQ(refusal_by_bounds(RateTakeOptions{.every = 0s}), "every is 0s, not between 1ms and 1d");
  EXPECT_EQ(refusal_by_bounds(ItemFilter{.max = 0}), "max is 0: write 1 or more");
}

TEST(JsonIn, TheSchemaHasDefaultsOfDerivedFieldsAndJson) {
  const auto session = boost::json::parse(model::schema_of(model::described<SessionOptions>()));
  EXPECT_TRUE(session.at("properties").at("metadata").at("default").is_object());
  EXPECT_EQ(session.at("properties").at("label").at("maxLength"), 4096);
  const auto schedule = boost::json::parse(model::schema_of(model::described<ScheduleOptions>()));
  EXPECT_EQ(schedule.at("properties").at("every_min_seconds").at("default"), 3600);
  EXPECT_TRUE(schedule.at("required").as_array().empty());
  const auto shown = boost::json::parse(model::schema_of(model::described<ScheduleInfo>()));
  EXPECT_FALSE(shown.at("properties").as_object().contains("next_run_in"));
  EXPECT_FALSE(shown.at("required").as_array().empty());
}

}  // namespace
}  // namespace leasehold::support

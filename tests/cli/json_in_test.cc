// JSON in: what to_json writes, read back by the same description.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "model/described.h"
#include "support/results.h"
#include "wire/wire.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

std::string refusal_of(std::string_view text) {
  const auto read = wire::from_json<NewJob>(text);
  return read ? "read" : read.error().message;
}

TEST(JsonIn, WhatIsWrittenIsReadBack) {
  const NewJob job{.payload = "a\xff",
                   .priority = -7,
                   .delay = 1500ms,
                   .dedupe_key = "k",
                   .max_failures = 4,
                   .backoff = {.base = 2s, .max = 1min, .exponential = false},
                   .tags = {"a", "b"},
                   .depends_on = {3, 4},
                   .if_failed = IfFailed::run};
  const auto text = wire::to_json(job);
  const auto read = wire::from_json<NewJob>(text);
  ASSERT_TRUE(ok(read));
  EXPECT_EQ(wire::to_json(*read), text);
  EXPECT_EQ(read->payload, job.payload);
  EXPECT_EQ(read->backoff.base, Duration(2s));
  EXPECT_FALSE(read->backoff.exponential);
  EXPECT_EQ(read->if_failed, IfFailed::run);
}

TEST(JsonIn, WhatIsLeftOutOrNullStays) {
  const auto read = wire::from_json<NewJob>(R"({"priority":3,"delay_seconds":null})", {.delay = 5s, .group = "k"});
  ASSERT_TRUE(ok(read));
  EXPECT_EQ(read->priority, 3);
  EXPECT_EQ(read->delay, Duration(5s));
  EXPECT_EQ(read->group, "k");
  EXPECT_EQ(wire::from_json<AcquireOptions>("{}")->share, std::nullopt);
}

TEST(JsonIn, DurationsAreSecondsOrText) {
  EXPECT_EQ(wire::from_json<NewJob>(R"({"delay_seconds":0.25})")->delay, Duration(250ms));
  EXPECT_EQ(wire::from_json<NewJob>(R"({"delay":"10m"})")->delay, Duration(10min));
  EXPECT_EQ(refusal_of(R"({"delay_seconds":"10m"})"), "\"delay_seconds\" is not a number of seconds");
  EXPECT_EQ(refusal_of(R"({"delay":5})"), "\"delay\" is not a string");
}

TEST(JsonIn, AnObjectThatIsNotThereYetIsMade) {
  const auto read = wire::from_json<AcquireOptions>(R"({"share":{"permits":2,"capacity":8},"ttl_seconds":60})");
  ASSERT_TRUE(ok(read));
  ASSERT_TRUE(read->share);
  EXPECT_EQ(read->share->permits, 2);
  EXPECT_EQ(read->share->capacity, 8);
  EXPECT_EQ(read->ttl, Duration(1min));
}

TEST(JsonIn, JsonIsKeptByteForByte) {
  const auto read = wire::from_json<ChunkSave>(R"({"cursor": {"page":1.0e400 , "x":[ ]}, "rows":7})");
  ASSERT_TRUE(ok(read));
  EXPECT_EQ(read->cursor, R"({"page":1.0e400 , "x":[ ]})");
  EXPECT_EQ(read->rows, 7);
}

TEST(JsonIn, WhatDoesNotFitIsRefusedByName) {
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

TEST(JsonIn, TheSchemaTellsBoundsAndDefaults) {
  const auto schema = boost::json::parse(wire::schema_of(model::described<NewJob>()));
  const auto& properties = schema.at("properties");
  EXPECT_EQ(properties.at("priority").at("minimum"), -32768);
  EXPECT_EQ(properties.at("max_failures").at("default"), 10);
  EXPECT_EQ(properties.at("delay_seconds").at("default"), 0);
  EXPECT_EQ(properties.at("payload").at("maxLength"), 1024 * 1024);
  EXPECT_TRUE(schema.at("required").as_array().empty());
}

}  // namespace
}  // namespace leasehold::support

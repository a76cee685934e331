// How chunks and rate limits look as JSON.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "model/json.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

TEST(ChunkJson, SpecsAndCursorsArePassedOnAsTheyAre) {
  ChunkInfo chunk;
  chunk.spec = R"({"id":123456789012345678901234567890,"rate":1.10})";
  chunk.cursor = "[1,\r\n  2]";
  const auto text = model::to_json(chunk);
  EXPECT_NE(text.find(R"("spec":{"id":123456789012345678901234567890,"rate":1.10})"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << "one value, one line: " << text;
  const auto parsed = boost::json::parse(text);
  EXPECT_EQ(parsed.at("cursor"), boost::json::array({1, 2}));
}

TEST(ChunkJson, NoCursorIsNullAndWhatIsNotJsonIsText) {
  ChunkInfo chunk;
  chunk.spec = "page \"3\"";
  const auto parsed = boost::json::parse(model::to_json(chunk));
  EXPECT_TRUE(parsed.at("cursor").is_null());
  EXPECT_EQ(parsed.at("spec"), "page \"3\"");
}

TEST(ChunkJson, AGrantHasItsChunksInIt) {
  ChunkGrant grant;
  grant.chunks = {{.set = "orders", .key = "a", .token = {7}, .spec = "1"},
                  {.set = "orders", .key = "b", .token = {8}, .spec = "2", .cursor = "{}", .rows = 5}};
  grant.ttl = 2min;
  const auto parsed = boost::json::parse(model::to_json(grant));
  ASSERT_EQ(parsed.at("chunks").as_array().size(), 2U);
  EXPECT_EQ(parsed.at("chunks").at(1).at("key"), "b");
  EXPECT_EQ(parsed.at("chunks").at(1).at("token"), 8);
  EXPECT_EQ(parsed.at("chunks").at(1).at("rows"), 5);
  EXPECT_EQ(parsed.at("ttl_seconds"), 120);
}

TEST(ChunkJson, ASetShowsItsSummary) {
  ChunkSetInfo set;
  set.name = "orders";
  set.state = ChunkSetState::partial;
  set.total = 42;
  set.completed = 40;
  set.exhausted = 2;
  const auto parsed = boost::json::parse(model::to_json(set));
  EXPECT_EQ(parsed.at("state"), "partial");
  EXPECT_EQ(parsed.at("summary"), "partial 40/42 (2 exhausted)");
  EXPECT_TRUE(parsed.at("job_id").is_null());
  const auto list = boost::json::parse(model::to_json(std::vector{set, set}));
  EXPECT_EQ(list.at("items").as_array().size(), 2U);
}

TEST(ChunkJson, ATurnShowsWhenItIs) {
  const RateTurn slot{.name = "api", .at = Timestamp(Duration(1'000'000)), .waited = 250ms, .every = 750ms};
  const auto parsed = boost::json::parse(model::to_json(slot));
  EXPECT_EQ(parsed.at("name"), "api");
  EXPECT_EQ(parsed.at("at"), "1970-01-01T00:00:01Z");
  EXPECT_EQ(parsed.at("waited_seconds"), 0.25);
}

}  // namespace
}  // namespace leasehold::support

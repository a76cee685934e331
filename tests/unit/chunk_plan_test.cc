// Plans before they are sent: ranges cut into chunks, and what a plan must not contain. And how a set is shown to
// people.
#include <gtest/gtest.h>

#include <limits>

#include "leasehold/chunk.h"
#include "model/bounds.h"
#include "support/results.h"

namespace leasehold::support {
namespace {

constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
constexpr auto highest = std::numeric_limits<std::int64_t>::max();

TEST(PlanRange, BothEndsAreIncludedAndTheLastChunkMayBeShorter) {
  const auto chunks = plan_range(1, 25, 10);
  ASSERT_TRUE(ok(chunks));
  ASSERT_EQ(chunks->size(), 3U);
  EXPECT_EQ(chunks->at(0).key, "1-10");
  EXPECT_EQ(chunks->at(0).spec, R"({"from":1,"to":10})");
  EXPECT_EQ(chunks->at(1).key, "11-20");
  EXPECT_EQ(chunks->at(2).key, "21-25");
  EXPECT_EQ(plan_range(1, 30, 10)->size(), 3U) << "nothing is left over";
  EXPECT_EQ(plan_range(-5, 5, 6)->at(1).key, "1-5");
  EXPECT_EQ(plan_range(7, 7, 100)->at(0).key, "7-7");
}

TEST(PlanRange, TheEndsOfAllNumbersDoNotOverflow) {
  const auto halves = plan_range(lowest, highest, highest);
  ASSERT_TRUE(ok(halves));
  ASSERT_EQ(halves->size(), 3U);
  EXPECT_EQ(halves->at(0).key, "-9223372036854775808--2");
  EXPECT_EQ(halves->at(1).key, "-1-9223372036854775805");
  EXPECT_EQ(halves->at(2).key, "9223372036854775806-9223372036854775807");
  EXPECT_EQ(plan_range(highest - 1, highest, 1)->size(), 2U);
}

TEST(PlanRange, NonsenseAndTooManyAreRefused) {
  EXPECT_TRUE(fails(plan_range(2, 1, 1), Errc::invalid_argument));
  EXPECT_TRUE(fails(plan_range(1, 2, 0), Errc::invalid_argument));
  EXPECT_TRUE(fails(plan_range(1, 2, -1), Errc::invalid_argument));
  EXPECT_TRUE(fails(plan_range(1, bounds::max_range_chunks + 1, 1), Errc::invalid_argument));
  EXPECT_TRUE(fails(plan_range(lowest, highest, 1), Errc::invalid_argument));
}

TEST(CheckPlan, AKeyThatComesTwiceIsNamed) {
  const std::vector<PlannedChunk> chunks = {{"b", "1"}, {"a", "1"}, {"b", "2"}};
  const auto refused = check_plan("orders", chunks, {});
  ASSERT_TRUE(fails(refused, Errc::invalid_argument));
  EXPECT_EQ(refused.error().message, R"(the plan has chunk "b" twice)");
}

TEST(CheckPlan, ASpecThatIsNotJsonIsNamed) {
  const std::vector<PlannedChunk> broken = {{"a", "{}"}, {"b", "{"}};
  const auto refused = check_plan("orders", broken, {});
  ASSERT_TRUE(fails(refused, Errc::invalid_argument));
  EXPECT_EQ(refused.error().message, R"(the spec of chunk "b" must be JSON: "{")");
  const std::vector<PlannedChunk> long_one = {{"a", '"' + std::string(bounds::chunk_json_bytes, 'x') + '"'}};
  EXPECT_TRUE(fails(check_plan("orders", long_one, {}), Errc::invalid_argument));
}

TEST(CheckSave, ACursorIsJsonAndRowsAreNotNegative) {
  EXPECT_TRUE(ok(check_chunk_save({})));
  EXPECT_TRUE(ok(check_chunk_save({.cursor = "null", .rows = 0})));
  EXPECT_TRUE(fails(check_chunk_save({.rows = -1}), Errc::invalid_argument));
  const auto refused = check_chunk_save({.cursor = "page 3"});
  ASSERT_TRUE(fails(refused, Errc::invalid_argument));
  EXPECT_EQ(refused.error().message, R"(the cursor must be JSON: "page 3")");
}

TEST(ChunkSet, OnlyThePartialStateShowsItsCounts) {
  ChunkSetInfo set;
  set.total = 42;
  set.completed = 38;
  set.skipped = 2;
  set.exhausted = 2;
  set.state = ChunkSetState::partial;
  EXPECT_EQ(set.summary(), "partial 40/42 (2 exhausted)");
  set.state = ChunkSetState::running;
  EXPECT_EQ(set.summary(), "running");
}

}  // namespace
}  // namespace leasehold::support

// Where a claim starts: at the head, unless its handle claims again and again.
#include "job/claim.h"

#include <gtest/gtest.h>

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using job::Position;
using job::Positions;

class PositionsTest : public ::testing::Test {
 protected:
  /// A claim as Jobs makes it, a millisecond after the last. True: it started at the head.
  bool claim(std::int64_t job_id) {
    now_ += 1ms;
    const bool from_head = !positions_.start("mail", now_);
    positions_.granted("mail", {.priority = 0, .job_id = job_id}, now_);
    return from_head;
  }
  void warm_up() {
    for (int i = 0; i <= Positions::claims_in_a_row; ++i) claim(i);
  }

  Positions positions_;
  BootTime now_{1h};
};

TEST_F(PositionsTest, OccasionalClaimsStartAtTheHead) {
  for (int i = 0; i < Positions::claims_in_a_row; ++i) EXPECT_TRUE(claim(i));
}

TEST_F(PositionsTest, ARowOfClaimsGoesOnWhereTheLastOneEnded) {
  warm_up();
  claim(41);
  const auto start = positions_.start("mail", now_);
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->job_id, 41);
  EXPECT_FALSE(positions_.start("video", now_).has_value()) << "each queue has its own";
}

TEST_F(PositionsTest, OnceASecondTheHeadIsLookedAt) {
  warm_up();
  int heads = 0;
  for (int i = 0; i < 3500; ++i) heads += claim(i) ? 1 : 0;
  EXPECT_EQ(heads, 3);
}

TEST_F(PositionsTest, ARefusalOrAPauseEndsTheRow) {
  warm_up();
  positions_.refused("mail");
  EXPECT_TRUE(claim(1));
  warm_up();
  now_ += 1100ms;
  EXPECT_TRUE(claim(2));
  EXPECT_TRUE(claim(3)) << "a new row has begun";
}

}  // namespace
}  // namespace leasehold::support

// Histories of locks that can have been, and those that cannot.
#include "history/story.h"

namespace leasehold::history {
namespace {

/// p1 has the lock from 15 to 515.
Story held_by_p1() { return Story("lock").did(1, 10, 20, "acquire", "", "ok token=100 at=15 expires=515"); }

/// The same, and p2 has taken it over at 600.
Story taken_over_by_p2() { return held_by_p1().did(2, 590, 610, "acquire", "", "ok token=200 at=600 expires=1100"); }

TEST(LockHistory, AcquireHeartbeatWriteReleaseIsFine) {
  EXPECT_TRUE(is_linearizable(held_by_p1()
                                  .did(1, 100, 110, "heartbeat", "token=100", "ok at=105 expires=605")
                                  .did(2, 200, 210, "acquire", "", "held token=100 holder=p1 at=205 expires=605")
                                  .did(1, 220, 230, "write", "token=100", "ok n=1")
                                  .did(1, 300, 310, "release", "token=100", "ok")
                                  .did(1, 320, 330, "release", "token=100", "ok")
                                  .did(2, 340, 350, "acquire", "", "ok token=101 at=345 expires=845")
                                  .did(2, 360, 370, "write", "token=101", "ok n=2")));
}

TEST(LockHistory, TakeoverAfterExpiryIsFineAndTheLateHolderIsLost) {
  EXPECT_TRUE(is_linearizable(taken_over_by_p2()
                                  .did(1, 620, 630, "heartbeat", "token=100", "lost why=superseded at=625")
                                  .did(1, 640, 650, "write", "token=100", "lost")
                                  .did(1, 660, 670, "release", "token=100", "lost why=superseded at=665")));
}

TEST(LockHistory, WritesAfterExpiryPassTheFenceUntilATakeover) {
  EXPECT_TRUE(is_linearizable(held_by_p1()
                                  .did(1, 550, 560, "write", "token=100", "ok n=1")
                                  .did(1, 570, 580, "heartbeat", "token=100", "lost why=expired at=575")
                                  .did(2, 590, 610, "acquire", "", "ok token=200 at=600 expires=1100")));
}

TEST(LockHistory, ConcurrentActsMayBePutInEitherOrder) {
  // The release began and ended later, but took effect first.
  EXPECT_TRUE(is_linearizable(held_by_p1()
                                  .did(2, 100, 200, "acquire", "", "ok token=101 at=150 expires=650")
                                  .did(1, 110, 210, "release", "token=100", "ok")));
}

TEST(LockHistory, ADeadProcessLosesItsLeaseAtOnce) {
  EXPECT_TRUE(is_linearizable(held_by_p1().dies(1).did(2, 100, 110, "acquire", "", "ok token=101 at=105 expires=605")));
}

TEST(LockHistory, AnAcquireWithoutAnswerExplainsWhyItIsHeld) {
  EXPECT_TRUE(is_linearizable(Story("lock")
                                  .did(1, 10, 20, "acquire", "", "in_doubt")
                                  .did(2, 30, 40, "acquire", "", "held token=100 holder=p1 at=35 expires=515")
                                  .did(2, 590, 610, "acquire", "", "ok token=200 at=600 expires=1100")));
}

TEST(LockHistory, AReleaseWithoutAnswerExplainsAnEarlyGrantOrNothing) {
  const auto doubtful = held_by_p1().did(1, 50, 60, "release", "token=100", "in_doubt");
  EXPECT_TRUE(is_linearizable(Story(doubtful).did(2, 100, 110, "acquire", "", "ok token=101 at=105 expires=605")));
  EXPECT_TRUE(is_linearizable(Story(doubtful).did(1, 100, 110, "write", "token=100", "ok n=1")));
}

TEST(LockHistory, TwoHoldersAtOnceAreFound) {
  EXPECT_TRUE(violates(held_by_p1().did(2, 100, 110, "acquire", "", "ok token=101 at=105 expires=605"),
                       "granted while it was held by p1 with token 100"));
}

TEST(LockHistory, AHeartbeatMovesTheEndThatATakeoverHasToWaitFor) {
  EXPECT_TRUE(violates(held_by_p1()
                           .did(1, 400, 410, "heartbeat", "token=100", "ok at=405 expires=905")
                           .did(2, 590, 610, "acquire", "", "ok token=200 at=600 expires=1100"),
                       "granted while it was held by p1"));
}

TEST(LockHistory, ATokenThatIsUsedAgainIsFound) {
  EXPECT_TRUE(violates(held_by_p1()
                           .did(1, 30, 40, "release", "token=100", "ok")
                           .did(2, 50, 60, "acquire", "", "ok token=100 at=55 expires=555"),
                       "granted with token 100, but token 100 was granted before"));
}

TEST(LockHistory, ATokenThatFallsIsFound) {
  EXPECT_TRUE(violates(held_by_p1().did(2, 590, 610, "acquire", "", "ok token=99 at=600 expires=1100"),
                       "granted with token 99, but token 100 was granted before"));
}

TEST(LockHistory, Promise05_AHeartbeatThatRevivesIsFound) {
  EXPECT_TRUE(violates(held_by_p1().did(1, 590, 610, "heartbeat", "token=100", "ok at=600 expires=1100"),
                       "a heartbeat revived a lease that had run out"));
}

TEST(LockHistory, Promise04_AHeartbeatWithAStaleTokenIsFound) {
  EXPECT_TRUE(violates(taken_over_by_p2().did(1, 620, 630, "heartbeat", "token=100", "ok at=625 expires=1125"),
                       "a heartbeat went through with a token that is not current"));
}

TEST(LockHistory, Promise14_AFenceThatLetsAStaleTokenPassIsFound) {
  EXPECT_TRUE(violates(taken_over_by_p2().did(1, 620, 630, "write", "token=100", "ok n=1"),
                       "the fence let token 100 pass, which was not current"));
}

TEST(LockHistory, Promise14_AFenceThatLetsAReleasedTokenPassIsFound) {
  EXPECT_TRUE(
      violates(held_by_p1().did(1, 30, 40, "release", "token=100", "ok").did(1, 50, 60, "write", "token=100", "ok n=1"),
               "the fence let token 100 pass"));
}

TEST(LockHistory, AWriteThatGotLostIsFound) {
  EXPECT_TRUE(violates(
      held_by_p1().did(1, 30, 40, "write", "token=100", "ok n=1").did(1, 50, 60, "write", "token=100", "ok n=1"),
      "it was write 1, but had to be write 2"));
}

TEST(LockHistory, AReleaseWithAStaleTokenThatFreesTheSuccessorIsFound) {
  EXPECT_TRUE(violates(taken_over_by_p2().did(1, 620, 630, "release", "token=100", "ok"),
                       "released with token 100, which was not current"));
}

TEST(LockHistory, Promise10_LostForACurrentTokenIsFound) {
  EXPECT_TRUE(violates(held_by_p1().did(1, 30, 40, "heartbeat", "token=100", "lost why=expired at=35"),
                       "reported lost although its token was current and its lease running"));
}

TEST(LockHistory, AHeldRefusalOfAFreeLockIsFound) {
  EXPECT_TRUE(violates(held_by_p1()
                           .did(1, 30, 40, "release", "token=100", "ok")
                           .did(2, 50, 60, "acquire", "", "held token=100 holder=p1 at=55 expires=515"),
                       "refused as held although it was free"));
}

TEST(LockHistory, AReleaseThatWasAcknowledgedAndForgottenIsFound) {
  EXPECT_TRUE(violates(held_by_p1()
                           .did(1, 30, 40, "release", "token=100", "ok")
                           .did(-1, 50, 60, "read", "", "ok token=100 state=running at=55"),
                       "it is held, but was never granted"));
}

TEST(LockHistory, AnEarlierCallCannotTakeEffectLater) {
  // It would be fine if the write had come before the release.
  EXPECT_TRUE(violates(
      held_by_p1().did(1, 30, 40, "write", "token=100", "ok n=2").did(1, 50, 60, "write", "token=100", "ok n=1"),
      "it was write 2, but had to be write 1"));
}

TEST(LockHistory, DoubtDoesNotExcuseATakeoverBeforeExpiry) {
  // However p2's acquire ended: at 110 p1's lease was running.
  EXPECT_TRUE(
      violates(held_by_p1().did(2, 50, 60, "acquire", "", "in_doubt").did(1, 100, 110, "write", "token=100", "lost"),
               "reported lost although its token was current"));
}

TEST(LockHistory, TheVerdictIsUndecidedWhenThereAreTooManyOrders) {
  Story story("lock");
  for (int p = 1; p <= 12; ++p) story.did(p, 10, 20, "acquire", "", "in_doubt");
  story.did(13, 30, 40, "write", "token=7", "ok n=1");
  EXPECT_EQ(check(story.history(), 4).verdict(), Verdict::undecided);
}

}  // namespace
}  // namespace leasehold::history

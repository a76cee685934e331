// Histories of jobs, chunks and claimed items that can have been, and those that cannot.
#include "history/story.h"

namespace leasehold::history {
namespace {

Story enqueued() { return Story("job").did(0, 1, 5, "enqueue", "", "ok id=7"); }

Story claimed_by_p1() { return enqueued().did(1, 10, 20, "claim", "", "ok token=100 attempt=1 at=15 expires=515"); }

Story reclaimed_by_p2() {
  return claimed_by_p1().did(2, 590, 610, "claim", "", "ok token=200 attempt=2 at=600 expires=1100");
}

TEST(JobHistory, EachAttemptHasOneOutcome) {
  EXPECT_TRUE(is_linearizable(claimed_by_p1()
                                  .did(1, 30, 40, "fail", "token=100", "ok state=available replayed=0")
                                  .did(2, 50, 60, "claim", "", "ok token=101 attempt=2 at=55 expires=555")
                                  .did(1, 62, 64, "fail", "token=100", "ok state=available replayed=1")
                                  .did(1, 66, 68, "complete", "token=100", "lost why=superseded")
                                  .did(2, 70, 80, "complete", "token=101", "ok state=completed replayed=0")
                                  .did(2, 90, 95, "complete", "token=101", "ok state=completed replayed=1")
                                  .did(-1, 100, 110, "read", "", "ok state=completed")));
}

TEST(JobHistory, ACompleteWithoutAnswerMayHaveHappenedOrNot) {
  const auto doubtful = claimed_by_p1().did(1, 30, 40, "complete", "token=100", "in_doubt");
  EXPECT_TRUE(is_linearizable(Story(doubtful).did(-1, 100, 110, "read", "", "ok state=completed")));
  EXPECT_TRUE(is_linearizable(Story(doubtful).did(-1, 100, 110, "read", "", "ok state=running")));
  EXPECT_TRUE(is_linearizable(Story(doubtful).did(1, 50, 60, "complete", "token=100", "ok replayed=1")));
}

TEST(JobHistory, AClaimWithoutAnswerExplainsAnUnknownAttempt) {
  const auto third = [](Story story) {
    return story.did(2, 590, 610, "claim", "", "ok token=300 attempt=3 at=600 expires=1100");
  };
  const auto released = claimed_by_p1().did(1, 30, 40, "release", "token=100", "ok replayed=0");
  EXPECT_TRUE(is_linearizable(third(Story(released).did_to("job", "queue", 3, 45, 46, "claim", "", ""))));
  EXPECT_TRUE(violates(third(released), "granted as attempt 3 after attempt 1, and those between were not granted"));
}

TEST(JobHistory, ADoubleGrantIsFound) {
  EXPECT_TRUE(violates(claimed_by_p1().did(2, 100, 110, "claim", "", "ok token=101 attempt=2 at=105 expires=605"),
                       "granted while it was held by p1 with token 100"));
}

TEST(JobHistory, Promise04_AStaleCompleteThatIsAcceptedIsFound) {
  EXPECT_TRUE(violates(reclaimed_by_p2().did(1, 620, 630, "complete", "token=100", "ok replayed=0"),
                       "accepted with token 100, which was not current"));
}

TEST(JobHistory, ACompleteThatWasNeverSentIsNoRepetition) {
  EXPECT_TRUE(violates(reclaimed_by_p2().did(1, 620, 630, "complete", "token=100", "ok replayed=1"),
                       "accepted with token 100, which was not current"));
}

TEST(JobHistory, Promise08_ACompletedJobThatIsGrantedAgainIsFound) {
  EXPECT_TRUE(violates(claimed_by_p1()
                           .did(1, 30, 40, "complete", "token=100", "ok replayed=0")
                           .did(2, 590, 610, "claim", "", "ok token=200 attempt=2 at=600 expires=1100"),
                       "granted although it was completed"));
}

TEST(JobHistory, AnAcknowledgedCompleteThatGotLostIsFound) {
  EXPECT_TRUE(violates(claimed_by_p1()
                           .did(1, 30, 40, "complete", "token=100", "ok replayed=0")
                           .did(-1, 100, 110, "read", "", "ok state=available"),
                       "an acknowledged complete got lost"));
}

TEST(JobHistory, AnAcknowledgedEnqueueThatGotLostIsFound) {
  EXPECT_TRUE(violates(enqueued().did(-1, 100, 110, "read", "", "not_found"), "an acknowledged enqueue got lost"));
}

TEST(JobHistory, ACompleteThatIsRefusedToItsHolderIsFound) {
  EXPECT_TRUE(violates(claimed_by_p1().did(1, 30, 40, "complete", "token=100", "lost why=expired"),
                       "reported lost although its token was current"));
}

Story chunk_saved_by_p1() {
  return Story("chunk")
      .did(1, 10, 20, "claim", "", "ok token=100 at=15 expires=515")
      .did(1, 30, 40, "save", "token=100 cursor=7", "ok at=35 expires=535");
}

TEST(ChunkHistory, TheNextHolderGetsTheCursor) {
  EXPECT_TRUE(is_linearizable(chunk_saved_by_p1()
                                  .did(2, 590, 610, "claim", "", "ok token=200 cursor=7 at=600 expires=1100")
                                  .did(1, 620, 630, "save", "token=100 cursor=8", "lost why=superseded at=625")
                                  .did(2, 640, 650, "complete", "token=200", "ok replayed=0")
                                  .did(1, 660, 670, "claim", "", "terminal")
                                  .did(-1, 700, 710, "read", "", "ok state=completed cursor=7")));
}

TEST(ChunkHistory, ASaveWithoutAnswerMayBeTheCursorOrNot) {
  const auto doubtful = chunk_saved_by_p1().did(1, 50, 60, "save", "token=100 cursor=8", "in_doubt");
  for (const auto* cursor : {"7", "8"}) {
    const auto reported = std::string("ok token=300 at=700 expires=1200 cursor=") + cursor;
    EXPECT_TRUE(is_linearizable(Story(doubtful).did(2, 690, 710, "claim", "", reported)));
  }
}

TEST(ChunkHistory, AnAcknowledgedSaveThatGotLostIsFound) {
  EXPECT_TRUE(violates(chunk_saved_by_p1().did(2, 590, 610, "claim", "", "ok token=200 at=600 expires=1100"),
                       R"(granted with cursor "", but "7" was saved)"));
}

TEST(ChunkHistory, ALateSaveThatIsAcceptedIsFound) {
  EXPECT_TRUE(violates(chunk_saved_by_p1()
                           .did(2, 590, 610, "claim", "", "ok token=200 cursor=7 at=600 expires=1100")
                           .did(1, 620, 630, "save", "token=100 cursor=8", "ok at=625 expires=1125"),
                       "a heartbeat went through with a token that is not current"));
}

TEST(ChunkHistory, AChunkThatIsFinalWithoutAVerdictIsFound) {
  EXPECT_TRUE(violates(chunk_saved_by_p1().did(2, 50, 60, "claim", "", "terminal"),
                       "reported terminal although no process completed it"));
}

/// Session a of p1 lives from 15 to 515 and takes the item.
Story item_of_a() {
  return Story("item")
      .did_to("session", "a", 1, 10, 20, "open", "", "ok token=50 at=15 expires=515")
      .did_to("session", "b", 2, 10, 20, "open", "", "ok token=51 at=15 expires=2015")
      .did(1, 30, 40, "take", "session=a", "ok token=100 at=35 expires=515");
}

TEST(ItemHistory, TheItemOfAStaleSessionIsTakenAndTheLateOneIsLost) {
  EXPECT_TRUE(is_linearizable(item_of_a()
                                  .did(2, 50, 60, "take", "session=b", "held token=100 session=a at=55 expires=515")
                                  .did(2, 590, 610, "take", "session=b", "ok token=200 at=600 expires=2015")
                                  .did(1, 620, 630, "release", "session=a token=100", "lost why=expired")));
}

TEST(ItemHistory, ClosingASessionFreesItsItems) {
  EXPECT_TRUE(is_linearizable(item_of_a()
                                  .did_to("session", "a", 1, 50, 60, "close", "token=50", "ok")
                                  .did(2, 70, 80, "take", "session=b", "ok token=101 at=75 expires=2015")
                                  .did(1, 90, 95, "release", "session=a token=100", "ok")));
}

TEST(ItemHistory, TwoOwnersAtOnceAreFound) {
  EXPECT_TRUE(violates(item_of_a().did(2, 100, 110, "take", "session=b", "ok token=101 at=105 expires=2015"),
                       "granted while it was held by a with token 100"));
}

TEST(ItemHistory, ASessionThatHeartbeatsKeepsItsItem) {
  EXPECT_TRUE(violates(item_of_a()
                           .did_to("session", "a", 1, 400, 410, "heartbeat", "token=50", "ok at=405 expires=905")
                           .did(2, 590, 610, "take", "session=b", "ok token=200 at=600 expires=2015"),
                       "granted while it was held by a"));
}

TEST(ItemHistory, AStaleReleaseThatIsAcceptedIsFound) {
  EXPECT_TRUE(violates(item_of_a()
                           .did(2, 590, 610, "take", "session=b", "ok token=200 at=600 expires=2015")
                           .did(1, 620, 630, "release", "session=a token=100", "ok"),
                       "released with token 100, which was not current"));
}

TEST(ItemHistory, Promise08_AnItemForASessionThatIsOverIsFound) {
  EXPECT_TRUE(violates(Story("item")
                           .did_to("session", "a", 1, 10, 20, "open", "", "ok token=50 at=15 expires=515")
                           .did(1, 590, 610, "take", "session=a", "ok token=100 at=600 expires=515"),
                       "given to a session whose time had run out"));
}

}  // namespace
}  // namespace leasehold::history

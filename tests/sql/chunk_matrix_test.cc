// Waits about chunks: the lock matrix of docs/semantics.md, pair by pair. Alice does the first thing in a
// transaction that stays open, bob the second. Chunks a and b are held under one loader's lease, c under that of a
// claim, and d waits.
#include <gtest/gtest.h>

#include <map>

#include "sql/matrix_fixture.h"

namespace leasehold::support {
namespace {

std::map<std::string, std::string> chunk_acts() {
  return {
      {"claim", "concat_ws(' ', outcome, key) FROM leasehold_internal.chunk_claim('s', p_holder => 'carol')"},
      {"claim a", "concat_ws(' ', outcome, key) FROM leasehold_internal.chunk_claim('s', 'a', p_holder => 'carol')"},
      {"attach",
       "concat_ws(' ', outcome, why) FROM leasehold_internal.chunk_claim('s', p_attach => LEASE, p_instance => 'i')"},
      {"save",
       "concat_ws(' ', outcome, why) FROM leasehold_internal.chunk_heartbeat('s', 'a', TOKEN, p_cursor => '1', p_rows "
       "=> "
       "1)"},
      {"save own", "concat_ws(' ', outcome, why) FROM leasehold_internal.chunk_heartbeat('s', 'c', OWN, p_rows => 1)"},
      {"complete", "concat_ws(' ', outcome, why) FROM leasehold_internal.chunk_settle('s', 'a', TOKEN, 'complete')"},
      {"complete other",
       "concat_ws(' ', outcome, why) FROM leasehold_internal.chunk_settle('s', 'b', OTHER, 'complete')"},
      {"complete own", "concat_ws(' ', outcome, why) FROM leasehold_internal.chunk_settle('s', 'c', OWN, 'complete')"},
      {"fail", "concat_ws(' ', outcome, why) FROM leasehold_internal.chunk_settle('s', 'a', TOKEN, 'fail')"},
      {"fence", "'passed' FROM leasehold_internal.chunk_fence('s', 'a', TOKEN)"},
      {"extend", "concat_ws(' ', outcome, why) FROM leasehold_internal.loader_extend(LEASE, 'i')"},
      {"close", "outcome || ' ' || chunks FROM leasehold_internal.loader_close(LEASE, 'i')"},
      {"recover", "chunks FROM leasehold_internal.recover()"},
      {"plan",
       "'kept ' || kept || ' left ' || left_alone FROM leasehold_internal.chunk_plan('s', '{a,b,c,d}', '{1,2,3,4}', "
       "'2')"},
      {"replan",
       "'replaced ' || replaced || ' left ' || left_alone FROM leasehold_internal.chunk_plan('s', '{d}', '{44}', '2')"},
      {"add", "'added ' || added FROM leasehold_internal.chunk_plan('s', '{e}', '{5}')"},
      {"reset", "'reset ' || reset || ' running ' || running FROM leasehold_internal.chunk_reset('s', 'all')"},
      {"skip", "outcome FROM leasehold_internal.chunk_skip_open('s', 'd', 'why')"},
      {"remove", "outcome FROM leasehold_internal.chunk_set_remove('s')"},
      {"claim t", "concat_ws(' ', outcome, key) FROM leasehold_internal.chunk_claim('t', p_holder => 'carol')"},
      {"remove t", "outcome FROM leasehold_internal.chunk_set_remove('t', 1)"},
      {"show", "state FROM leasehold_internal.chunk_list('s', 'a')"},
  };
}

class ChunkMatrixTest : public MatrixTest {
 protected:
  ChunkMatrixTest() : MatrixTest(chunk_acts()) {}

  void SetUp() override {
    observer_.run(here("SELECT leasehold_internal.chunk_plan('s', '{a,b,c,d}', '{1,2,3,4}')"));
    // Of this set nothing is held.
    observer_.run(here("SELECT leasehold_internal.chunk_plan('t', '{a,b}', '{1,2}')"));
    words_["LEASE"] = observer_.scalar(
        here("SELECT lease_id FROM leasehold_internal.loader_open('alice', interval '30 seconds', p_instance => 'i')"));
    words_["TOKEN"] = claimed("'a', p_attach => LEASE, p_instance => 'i'");
    words_["OTHER"] = claimed("'b', p_attach => LEASE, p_instance => 'i'");
    words_["OWN"] = claimed("'c', p_ttl => interval '30 seconds'");
  }
  std::string claimed(const std::string& how) {
    return observer_.scalar(filled("token FROM leasehold_internal.chunk_claim('s', " + how + ")"));
  }
  /// No chunk refers to a lease that has ended, and no final chunk is held.
  void expect_sound() override {
    EXPECT_EQ(observer_.scalar(
                  here("SELECT count(*) FROM leasehold_internal.chunk AS c LEFT JOIN leasehold_internal.lease AS l ON "
                       "l.id = c.lease_id WHERE c.lease_id IS NOT NULL AND (l.id IS NULL OR "
                       "l.ended_at IS NOT NULL OR c.final IS NOT NULL)")),
              "0");
  }
};

TEST_P(ChunkMatrixTest, EachPairWaitsOrPassesAsPromised) { expect_as_promised(); }

TEST_P(ChunkMatrixTest, ARolledBackActLeavesNoTrace) { expect_sound_after_rollback(); }

INSTANTIATE_TEST_SUITE_P(
    Living, ChunkMatrixTest,
    ::testing::Values(Pair{"ClaimThenClaim", "claim", "claim", Bob::passes, "busy"},
                      Pair{"ClaimThenSave", "claim", "save", Bob::passes, "extended"},
                      Pair{"ClaimThenSkip", "claim", "skip", Bob::waits, "held"},
                      Pair{"AttachThenSave", "attach", "save", Bob::passes, "extended"},
                      Pair{"AttachThenComplete", "attach", "complete", Bob::passes, "settled"},
                      Pair{"AttachThenClose", "attach", "close", Bob::waits, "closed 3"},
                      Pair{"SaveThenSave", "save", "save", Bob::waits, "extended"},
                      Pair{"SaveThenComplete", "save", "complete", Bob::waits, "settled"},
                      Pair{"SaveThenCompleteOther", "save", "complete other", Bob::passes, "settled"},
                      Pair{"SaveThenFence", "save", "fence", Bob::passes, "passed"},
                      Pair{"SaveThenAttach", "save", "attach", Bob::passes, "granted"},
                      Pair{"SaveThenClose", "save", "close", Bob::waits, "closed 2"},
                      Pair{"SaveOwnThenCompleteOwn", "save own", "complete own", Bob::waits, "settled"},
                      Pair{"FenceThenFence", "fence", "fence", Bob::passes, "passed"},
                      Pair{"FenceThenSave", "fence", "save", Bob::passes, "extended"},
                      Pair{"FenceThenExtend", "fence", "extend", Bob::passes, "extended"},
                      Pair{"FenceThenComplete", "fence", "complete", Bob::waits, "settled"},
                      Pair{"FenceThenClose", "fence", "close", Bob::waits, "closed 2"},
                      Pair{"CompleteThenComplete", "complete", "complete", Bob::waits, "settled"},
                      Pair{"CompleteThenFail", "complete", "fail", Bob::waits, "lost finished"},
                      Pair{"CompleteThenSave", "complete", "save", Bob::waits, "lost finished"},
                      Pair{"CompleteThenFence", "complete", "fence", Bob::waits, "LH001"},
                      Pair{"CompleteThenCompleteOther", "complete", "complete other", Bob::passes, "settled"},
                      Pair{"CompleteThenExtend", "complete", "extend", Bob::passes, "extended"},
                      Pair{"CompleteThenClose", "complete", "close", Bob::waits, "closed 1"},
                      Pair{"CompleteThenShow", "complete", "show", Bob::passes, "running"},
                      Pair{"CompleteOwnThenCompleteOwn", "complete own", "complete own", Bob::waits, "settled"},
                      Pair{"CompleteOwnThenSaveOwn", "complete own", "save own", Bob::waits, "lost finished"}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Plans, ChunkMatrixTest,
    ::testing::Values(Pair{"ClaimThenPlan", "claim", "plan", Bob::waits, "kept 4 left 0"},
                      Pair{"ClaimThenReplan", "claim", "replan", Bob::waits, "replaced 0 left 4"},
                      Pair{"ClaimThenAdd", "claim", "add", Bob::passes, "added 1"},
                      Pair{"ClaimThenReset", "claim", "reset", Bob::waits, "reset 0 running 4"},
                      Pair{"ClaimThenRemove", "claim", "remove", Bob::waits, "held"},
                      Pair{"ClaimThenRemoveOfAFreeSet", "claim t", "remove t", Bob::waits, "held"},
                      Pair{"RemoveThenClaim", "remove t", "claim t", Bob::waits, "not_found"},
                      Pair{"RemoveThenRemove", "remove t", "remove t", Bob::waits, "not_found"},
                      Pair{"PlanThenClaim", "plan", "claim", Bob::passes, "busy"},
                      Pair{"AddThenClaim", "add", "claim", Bob::passes, "granted d"},
                      Pair{"PlanThenSave", "plan", "save", Bob::waits, "extended"},
                      Pair{"PlanThenComplete", "plan", "complete", Bob::waits, "settled"},
                      Pair{"PlanThenPlan", "plan", "plan", Bob::waits, "kept 4 left 0"},
                      Pair{"CompleteThenPlan", "complete", "plan", Bob::waits, "kept 4 left 0"},
                      Pair{"ResetThenClaim", "reset", "claim", Bob::passes, "busy"},
                      Pair{"ResetThenSave", "reset", "save", Bob::passes, "extended"},
                      Pair{"ResetThenComplete", "reset", "complete", Bob::passes, "settled"},
                      Pair{"SkipThenClaim", "skip", "claim", Bob::passes, "busy"},
                      Pair{"PlanThenTakeover", "plan", "claim a", Bob::passes, "busy", Expiry::before_alice},
                      Pair{"TakeoverThenPlan", "claim a", "plan", Bob::waits, "kept 4 left 0", Expiry::before_alice}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Endings, ChunkMatrixTest,
    ::testing::Values(
        Pair{"CloseThenSave", "close", "save", Bob::waits, "lost expired"},
        Pair{"CloseThenComplete", "close", "complete", Bob::waits, "lost expired"},
        Pair{"CloseThenFence", "close", "fence", Bob::waits, "LH001"},
        Pair{"CloseThenAttach", "close", "attach", Bob::waits, "lost finished"},
        Pair{"CloseThenClose", "close", "close", Bob::waits, "closed 0"},
        Pair{"FenceThenTakeover", "fence", "claim a", Bob::passes, "busy", Expiry::after_alice},
        Pair{"SaveThenTakeover", "save", "claim a", Bob::passes, "busy", Expiry::after_alice},
        Pair{"CompleteThenTakeover", "complete", "claim a", Bob::passes, "busy", Expiry::before_alice},
        Pair{"TakeoverThenSave", "claim a", "save", Bob::waits, "lost superseded", Expiry::before_alice},
        Pair{"TakeoverThenComplete", "claim a", "complete", Bob::waits, "lost superseded", Expiry::before_alice},
        Pair{"TakeoverThenCompleteOther", "claim a", "complete other", Bob::waits, "lost expired",
             Expiry::before_alice},
        Pair{"TakeoverThenFence", "claim a", "fence", Bob::waits, "LH001", Expiry::before_alice},
        Pair{"TakeoverThenTakeover", "claim a", "claim a", Bob::passes, "busy", Expiry::before_alice},
        Pair{"TakeoverThenClaim", "claim a", "claim", Bob::passes, "granted d", Expiry::before_alice},
        Pair{"TakeoverThenRecover", "claim a", "recover", Bob::passes, "0", Expiry::before_alice},
        Pair{"RecoverThenSave", "recover", "save", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"RecoverThenComplete", "recover", "complete", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"RecoverThenRecover", "recover", "recover", Bob::passes, "0", Expiry::before_alice}),
    pair_name);

/// Two loaders with one chunk each, and a job that waits for both.
class ChunkJobMatrixTest : public SqlTest {
 protected:
  void SetUp() override {
    observer_.run(here("SELECT leasehold_internal.chunk_plan('s', '{a,b}', '{1,2}')"));
    job_ = observer_.scalar(here("SELECT id FROM leasehold_internal.job_enqueue('q', '')"));
    for (const std::string key : {"a", "b"}) {
      tokens_[key] = observer_.scalar(here("SELECT token FROM leasehold_internal.chunk_claim('s', '" + key + "')"));
    }
  }
  std::string complete(const std::string& key) {
    return here("SELECT set_state FROM leasehold_internal.chunk_settle('s', '" + key + "', " + tokens_.at(key) +
                ", 'complete')");
  }
  std::string tie() { return here("SELECT state FROM leasehold_internal.chunk_tie_job('s', " + job_ + ")"); }
  std::string job_state() {
    return observer_.scalar(here("SELECT state FROM leasehold_internal.job_show(" + job_ + ")"));
  }

  std::string job_;
  std::map<std::string, std::string> tokens_;
};

TEST_F(ChunkJobMatrixTest, OfTwoLastVerdictsTheSecondSettlesTheJob) {
  observer_.run(tie());
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(complete("a")), "running");
  bob_.send(complete("b"));
  EXPECT_TRUE(bob_.waits(observer_));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "complete");
  EXPECT_EQ(job_state(), "completed");
}

TEST_F(ChunkJobMatrixTest, IfTheFirstRolledBackTheJobWaitsOn) {
  observer_.run(tie());
  alice_.run("BEGIN");
  alice_.run(complete("a"));
  bob_.send(complete("b"));
  EXPECT_TRUE(bob_.waits(observer_));
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "running");
  EXPECT_EQ(job_state(), "blocked");
  EXPECT_EQ(alice_.scalar(complete("a")), "complete");
  EXPECT_EQ(job_state(), "completed");
}

TEST_F(ChunkJobMatrixTest, AVerdictThatIsOnItsWayIsCountedByTheOneWhoTies) {
  observer_.run(complete("b"));
  alice_.run("BEGIN");
  alice_.run(complete("a"));
  bob_.send(tie());
  EXPECT_TRUE(bob_.waits(observer_));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "completed");
}

TEST_F(ChunkJobMatrixTest, AVerdictThatMetATieSettlesTheJob) {
  observer_.run(complete("b"));
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(tie()), "blocked");
  bob_.send(complete("a"));
  EXPECT_TRUE(bob_.waits(observer_));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "complete");
  EXPECT_EQ(job_state(), "completed");
}

}  // namespace
}  // namespace leasehold::support

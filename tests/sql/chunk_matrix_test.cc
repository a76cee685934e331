// Who waits for whom about chunks: the lock matrix of docs/semantics.md, pair by pair. Alice does the first thing in a
// transaction that stays open, bob the second. Chunks a and b are held under one loader's lease, c under that of a
// claim, and d waits.
#include <gtest/gtest.h>

#include <map>

#include "sql/matrix_fixture.h"

namespace leasehold::support {
namespace {

struct ChunkPair {
  const char* name;
  const char* first;   ///< an act of alice
  const char* second;  ///< an act of bob
  Bob bob;
  const char* told;  ///< what bob is told in the end
  Expiry expiry = Expiry::never;
};

/// For gtest: how a parameter looks in the name of a test.
void PrintTo(const ChunkPair& pair, std::ostream* out) { *out << pair.name; }

const std::map<std::string, std::string>& acts() {
  static const std::map<std::string, std::string> all = {
      {"claim", "concat_ws(' ', outcome, key) FROM leasehold.chunk_claim('s', holder => 'carol')"},
      {"claim a", "concat_ws(' ', outcome, key) FROM leasehold.chunk_claim('s', 'a', holder => 'carol')"},
      {"attach", "concat_ws(' ', outcome, why) FROM leasehold.chunk_claim('s', attach => LEASE, instance => 'i')"},
      {"save",
       "concat_ws(' ', outcome, why) FROM leasehold.chunk_heartbeat('s', 'a', TOKEN, cursor => '1', rows => 1)"},
      {"save own", "concat_ws(' ', outcome, why) FROM leasehold.chunk_heartbeat('s', 'c', OWN, rows => 1)"},
      {"complete", "concat_ws(' ', outcome, why) FROM leasehold.chunk_complete('s', 'a', TOKEN)"},
      {"complete other", "concat_ws(' ', outcome, why) FROM leasehold.chunk_complete('s', 'b', OTHER)"},
      {"complete own", "concat_ws(' ', outcome, why) FROM leasehold.chunk_complete('s', 'c', OWN)"},
      {"fail", "concat_ws(' ', outcome, why) FROM leasehold.chunk_fail('s', 'a', TOKEN)"},
      {"fence", "'passed' FROM leasehold.chunk_fence('s', 'a', TOKEN)"},
      {"extend", "concat_ws(' ', outcome, why) FROM leasehold.loader_extend(LEASE, 'i')"},
      {"close", "outcome || ' ' || chunks FROM leasehold.loader_close(LEASE, 'i')"},
      {"recover", "chunks FROM leasehold.recover()"},
      {"plan",
       "'kept ' || kept || ' left ' || left_alone FROM leasehold.chunk_plan('s', '{a,b,c,d}', '{1,2,3,4}', '2')"},
      {"replan",
       "'replaced ' || replaced || ' left ' || left_alone FROM leasehold.chunk_plan('s', '{d}', '{44}', '2')"},
      {"add", "'added ' || added FROM leasehold.chunk_plan('s', '{e}', '{5}')"},
      {"reset", "'reset ' || reset || ' running ' || running FROM leasehold.chunk_reset('s', 'all')"},
      {"skip", "outcome FROM leasehold.chunk_skip_open('s', 'd', 'why')"},
      {"remove", "outcome FROM leasehold.chunk_set_remove('s')"},
      {"show", "state FROM leasehold.chunk_list('s', 'a')"},
  };
  return all;
}

class ChunkMatrixTest : public SqlTest, public ::testing::WithParamInterface<ChunkPair> {
 protected:
  void SetUp() override {
    observer_.run(here("SELECT leasehold.chunk_plan('s', '{a,b,c,d}', '{1,2,3,4}')"));
    words_["LEASE"] = observer_.scalar(
        here("SELECT lease_id FROM leasehold.loader_open('alice', interval '30 seconds', instance => 'i')"));
    words_["TOKEN"] = claimed("'a', attach => LEASE, instance => 'i'");
    words_["OTHER"] = claimed("'b', attach => LEASE, instance => 'i'");
    words_["OWN"] = claimed("'c', ttl => interval '30 seconds'");
  }
  std::string claimed(const std::string& how) {
    return observer_.scalar(filled("token FROM leasehold.chunk_claim('s', " + how + ")"));
  }
  std::string filled(const std::string& act) {
    auto sql = here("SELECT " + act);
    for (const auto& [word, value] : words_) {
      for (auto at = sql.find(word); at != std::string::npos; at = sql.find(word)) sql.replace(at, word.size(), value);
    }
    return sql;
  }

  /// Alice's act in a transaction that stays open, then bob's. Whether he waits.
  bool meet(const ChunkPair& pair) {
    if (pair.expiry == Expiry::before_alice) store_.advance(31s);
    alice_.run("BEGIN");
    alice_.run(filled(acts().at(pair.first)));
    if (pair.expiry == Expiry::after_alice) store_.advance(31s);
    bob_.send(filled(acts().at(pair.second)));
    return bob_.waits(observer_);
  }
  /// Nothing hangs on a lease that has ended, and what is final is not held.
  void expect_nothing_lost() {
    EXPECT_EQ(observer_.scalar(here("SELECT count(*) FROM leasehold.chunk AS c LEFT JOIN leasehold.lease AS l ON "
                                    "l.id = c.lease_id WHERE c.lease_id IS NOT NULL AND (l.id IS NULL OR "
                                    "l.ended_at IS NOT NULL OR c.final IS NOT NULL)")),
              "0");
  }

  std::map<std::string, std::string> words_;
};

TEST_P(ChunkMatrixTest, EachPairWaitsOrPassesAsPromised) {
  const auto& pair = GetParam();
  EXPECT_EQ(meet(pair), pair.bob == Bob::waits);
  alice_.run("COMMIT");
  EXPECT_EQ(told(bob_), pair.told);
  expect_nothing_lost();
}

TEST_P(ChunkMatrixTest, WhatRolledBackIsAsIfItHadNeverBeen) {
  meet(GetParam());
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.outcome().state, "");
  expect_nothing_lost();
}

std::string pair_name(const ::testing::TestParamInfo<ChunkPair>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Living, ChunkMatrixTest,
    ::testing::Values(ChunkPair{"ClaimThenClaim", "claim", "claim", Bob::passes, "busy"},
                      ChunkPair{"ClaimThenSave", "claim", "save", Bob::passes, "extended"},
                      ChunkPair{"ClaimThenSkip", "claim", "skip", Bob::waits, "held"},
                      ChunkPair{"AttachThenSave", "attach", "save", Bob::passes, "extended"},
                      ChunkPair{"AttachThenComplete", "attach", "complete", Bob::passes, "settled"},
                      ChunkPair{"AttachThenClose", "attach", "close", Bob::waits, "closed 3"},
                      ChunkPair{"SaveThenSave", "save", "save", Bob::waits, "extended"},
                      ChunkPair{"SaveThenComplete", "save", "complete", Bob::waits, "settled"},
                      ChunkPair{"SaveThenCompleteOther", "save", "complete other", Bob::passes, "settled"},
                      ChunkPair{"SaveThenFence", "save", "fence", Bob::passes, "passed"},
                      ChunkPair{"SaveThenAttach", "save", "attach", Bob::passes, "granted"},
                      ChunkPair{"SaveThenClose", "save", "close", Bob::waits, "closed 2"},
                      ChunkPair{"SaveOwnThenCompleteOwn", "save own", "complete own", Bob::waits, "settled"},
                      ChunkPair{"FenceThenFence", "fence", "fence", Bob::passes, "passed"},
                      ChunkPair{"FenceThenSave", "fence", "save", Bob::passes, "extended"},
                      ChunkPair{"FenceThenExtend", "fence", "extend", Bob::passes, "extended"},
                      ChunkPair{"FenceThenComplete", "fence", "complete", Bob::waits, "settled"},
                      ChunkPair{"FenceThenClose", "fence", "close", Bob::waits, "closed 2"},
                      ChunkPair{"CompleteThenComplete", "complete", "complete", Bob::waits, "settled"},
                      ChunkPair{"CompleteThenFail", "complete", "fail", Bob::waits, "lost finished"},
                      ChunkPair{"CompleteThenSave", "complete", "save", Bob::waits, "lost finished"},
                      ChunkPair{"CompleteThenFence", "complete", "fence", Bob::waits, "LH001"},
                      ChunkPair{"CompleteThenCompleteOther", "complete", "complete other", Bob::passes, "settled"},
                      ChunkPair{"CompleteThenExtend", "complete", "extend", Bob::passes, "extended"},
                      ChunkPair{"CompleteThenClose", "complete", "close", Bob::waits, "closed 1"},
                      ChunkPair{"CompleteThenShow", "complete", "show", Bob::passes, "running"},
                      ChunkPair{"CompleteOwnThenCompleteOwn", "complete own", "complete own", Bob::waits, "settled"},
                      ChunkPair{"CompleteOwnThenSaveOwn", "complete own", "save own", Bob::waits, "lost finished"}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Plans, ChunkMatrixTest,
    ::testing::Values(ChunkPair{"ClaimThenPlan", "claim", "plan", Bob::waits, "kept 4 left 0"},
                      ChunkPair{"ClaimThenReplan", "claim", "replan", Bob::waits, "replaced 0 left 4"},
                      ChunkPair{"ClaimThenAdd", "claim", "add", Bob::passes, "added 1"},
                      ChunkPair{"ClaimThenReset", "claim", "reset", Bob::waits, "reset 0 running 4"},
                      ChunkPair{"ClaimThenRemove", "claim", "remove", Bob::waits, "held"},
                      ChunkPair{"PlanThenClaim", "plan", "claim", Bob::passes, "busy"},
                      ChunkPair{"AddThenClaim", "add", "claim", Bob::passes, "granted d"},
                      ChunkPair{"PlanThenSave", "plan", "save", Bob::waits, "extended"},
                      ChunkPair{"PlanThenComplete", "plan", "complete", Bob::waits, "settled"},
                      ChunkPair{"PlanThenPlan", "plan", "plan", Bob::waits, "kept 4 left 0"},
                      ChunkPair{"CompleteThenPlan", "complete", "plan", Bob::waits, "kept 4 left 0"},
                      ChunkPair{"ResetThenClaim", "reset", "claim", Bob::passes, "busy"},
                      ChunkPair{"ResetThenSave", "reset", "save", Bob::passes, "extended"},
                      ChunkPair{"ResetThenComplete", "reset", "complete", Bob::passes, "settled"},
                      ChunkPair{"SkipThenClaim", "skip", "claim", Bob::passes, "busy"},
                      ChunkPair{"PlanThenTakeover", "plan", "claim a", Bob::passes, "busy", Expiry::before_alice},
                      ChunkPair{"TakeoverThenPlan", "claim a", "plan", Bob::waits, "kept 4 left 0",
                                Expiry::before_alice}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Endings, ChunkMatrixTest,
    ::testing::Values(
        ChunkPair{"CloseThenSave", "close", "save", Bob::waits, "lost expired"},
        ChunkPair{"CloseThenComplete", "close", "complete", Bob::waits, "lost expired"},
        ChunkPair{"CloseThenFence", "close", "fence", Bob::waits, "LH001"},
        ChunkPair{"CloseThenAttach", "close", "attach", Bob::waits, "lost finished"},
        ChunkPair{"CloseThenClose", "close", "close", Bob::waits, "closed 0"},
        ChunkPair{"FenceThenTakeover", "fence", "claim a", Bob::passes, "busy", Expiry::after_alice},
        ChunkPair{"SaveThenTakeover", "save", "claim a", Bob::passes, "busy", Expiry::after_alice},
        ChunkPair{"CompleteThenTakeover", "complete", "claim a", Bob::passes, "busy", Expiry::before_alice},
        ChunkPair{"TakeoverThenSave", "claim a", "save", Bob::waits, "lost superseded", Expiry::before_alice},
        ChunkPair{"TakeoverThenComplete", "claim a", "complete", Bob::waits, "lost superseded", Expiry::before_alice},
        ChunkPair{"TakeoverThenCompleteOther", "claim a", "complete other", Bob::waits, "lost expired",
                  Expiry::before_alice},
        ChunkPair{"TakeoverThenFence", "claim a", "fence", Bob::waits, "LH001", Expiry::before_alice},
        ChunkPair{"TakeoverThenTakeover", "claim a", "claim a", Bob::passes, "busy", Expiry::before_alice},
        ChunkPair{"TakeoverThenClaim", "claim a", "claim", Bob::passes, "granted d", Expiry::before_alice},
        ChunkPair{"TakeoverThenRecover", "claim a", "recover", Bob::passes, "0", Expiry::before_alice},
        ChunkPair{"RecoverThenSave", "recover", "save", Bob::waits, "lost expired", Expiry::before_alice},
        ChunkPair{"RecoverThenComplete", "recover", "complete", Bob::waits, "lost expired", Expiry::before_alice},
        ChunkPair{"RecoverThenRecover", "recover", "recover", Bob::passes, "0", Expiry::before_alice}),
    pair_name);

/// Two loaders with one chunk each, and a job that waits for both.
class ChunkJobMatrixTest : public SqlTest {
 protected:
  void SetUp() override {
    observer_.run(here("SELECT leasehold.chunk_plan('s', '{a,b}', '{1,2}')"));
    job_ = observer_.scalar(here("SELECT id FROM leasehold.job_enqueue('q', '')"));
    for (const std::string key : {"a", "b"}) {
      tokens_[key] = observer_.scalar(here("SELECT token FROM leasehold.chunk_claim('s', '" + key + "')"));
    }
  }
  std::string complete(const std::string& key) {
    return here("SELECT set_state FROM leasehold.chunk_complete('s', '" + key + "', " + tokens_.at(key) + ")");
  }
  std::string tie() { return here("SELECT state FROM leasehold.chunk_tie_job('s', " + job_ + ")"); }
  std::string job_state() { return observer_.scalar(here("SELECT state FROM leasehold.job_show(" + job_ + ")")); }

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

// Fences and enqueues inside a user's REPEATABLE READ or SERIALIZABLE transaction. What such a transaction cannot see
// must never pass a fence, and never give a wrong answer: PostgreSQL's 40001 asks the user to try again.
#include <gtest/gtest.h>

#include "leasehold/postgres.h"
#include "sql/sql_fixture.h"
#include "support/job_helpers.h"

namespace leasehold::support {
namespace {

class IsolationTest : public SqlTest, public ::testing::WithParamInterface<const char*> {
 protected:
  /// Alice's transaction, with its snapshot taken.
  void begin() {
    alice_.run(std::string("BEGIN ISOLATION LEVEL ") + GetParam());
    alice_.run("SELECT 1");
  }
  PgFailure alice_fails(const std::string& call) { return alice_.fail(here("SELECT leasehold_internal." + call)); }
  std::string alice(const std::string& call) { return alice_.scalar(here("SELECT " + call)); }
  std::string bob(const std::string& call) { return bob_.scalar(here("SELECT " + call)); }
};
INSTANTIATE_TEST_SUITE_P(Levels, IsolationTest, ::testing::Values("REPEATABLE READ", "SERIALIZABLE"),
                         [](const auto& level) { return std::string(level.param).substr(0, 6); });

TEST_P(IsolationTest, Promise14_AFencePassesAndHoldsTheLock) {
  const auto token = acquired("deploy");
  begin();
  EXPECT_EQ(alice_fails("fence('deploy', " + token + ")").state, "");
  bob_.send(here("SELECT leasehold_internal.lock_release('deploy', " + token + ")"));
  EXPECT_TRUE(bob_.waits(observer_)) << "until alice commits";
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.outcome().state, "");
}

TEST_P(IsolationTest, Promise14_ALockThatWasTakenSinceTheSnapshotDoesNotPass) {
  const auto token = acquired("deploy");
  begin();
  bob("outcome FROM leasehold_internal.lock_release('deploy', " + token + ")");
  EXPECT_EQ(bob("outcome FROM leasehold_internal.lock_acquire('deploy', 'bob')"), "granted");
  EXPECT_EQ(alice_fails("fence('deploy', " + token + ")").state, "40001");
  alice_.run("ROLLBACK");
  store_.advance(1s);
  begin();
  EXPECT_EQ(alice_fails("fence('deploy', " + token + ")").state, "LH001") << "a new snapshot knows";
  alice_.run("ROLLBACK");
}

TEST_P(IsolationTest, Promise14_ALockThatWasGrantedAfterTheSnapshotIsNotCalledLost) {
  begin();
  const auto token = acquired("deploy");
  EXPECT_EQ(alice_fails("fence('deploy', " + token + ")").state, "40001");
  alice_.run("ROLLBACK");
  begin();
  EXPECT_EQ(alice_fails("fence('deploy', " + token + ")").state, "");
  alice_.run("COMMIT");
}

TEST_P(IsolationTest, Promise14_NoOtherFenceReadsAnOldSnapshot) {
  bob("1 FROM leasehold_internal.chunk_plan('rows', '{a}', '{1}')");
  const auto chunk = bob("token FROM leasehold_internal.chunk_claim('rows')");
  bob("leasehold_internal.session_open('bob')");
  bob("leasehold_internal.item_add('SD-1')");
  const auto claim = bob("token FROM leasehold_internal.claim_take('SD-1', 'bob')");
  bob("leasehold_internal.schedule_set('refresh', interval '1 h', next_run_at => leasehold_internal.now())");
  const auto run = bob("token FROM leasehold_internal.schedule_acquire('refresh')");
  bob("leasehold_internal.job_enqueue_many('mail', '{a,b,c}')");
  const auto job = bob("token FROM leasehold_internal.job_claim('mail')");
  const auto batch = bob("token FROM leasehold_internal.job_claim('mail', 2)");
  const std::vector<std::string> fences = {
      "job_fence(1, " + job + ")", "job_fence(2, " + batch + ")", "chunk_fence('rows', 'a', " + chunk + ")",
      "claim_fence('SD-1', " + claim + ")", "schedule_fence('refresh', " + run + ")"};
  for (const auto& fence : fences) {
    begin();
    EXPECT_EQ(alice_fails(fence).state, "") << fence;
    alice_.run("COMMIT");
  }
  const std::vector<std::string> endings = {"leasehold_internal.job_settle(1, " + job + ", 'release')",
                                            "leasehold_internal.job_settle(2, " + batch + ", 'release')",
                                            "leasehold_internal.chunk_settle('rows', 'a', " + chunk + ", 'release')",
                                            "leasehold_internal.claim_release('SD-1', 'bob', " + claim + ")",
                                            "leasehold_internal.schedule_settle('refresh', " + run + ")"};
  for (std::size_t i = 0; i < fences.size(); ++i) {
    begin();
    bob(endings[i]);
    EXPECT_EQ(alice_fails(fences[i]).state, "40001") << fences[i];
    alice_.run("ROLLBACK");
  }
}

TEST_P(IsolationTest, AnEnqueueCommitsWithTheTransaction) {
  bob_.run(here("LISTEN ") + store_.schema());
  begin();
  bob("leasehold_internal.await_topic('queue:mail', interval '1 minute')");
  for (const auto* call :
       {"leasehold_internal.job_enqueue_one('mail', 'a')", "id FROM leasehold_internal.job_enqueue('mail', 'b')",
        "leasehold_internal.job_enqueue_many('mail', '{c,d}')"}) {
    EXPECT_NE(alice(call), "") << call;
  }
  EXPECT_EQ(bob("count(*) FROM leasehold.jobs"), "0");
  alice_.run("COMMIT");
  EXPECT_TRUE(bob_.notified()) << "although it began to listen after the snapshot";
  EXPECT_EQ(bob("count(*) FROM leasehold.jobs"), "4");
}

TEST_P(IsolationTest, ADedupeKeyIsGivenToOneJobOnly) {
  const auto first = bob("id FROM leasehold_internal.job_enqueue('mail', 'a', p_dedupe_key => 'old')");
  begin();
  EXPECT_EQ(alice("id FROM leasehold_internal.job_enqueue('mail', 'a', p_dedupe_key => 'old')"), first);
  bob("leasehold_internal.job_enqueue('mail', 'a', p_dedupe_key => 'new')");
  EXPECT_EQ(alice_fails("job_enqueue('mail', 'a', p_dedupe_key => 'new')").state, "40001");
  alice_.run("ROLLBACK");
}

TEST_P(IsolationTest, ABatchIsCountedByOneTransactionAtATime) {
  const auto enqueue = [](const std::string& batch) { return "job_enqueue('mail', 'a', p_batch => '" + batch + "')"; };
  bob("id FROM leasehold_internal." + enqueue("old"));
  begin();
  EXPECT_EQ(alice_fails(enqueue("old")).state, "");
  EXPECT_EQ(alice_fails(enqueue("old")).state, "") << "twice in one transaction";
  alice_.run("COMMIT");
  for (const auto* batch : {"old", "new"}) {
    begin();
    bob("id FROM leasehold_internal." + enqueue(batch));
    EXPECT_EQ(alice_fails(enqueue(batch)).state, "40001") << batch;
    alice_.run("ROLLBACK");
  }
  begin();
  bob("leasehold_internal.job_enqueue_many('mail', '{a}', p_batch => 'many')");
  EXPECT_EQ(alice_fails("job_enqueue_many('mail', '{a}', p_batch => 'many')").state, "40001");
  alice_.run("ROLLBACK");
}

TEST_P(IsolationTest, WhatWaitsForOthersIsRefused) {
  const auto first = bob("id FROM leasehold_internal.job_enqueue('mail', 'a', p_batch => 'import')");
  for (const auto& waiting : {"p_depends_on => '{" + first + "}'", std::string("p_on_batch_end => 'import'")}) {
    begin();
    const auto refused = alice_fails("job_enqueue('mail', 'a', " + waiting + ")");
    EXPECT_EQ(refused.state, "LH002") << waiting;
    EXPECT_NE(refused.message.find("no other job or batch"), std::string::npos) << refused.message;
    alice_.run("ROLLBACK");
  }
}

TEST_P(IsolationTest, ADedupeModeChangesAJobOnlyAsTheSnapshotShowsIt) {
  const auto enqueue = [](const std::string& mode) {
    return "job_enqueue('mail', 'b', p_delay => interval '1 h', p_dedupe_key => 'key', p_dedupe_mode => '" + mode +
           "')";
  };
  bob("id FROM leasehold_internal." + enqueue("keep"));
  for (const auto* mode : {"keep", "replace", "debounce"}) {
    begin();
    EXPECT_EQ(alice_fails(enqueue(mode)).state, "") << mode;
    alice_.run("COMMIT");
  }
  for (const auto* mode : {"replace", "debounce"}) {
    begin();
    bob("id FROM leasehold_internal." + enqueue("debounce"));
    EXPECT_EQ(alice_fails(enqueue(mode)).state, "40001") << mode;
    alice_.run("ROLLBACK");
  }
}

TEST_P(IsolationTest, ARefusalNamesTheIsolationLevelAndWhatToDo) {
  begin();
  const auto refused = alice_fails("job_claim('mail')");
  EXPECT_EQ(refused.state, "LH002");
  EXPECT_NE(refused.message.find(GetParam()), std::string::npos) << refused.message;
  EXPECT_NE(refused.message.find("BEGIN ISOLATION LEVEL READ COMMITTED"), std::string::npos) << refused.message;
  alice_.run("ROLLBACK");
}

TEST_P(IsolationTest, TheLibraryEnqueuesAndRefusesToComplete) {
  const auto jobs = store_.open().jobs();
  add(jobs, "mail");
  const auto job = claim_one(jobs, "mail", "ann");
  const std::unique_ptr<PGconn, decltype(&PQfinish)> mine(PQconnectdb(store_.database_url().c_str()), &PQfinish);
  const auto run = [&](const std::string& sql) { PQclear(PQexec(mine.get(), sql.c_str())); };
  run(std::string("BEGIN ISOLATION LEVEL ") + GetParam());
  EXPECT_TRUE(ok(enqueue(mine.get(), "mail", {.payload = "1"}, store_.schema())));
  EXPECT_TRUE(fails(complete(mine.get(), job.id, job.token, "", store_.schema()), Errc::denied));
  run("ROLLBACK");
}

}  // namespace
}  // namespace leasehold::support

// A refused call tells who has it, and nothing by which one could act in the holder's place: whoever forgets to look at
// `outcome` and goes on with what the columns say, gets nowhere.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

/// alice has it, bob is refused.
class RefusedCallTest : public SqlTest {
 protected:
  std::string alice(const std::string& sql) { return alice_.scalar(here("SELECT " + sql)); }
  std::string bob(const std::string& sql) { return bob_.scalar(here("SELECT " + sql)); }

  /// No column of the answer is one of these.
  void expect_not_told(const std::string& call, const std::vector<std::string>& secrets) {
    for (const auto& row : bob_.rows(here("SELECT * FROM leasehold." + call))) {
      for (const auto& cell : row) {
        for (const auto& secret : secrets) EXPECT_NE(cell.value_or(""), secret) << call;
      }
    }
  }
  /// Nothing has changed by an act with what a refused call has returned.
  void expect_powerless(const std::string& act) {
    const auto before = store_.dump();
    bob_.fail(here("SELECT leasehold." + act));
    EXPECT_EQ(store_.dump(), before) << act;
  }
};

TEST_F(RefusedCallTest, Promise11_OfALockTellsTheHolderAndNoProof) {
  const auto token = alice("token FROM leasehold.lock_acquire('deploy', 'alice', instance => 'secret')");
  const auto lease = alice("lease_id FROM leasehold.lock_show('deploy')");
  const auto share = alice("token FROM leasehold.lock_share('pool', 'alice', permits => 2, capacity => 2)");
  const std::vector<std::string> secrets = {token, share, "secret"};
  for (const auto* call : {"lock_acquire('deploy', 'bob')", "lock_acquire('deploy', 'alice', instance => 'secret')",
                           "lock_acquire_all('{deploy,other}', 'bob')", "lock_share('deploy', 'bob')",
                           "lock_acquire('pool', 'bob')", "lock_share('pool', 'bob', permits => 1, capacity => 2)",
                           "lock_share('pool', 'bob', permits => 1, capacity => 3)", "lock_wait('deploy', 'bob', 'r1')",
                           "lock_wait('deploy', 'cid', 'r2')", "lock_wait_all('{deploy,pool}', 'bob', 'r3')",
                           "lock_heartbeat('deploy', 1)", "lock_release('deploy', 1)", "lock_heartbeat('pool', 1)",
                           "lock_release('pool', 1)"}) {
    expect_not_told(call, secrets);
  }
  EXPECT_EQ(bob("outcome || ' ' || holder FROM leasehold.lock_acquire('deploy', 'bob')"), "held alice");
  EXPECT_EQ(bob("lease_id FROM leasehold.lock_acquire('deploy', 'bob')"), "NULL");
  EXPECT_EQ(alice("token FROM leasehold.lock_release('deploy', " + token + ")"), token);
  EXPECT_EQ(alice("token || ' ' || lease_id || ' ' || replayed FROM leasehold.lock_release('deploy', " + token + ")"),
            token + " " + lease + " true")
      << "the first answer again";
}

TEST_F(RefusedCallTest, Promise04_LostDoesNotTellWhatIsCurrent) {
  const auto old = alice("token FROM leasehold.lock_acquire('deploy', 'alice', interval '1 s', request_id => 'r')");
  store_.advance(1min);
  const auto current = alice("token FROM leasehold.lock_acquire('deploy', 'cid')");
  for (const auto& call : {"lock_heartbeat('deploy', " + old + ")", "lock_release('deploy', " + old + ")",
                           std::string("lock_acquire('deploy', 'bob', request_id => 'r')")}) {
    expect_not_told(call, {current});
    EXPECT_EQ(bob("outcome || ' ' || holder FROM leasehold." + call), "lost cid") << call;
  }
}

TEST_F(RefusedCallTest, Promise11_OfAJobTellsTheHolderAndNoProof) {
  alice("leasehold.queue_set('mail', 1)");
  alice("leasehold.job_enqueue_one('mail', 'a')");
  alice("leasehold.job_enqueue_one('mail', 'b')");
  const auto row = alice_.rows(here("SELECT job_id, token FROM leasehold.job_claim('mail', holder => 'alice')"));
  const auto token = *row.at(0).at(1);
  for (const auto* call :
       {"job_claim('mail')", "job_claim_one('mail')", "job_claim_many('mail', 2)", "job_claim('mail', 2)",
        "job_heartbeat(1, 1)", "job_complete(1, 1)", "job_settle_and_claim(1, 1, 'complete', 'mail')"}) {
    expect_not_told(call, {token});
  }
  for (const auto* call : {"job_claim('mail')", "job_claim('mail', 2)", "job_claim_many('mail', 2)"}) {
    EXPECT_EQ(bob(std::string("concat_ws(' ', outcome, job_id, token, lease_id, payload, holder, held_job_id) FROM "
                              "leasehold.") +
                  call),
              "at_capacity alice " + *row.at(0).at(0))
        << call;
  }
}

TEST_F(RefusedCallTest, Promise11_OfAChunkTellsTheHolderAndNoProof) {
  alice("leasehold.chunk_plan('orders', '{a}', '{1}')");
  const auto token = alice("token FROM leasehold.chunk_claim('orders', holder => 'alice')");
  for (const auto* call : {"chunk_claim('orders')", "chunk_claim('orders', 'a')", "chunk_heartbeat('orders', 'a', 1)",
                           "chunk_complete('orders', 'a', 1)"}) {
    expect_not_told(call, {token});
  }
  for (const auto* call : {"chunk_claim('orders')", "chunk_claim('orders', 'a')"}) {
    EXPECT_EQ(bob(std::string("concat_ws(' ', outcome, key, token, lease_id, spec, position, holder, held_key) FROM "
                              "leasehold.") +
                  call),
              "held alice a")
        << call;
  }
}

TEST_F(RefusedCallTest, Promise11_OfASessionOrAnItemTellsTheOwnerAndNoProof) {
  const auto session = alice("token FROM leasehold.session_open('ann', instance => 'secret', exclusive => true)");
  const auto other = alice("token FROM leasehold.session_open('ben')");
  for (const auto* item : {"SD-1", "SD-2", "SD-3"}) alice(std::string("leasehold.item_add('") + item + "')");
  alice("leasehold.item_add('SD-4', parent => 'SD-1')");
  const auto claim = alice("token FROM leasehold.claim_take('SD-1', 'ann')");
  const auto bens = alice("token FROM leasehold.claim_take('SD-3', 'ben')");
  for (const auto& call :
       {std::string("session_open('ann')"), std::string("session_heartbeat('ann', 1)"),
        std::string("session_park('ann', 1, interval '1 s')"), std::string("session_close('ann', 1)"),
        std::string("claim_take('SD-1', 'ben')"), std::string("claim_take('SD-4', 'ben')"),
        std::string("claim_take('SD-2', 'ann')"), std::string("claim_release('SD-1', 'ben', 1)"),
        std::string("claim_hand_over('SD-1', 'ben', 1)"), std::string("item_done('SD-1')"),
        std::string("item_done('SD-1', 1)"), std::string("item_remove('SD-1')"),
        "claim_switch('SD-3', " + bens + ", 'SD-1')", std::string("claim_switch('SD-1', 1, 'SD-2')")}) {
    expect_not_told(call, {session, other, claim, "secret"});
  }
  EXPECT_EQ(bob("concat_ws(' ', outcome, token, lease_id, session_id) FROM leasehold.claim_take('SD-1', 'ben')"),
            "held ann");
  EXPECT_EQ(bob("concat_ws(' ', outcome, why, token, session_id, key) FROM leasehold.claim_take('SD-4', 'ben')"),
            "blocked parent ann SD-1");
}

TEST_F(RefusedCallTest, Promise11_OfAScheduleTellsWhoRunsItAndNoProof) {
  alice("leasehold.schedule_set('refresh', interval '10 min')");
  const auto row =
      alice_.rows(here("SELECT token, lease_id FROM leasehold.schedule_acquire('refresh', 'alice', at_once => true, "
                       "instance => 'secret')"));
  for (const auto* call :
       {"schedule_acquire('refresh', 'bob')", "schedule_acquire('refresh', 'bob', at_once => true)",
        "schedule_heartbeat('refresh', 1)", "schedule_settle('refresh', 1)", "schedule_release('refresh', 1)",
        "schedule_trigger('refresh')", "schedule_remove('refresh')", "schedule_fire('refresh')"}) {
    expect_not_told(call, {*row.at(0).at(0), "secret"});
  }
  EXPECT_EQ(bob("concat_ws(' ', outcome, token, lease_id, holder) FROM leasehold.schedule_acquire('refresh', 'bob')"),
            "held alice");
}

TEST_F(RefusedCallTest, Promise11_WhatALoserWasToldPassesNoFenceAndEndsNothing) {
  alice("token FROM leasehold.lock_acquire('deploy', 'alice')");
  alice("leasehold.queue_set('mail', 1)");
  alice("leasehold.job_enqueue_one('mail', 'a')");
  alice("leasehold.job_enqueue_one('mail', 'b')");
  alice("leasehold.job_claim('mail')");
  alice("leasehold.chunk_plan('orders', '{a}', '{1}')");
  alice("leasehold.chunk_claim('orders')");
  alice("leasehold.session_open('ann')");
  alice("leasehold.session_open('ben')");
  alice("leasehold.item_add('SD-1')");
  alice("leasehold.claim_take('SD-1', 'ann')");
  alice("leasehold.schedule_set('refresh', interval '10 min')");
  alice("leasehold.schedule_acquire('refresh', at_once => true)");
  const std::string lock = "(SELECT token FROM leasehold.lock_acquire('deploy', 'bob'))";
  const std::string item = "(SELECT token FROM leasehold.claim_take('SD-1', 'ben'))";
  const std::string run = "(SELECT token FROM leasehold.schedule_acquire('refresh', 'bob', at_once => true))";
  expect_powerless("lock_release('deploy', " + lock + ")");
  EXPECT_EQ(bob_.fail(here("SELECT leasehold.fence('deploy', " + lock + ")")).state, "LH001");
  expect_powerless("job_complete(c.job_id, c.token) FROM leasehold.job_claim('mail') AS c");
  expect_powerless("chunk_complete('orders', c.key, c.token) FROM leasehold.chunk_claim('orders') AS c");
  expect_powerless("item_done('SD-1', " + item + ")");
  EXPECT_EQ(bob_.fail(here("SELECT leasehold.claim_fence('SD-1', " + item + ")")).state, "LH001");
  expect_powerless("session_close('ann', (SELECT token FROM leasehold.session_open('ann')))");
  expect_powerless("schedule_settle('refresh', " + run + ")");
}

}  // namespace
}  // namespace leasehold::support

// A refusal names the holder and contains no proof: a caller that does not check `outcome` and goes on with the columns
// of the answer cannot act in the holder's place.
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
  void expect_not_reported(const std::string& call, const std::vector<std::string>& secrets) {
    for (const auto& row : bob_.rows(here("SELECT * FROM leasehold_internal." + call))) {
      for (const auto& cell : row) {
        for (const auto& secret : secrets) EXPECT_NE(cell.value_or(""), secret) << call;
      }
    }
  }
  /// An act with the columns of a refused call changes nothing.
  void expect_powerless(const std::string& act) {
    const auto before = store_.dump();
    bob_.fail(here("SELECT leasehold_internal." + act));
    EXPECT_EQ(store_.dump(), before) << act;
  }
};

TEST_F(RefusedCallTest, Promise11_OfALockShowsTheHolderAndNoProof) {
  const auto token = alice("token FROM leasehold_internal.lock_acquire('deploy', 'alice', p_instance => 'secret')");
  const auto lease = alice("lease_id FROM leasehold_internal.lock_show('deploy')");
  const auto share =
      alice("token FROM leasehold_internal.lock_share('pool', 'alice', p_permits => 2, p_capacity => 2)");
  const std::vector<std::string> secrets = {token, share, "secret"};
  for (const auto* call : {"lock_acquire('deploy', 'bob')", "lock_acquire('deploy', 'alice', p_instance => 'secret')",
                           "lock_acquire_all('{deploy,other}', 'bob')", "lock_share('deploy', 'bob')",
                           "lock_acquire('pool', 'bob')", "lock_share('pool', 'bob', p_permits => 1, p_capacity => 2)",
                           "lock_share('pool', 'bob', p_permits => 1, p_capacity => 3)",
                           "lock_wait('deploy', 'bob', 'r1')", "lock_wait('deploy', 'cid', 'r2')",
                           "lock_wait_all('{deploy,pool}', 'bob', 'r3')", "lock_heartbeat('deploy', 1)",
                           "lock_release('deploy', 1)", "lock_heartbeat('pool', 1)", "lock_release('pool', 1)"}) {
    expect_not_reported(call, secrets);
  }
  EXPECT_EQ(bob("outcome || ' ' || holder FROM leasehold_internal.lock_acquire('deploy', 'bob')"), "held alice");
  EXPECT_EQ(bob("lease_id FROM leasehold_internal.lock_acquire('deploy', 'bob')"), "NULL");
  EXPECT_EQ(alice("token FROM leasehold_internal.lock_release('deploy', " + token + ")"), token);
  EXPECT_EQ(alice("token || ' ' || lease_id || ' ' || replayed FROM leasehold_internal.lock_release('deploy', " +
                  token + ")"),
            token + " " + lease + " true")
      << "the first answer again";
}

TEST_F(RefusedCallTest, Promise04_LostDoesNotShowTheCurrentToken) {
  const auto old =
      alice("token FROM leasehold_internal.lock_acquire('deploy', 'alice', interval '1 s', p_request => 'r')");
  store_.advance(1min);
  const auto current = alice("token FROM leasehold_internal.lock_acquire('deploy', 'cid')");
  for (const auto& call : {"lock_heartbeat('deploy', " + old + ")", "lock_release('deploy', " + old + ")",
                           std::string("lock_acquire('deploy', 'bob', p_request => 'r')")}) {
    expect_not_reported(call, {current});
    EXPECT_EQ(bob("outcome || ' ' || holder FROM leasehold_internal." + call), "lost cid") << call;
  }
}

TEST_F(RefusedCallTest, Promise11_OfAJobShowsTheHolderAndNoProof) {
  alice("leasehold_internal.queue_set('mail', 1)");
  alice("leasehold_internal.job_enqueue_one('mail', 'a')");
  alice("leasehold_internal.job_enqueue_one('mail', 'b')");
  const auto row =
      alice_.rows(here("SELECT job_ids[1], token FROM leasehold_internal.job_claim('mail', p_holder => 'alice')"));
  const auto token = *row.at(0).at(1);
  for (const auto* call :
       {"job_claim('mail')", "job_claim('mail', 2)", "job_heartbeat(1, 1)", "job_settle(1, 1, 'complete')"}) {
    expect_not_reported(call, {token});
  }
  for (const auto* call : {"job_claim('mail')", "job_claim('mail', 2)"}) {
    EXPECT_EQ(bob(std::string("concat_ws(' ', outcome, job_ids, token, lease_id, payloads, holder, held_job_id) FROM "
                              "leasehold_internal.") +
                  call),
              "at_capacity alice " + *row.at(0).at(0))
        << call;
  }
}

TEST_F(RefusedCallTest, Promise11_OfAChunkShowsTheHolderAndNoProof) {
  alice("leasehold_internal.chunk_plan('orders', '{a}', '{1}')");
  const auto token = alice("token FROM leasehold_internal.chunk_claim('orders', p_holder => 'alice')");
  for (const auto* call : {"chunk_claim('orders')", "chunk_claim('orders', 'a')", "chunk_heartbeat('orders', 'a', 1)",
                           "chunk_settle('orders', 'a', 1, 'complete')"}) {
    expect_not_reported(call, {token});
  }
  for (const auto* call : {"chunk_claim('orders')", "chunk_claim('orders', 'a')"}) {
    EXPECT_EQ(bob(std::string("concat_ws(' ', outcome, key, token, lease_id, spec, position, holder, held_key) FROM "
                              "leasehold_internal.") +
                  call),
              "held alice a")
        << call;
  }
}

TEST_F(RefusedCallTest, Promise11_OfASessionOrAnItemShowsTheOwnerAndNoProof) {
  const auto session =
      alice("token FROM leasehold_internal.session_open('ann', p_instance => 'secret', p_exclusive => true)");
  const auto other = alice("token FROM leasehold_internal.session_open('ben')");
  for (const auto* item : {"SD-1", "SD-2", "SD-3"}) alice(std::string("leasehold_internal.item_add('") + item + "')");
  alice("leasehold_internal.item_add('SD-4', p_parent => 'SD-1')");
  const auto claim = alice("token FROM leasehold_internal.claim_take('SD-1', 'ann')");
  const auto bens = alice("token FROM leasehold_internal.claim_take('SD-3', 'ben')");
  for (const auto& call :
       {std::string("session_open('ann')"), std::string("session_heartbeat('ann', 1)"),
        std::string("session_park('ann', 1, interval '1 s')"), std::string("session_close('ann', 1)"),
        std::string("claim_take('SD-1', 'ben')"), std::string("claim_take('SD-4', 'ben')"),
        std::string("claim_take('SD-2', 'ann')"), std::string("claim_release('SD-1', 'ben', 1)"),
        std::string("claim_hand_over('SD-1', 'ben', 1)"), std::string("item_done('SD-1')"),
        std::string("item_done('SD-1', 1)"), std::string("item_remove('SD-1')"),
        "claim_switch('SD-3', " + bens + ", 'SD-1')", std::string("claim_switch('SD-1', 1, 'SD-2')")}) {
    expect_not_reported(call, {session, other, claim, "secret"});
  }
  EXPECT_EQ(
      bob("concat_ws(' ', outcome, token, lease_id, session_id) FROM leasehold_internal.claim_take('SD-1', 'ben')"),
      "held ann");
  EXPECT_EQ(
      bob("concat_ws(' ', outcome, why, token, session_id, key) FROM leasehold_internal.claim_take('SD-4', 'ben')"),
      "blocked parent ann SD-1");
}

TEST_F(RefusedCallTest, Promise11_OfAScheduleShowsWhoRunsItAndNoProof) {
  alice("leasehold_internal.schedule_set('refresh', interval '10 min')");
  const auto row = alice_.rows(
      here("SELECT token, lease_id FROM leasehold_internal.schedule_acquire('refresh', 'alice', at_once => true, "
           "instance => 'secret')"));
  for (const auto* call :
       {"schedule_acquire('refresh', 'bob')", "schedule_acquire('refresh', 'bob', at_once => true)",
        "schedule_heartbeat('refresh', 1)", "schedule_settle('refresh', 1)", "schedule_release('refresh', 1)",
        "schedule_trigger('refresh')", "schedule_remove('refresh')", "schedule_fire('refresh')"}) {
    expect_not_reported(call, {*row.at(0).at(0), "secret"});
  }
  EXPECT_EQ(bob("concat_ws(' ', outcome, token, lease_id, holder) FROM leasehold_internal.schedule_acquire('refresh', "
                "'bob')"),
            "held alice");
}

TEST_F(RefusedCallTest, Promise11_ARefusalHasNoTokenThatPassesAFenceOrEndsALease) {
  alice("token FROM leasehold_internal.lock_acquire('deploy', 'alice')");
  alice("leasehold_internal.queue_set('mail', 1)");
  alice("leasehold_internal.job_enqueue_one('mail', 'a')");
  alice("leasehold_internal.job_enqueue_one('mail', 'b')");
  alice("leasehold_internal.job_claim('mail')");
  alice("leasehold_internal.chunk_plan('orders', '{a}', '{1}')");
  alice("leasehold_internal.chunk_claim('orders')");
  alice("leasehold_internal.session_open('ann')");
  alice("leasehold_internal.session_open('ben')");
  alice("leasehold_internal.item_add('SD-1')");
  alice("leasehold_internal.claim_take('SD-1', 'ann')");
  alice("leasehold_internal.schedule_set('refresh', interval '10 min')");
  alice("leasehold_internal.schedule_acquire('refresh', at_once => true)");
  const std::string lock = "(SELECT token FROM leasehold_internal.lock_acquire('deploy', 'bob'))";
  const std::string item = "(SELECT token FROM leasehold_internal.claim_take('SD-1', 'ben'))";
  const std::string run = "(SELECT token FROM leasehold_internal.schedule_acquire('refresh', 'bob', at_once => true))";
  expect_powerless("lock_release('deploy', " + lock + ")");
  EXPECT_EQ(bob_.fail(here("SELECT leasehold_internal.fence('deploy', " + lock + ")")).state, "LH001");
  expect_powerless("job_settle(c.job_ids[1], c.token, 'complete') FROM leasehold_internal.job_claim('mail') AS c");
  expect_powerless(
      "chunk_settle('orders', c.key, c.token, 'complete') FROM leasehold_internal.chunk_claim('orders') AS c");
  expect_powerless("item_done('SD-1', " + item + ")");
  EXPECT_EQ(bob_.fail(here("SELECT leasehold_internal.claim_fence('SD-1', " + item + ")")).state, "LH001");
  expect_powerless("session_close('ann', (SELECT token FROM leasehold_internal.session_open('ann')))");
  expect_powerless("schedule_settle('refresh', " + run + ")");
}

}  // namespace
}  // namespace leasehold::support

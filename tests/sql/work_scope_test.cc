// What a role with scope `work` cannot do to others: their leases, sessions and processes are only theirs.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

/// alice is the attacker, with scope `work` and with all that looks tell; the victims act as the owner of the schema.
class WorkScopeTest : public SqlTest {
 protected:
  void SetUp() override {
    role_ = "work_" + store_.schema();
    observer_.run("CREATE ROLE " + role_);
    observer_.run(here("SELECT leasehold.grant_scope('" + role_ + "', 'work')"));
    // The clock of these tests is a table; the real one is everybody's.
    observer_.run(here("GRANT SELECT ON leasehold.test_clock TO " + role_));
    alice_.run("SET ROLE " + role_);
  }
  void TearDown() override {
    alice_.run("RESET ROLE");
    observer_.run("DROP OWNED BY " + role_ + "; DROP ROLE " + role_);
  }

  std::string victim(const std::string& sql) { return observer_.scalar(here("SELECT " + sql)); }
  std::string attack(const std::string& sql) { return alice_.scalar(here("SELECT " + sql)); }
  /// Whatever it answers, nothing has changed.
  void expect_powerless(const std::string& sql) {
    const auto before = store_.dump();
    const auto failed = alice_.fail(here("SELECT " + sql));
    EXPECT_TRUE(failed.state.empty() || failed.state == "LH003" || failed.state == "LH001" || failed.state == "42501")
        << sql << ": " << failed.message;
    EXPECT_EQ(store_.dump(), before) << sql;
  }

  std::string role_;
};

const std::vector<std::string> guesses = {"NULL", "''", "'guessed'"};

TEST_F(WorkScopeTest, AWorkersLeaseIsClosedExtendedAndUsedByTheWorkerOnly) {
  victim("leasehold.job_enqueue_plain('mail', '{a,b}')");
  const auto lease =
      victim("lease_id FROM leasehold.lease_open('worker', 'w', interval '1 min', instance => 'secret')");
  victim("token FROM leasehold.job_claim('mail', attach => " + lease + ", instance => 'secret')");
  for (const auto& guess : guesses) {
    expect_powerless("leasehold.lease_close(" + lease + ", " + guess + ")");
    expect_powerless("leasehold.lease_extend(" + lease + ", " + guess + ", interval '1 day')");
    expect_powerless("leasehold.job_claim('mail', attach => " + lease + ", instance => " + guess + ")");
    expect_powerless("leasehold.job_claim_many('mail', 2, attach => " + lease + ", instance => " + guess + ")");
    EXPECT_EQ(attack("outcome FROM leasehold.lease_close(" + lease + ", " + guess + ")"), "lost");
    EXPECT_EQ(attack("outcome FROM leasehold.lease_extend(" + lease + ", " + guess + ")"), "lost");
    EXPECT_EQ(attack("outcome FROM leasehold.job_claim('mail', attach => " + lease + ", instance => " + guess + ")"),
              "lost");
  }
  EXPECT_EQ(victim("outcome FROM leasehold.lease_close(" + lease + ", 'secret')"), "closed");
}

TEST_F(WorkScopeTest, ALoadersLeaseIsClosedExtendedAndUsedByTheLoaderOnly) {
  victim("leasehold.chunk_plan('orders', '{a,b}', '{1,2}')");
  const auto lease = victim("lease_id FROM leasehold.loader_open('l', interval '1 min', instance => 'secret')");
  victim("token FROM leasehold.chunk_claim('orders', attach => " + lease + ", instance => 'secret')");
  for (const auto& guess : guesses) {
    expect_powerless("leasehold.loader_close(" + lease + ", " + guess + ")");
    expect_powerless("leasehold.loader_extend(" + lease + ", " + guess + ", interval '1 day')");
    expect_powerless("leasehold.chunk_claim('orders', attach => " + lease + ", instance => " + guess + ")");
    EXPECT_EQ(attack("outcome FROM leasehold.loader_close(" + lease + ", " + guess + ")"), "lost");
    EXPECT_EQ(attack("outcome FROM leasehold.loader_extend(" + lease + ", " + guess + ")"), "lost");
  }
  EXPECT_EQ(victim("outcome FROM leasehold.loader_close(" + lease + ", 'secret')"), "closed");
}

TEST_F(WorkScopeTest, ALeaseOfOneClaimCannotBeClosedByItsId) {
  victim("leasehold.job_enqueue_one('mail', 'a')");
  const auto job = victim("lease_id FROM leasehold.job_claim('mail')");
  victim("leasehold.chunk_plan('orders', '{a}', '{1}')");
  const auto chunk = victim("lease_id FROM leasehold.chunk_claim('orders')");
  for (const auto& guess : guesses) {
    expect_powerless("leasehold.lease_close(" + job + ", " + guess + ")");
    expect_powerless("leasehold.loader_close(" + chunk + ", " + guess + ")");
  }
}

TEST_F(WorkScopeTest, ALeaseForManyClaimsNeedsAnInstance) {
  EXPECT_EQ(alice_.fail(here("SELECT leasehold.lease_open('worker', 'w', interval '1 min')")).state, "LH003");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold.loader_open('l', interval '1 min')")).state, "LH003");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold.loader_open('l', interval '1 min', instance => NULL)")).state, "LH003");
}

TEST_F(WorkScopeTest, ReapingNeedsWhatNoLookTells) {
  victim(
      "token FROM leasehold.lock_acquire('deploy', 'v', boot_id => leasehold.boot_id_of('the machine'), pid => 7, "
      "process_start => 8)");
  const auto row = alice_.rows(here("SELECT lease_id, boot_id, pid, process_start FROM leasehold.lock_show('deploy')"));
  const auto lease = *row.at(0).at(0);
  ASSERT_EQ(attack("lease_id FROM leasehold.lease_suspects('" + *row.at(0).at(1) + "', 10)"), lease) << "a look";
  for (const auto& proof :
       {"'" + *row.at(0).at(1) + "'", std::string("NULL"), std::string("''"), std::string("'boot'")}) {
    expect_powerless("leasehold.lease_reap(" + lease + ", " + proof + ", 7, 8)");
    EXPECT_EQ(attack("outcome FROM leasehold.lease_reap(" + lease + ", " + proof + ", 7, 8)"), "gone");
  }
  expect_powerless("leasehold.lease_reap(NULL, 'the machine', 7, 8)");
  expect_powerless("leasehold.lease_reap(" + lease + ", 'the machine', NULL, NULL)");
  EXPECT_EQ(attack("outcome FROM leasehold.lease_reap(" + lease + ", 'the machine', 7, 8)"), "reaped")
      << "a worker on the same machine sees that the process is gone";
}

TEST_F(WorkScopeTest, NobodyIsReapedWhoDoesNotSayOnWhichMachineItIs) {
  const auto lease = victim("lease_id FROM leasehold.lock_acquire('deploy', 'v')");
  for (const auto* proof : {"''", "NULL"}) expect_powerless("leasehold.lease_reap(" + lease + ", " + proof + ", 0, 0)");
}

TEST_F(WorkScopeTest, OnlyTheSessionItselfTakesItems) {
  const auto token = victim("token FROM leasehold.session_open('ann')");
  victim("leasehold.item_add('SD-1')");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold.claim_take('SD-1', 'ann')")).state, "42501");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold.claim_take_for('SD-1', 'ann')")).state, "42501");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold.claim_take_own('SD-1', 'ann', NULL)")).state, "LH003");
  expect_powerless("leasehold.claim_take('SD-1', 'ann', 1)");
  EXPECT_EQ(attack("why FROM leasehold.claim_take('SD-1', 'ann', 1)"), "superseded");
  EXPECT_EQ(attack("outcome FROM leasehold.claim_take('SD-1', 'ann', " + token + ")"), "granted");
}

TEST_F(WorkScopeTest, NullProvesNothing) {
  victim("token FROM leasehold.lock_acquire('deploy', 'v', request_id => 'r')");
  victim("token FROM leasehold.lock_share('pool', 'v', permits => 1, capacity => 2)");
  victim("leasehold.lock_wait('deploy', 'w', 'waiter')");
  victim("leasehold.job_enqueue_one('mail', 'a')");
  victim("leasehold.job_enqueue_one('mail', 'b')");
  const auto job = victim("job_id FROM leasehold.job_claim('mail')");
  victim("leasehold.chunk_plan('orders', '{a}', '{1}')");
  victim("leasehold.chunk_claim('orders')");
  victim("leasehold.session_open('ann')");
  victim("leasehold.session_open('ben')");
  victim("leasehold.item_add('SD-1')");
  victim("leasehold.item_add('SD-2')");
  victim("leasehold.claim_take('SD-1', 'ann')");
  victim("leasehold.schedule_set('refresh', interval '10 min')");
  victim("leasehold.schedule_acquire('refresh', at_once => true)");
  for (const auto& act : {"lock_heartbeat('deploy', NULL)",
                          "lock_release('deploy', NULL)",
                          "fence('deploy', NULL)",
                          "lock_release('pool', NULL)",
                          "fence('pool', NULL)",
                          "lock_leave('deploy', NULL)",
                          "lock_leave_all('{deploy}', NULL)",
                          "lease_close(NULL, NULL)",
                          "lease_extend(NULL, NULL)",
                          "loader_close(NULL, NULL)",
                          "loader_extend(NULL, NULL)",
                          "job_tidy(NULL)",
                          "job_heartbeat(JOB, NULL)",
                          "job_complete(JOB, NULL)",
                          "job_fail(JOB, NULL)",
                          "job_release(JOB, NULL)",
                          "job_snooze(JOB, NULL, interval '1 s')",
                          "job_settle_plain('complete', '{JOB}', '{NULL}')",
                          "job_settle_many('complete', '{JOB}', '{NULL}')",
                          "job_claim('none', attach => NULL)",
                          "chunk_heartbeat('orders', 'a', NULL)",
                          "chunk_complete('orders', 'a', NULL)",
                          "chunk_fence('orders', 'a', NULL)",
                          "session_heartbeat('ann', NULL)",
                          "session_park('ann', NULL, interval '1 s')",
                          "session_close('ann', NULL)",
                          "claim_take('SD-2', NULL, NULL)",
                          "claim_release('SD-1', 'ann', NULL)",
                          "claim_release('SD-1', NULL, NULL)",
                          "claim_switch('SD-1', NULL, 'SD-2')",
                          "claim_hand_over('SD-1', 'ben', NULL)",
                          "claim_transfer('SD-1', 'ben', NULL)",
                          "claim_fence('SD-1', NULL)",
                          "item_done('SD-1', NULL)",
                          "schedule_heartbeat('refresh', NULL)",
                          "schedule_settle('refresh', NULL)",
                          "schedule_release('refresh', NULL)",
                          "schedule_fence('refresh', NULL)",
                          "lease_reap(NULL, NULL, NULL, NULL)"}) {
    std::string sql = std::string("leasehold.") + act;
    if (const auto at = sql.find("JOB"); at != std::string::npos) sql.replace(at, 3, job);
    expect_powerless(sql);
  }
}

}  // namespace
}  // namespace leasehold::support

// A role with scope `work` cannot act on the leases, sessions and processes of others.
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
    observer_.run(here("SELECT leasehold_internal.grant_scope('" + role_ + "', 'work')"));
    // The clock of these tests is a table; the real one is everybody's.
    observer_.run(here("GRANT SELECT ON leasehold_internal.test_clock TO " + role_));
    alice_.run("SET ROLE " + role_);
  }
  void TearDown() override {
    alice_.run("RESET ROLE");
    observer_.run("DROP OWNED BY " + role_ + "; DROP ROLE " + role_);
  }

  std::string victim(const std::string& sql) { return observer_.scalar(here("SELECT " + sql)); }
  std::string attack(const std::string& sql) { return alice_.scalar(here("SELECT " + sql)); }
  /// Its answer may differ, but nothing has changed.
  void expect_powerless(const std::string& sql) {
    const auto before = store_.dump();
    const auto failed = alice_.fail(here("SELECT " + sql));
    EXPECT_TRUE(failed.state.empty() || failed.state == "LH003" || failed.state == "LH001" || failed.state == "42501")
        << sql << ": " << failed.message;
    EXPECT_EQ(store_.dump(), before) << sql;
  }

  std::string role_;
};

TEST_F(WorkScopeTest, AWorkerPrunesByTheStoresRetentionOnly) {
  expect_powerless("leasehold_internal.retention_set(interval '1 minute')");
  expect_powerless("leasehold_internal.job_prune(interval '0', interval '0', 0, 10)");
  expect_powerless("leasehold_internal.retention_step(1001)");
  EXPECT_EQ(attack("pruned FROM leasehold_internal.retention_step(10)"), "0");
  EXPECT_EQ(attack("keep_jobs FROM leasehold_internal.retention_show()"), "7 days");
}

const std::vector<std::string> guesses = {"NULL", "''", "'guessed'"};

TEST_F(WorkScopeTest, AWorkersLeaseIsClosedExtendedAndUsedByTheWorkerOnly) {
  victim("leasehold_internal.job_enqueue_many('mail', '{a,b}')");
  const auto lease =
      victim("lease_id FROM leasehold_internal.lease_open('worker', 'w', interval '1 min', p_instance => 'secret')");
  victim("token FROM leasehold_internal.job_claim('mail', p_attach => " + lease + ", p_instance => 'secret')");
  for (const auto& guess : guesses) {
    expect_powerless("leasehold_internal.lease_close(" + lease + ", " + guess + ")");
    expect_powerless("leasehold_internal.lease_extend(" + lease + ", " + guess + ", interval '1 day')");
    expect_powerless("leasehold_internal.job_claim('mail', p_attach => " + lease + ", p_instance => " + guess + ")");
    expect_powerless("leasehold_internal.job_claim('mail', 2, p_attach => " + lease + ", p_instance => " + guess + ")");
    EXPECT_EQ(attack("outcome FROM leasehold_internal.lease_close(" + lease + ", " + guess + ")"), "lost");
    EXPECT_EQ(attack("outcome FROM leasehold_internal.lease_extend(" + lease + ", " + guess + ")"), "lost");
    EXPECT_EQ(attack("outcome FROM leasehold_internal.job_claim('mail', p_attach => " + lease + ", p_instance => " +
                     guess + ")"),
              "lost");
  }
  EXPECT_EQ(victim("outcome FROM leasehold_internal.lease_close(" + lease + ", 'secret')"), "closed");
}

TEST_F(WorkScopeTest, ALoadersLeaseIsClosedExtendedAndUsedByTheLoaderOnly) {
  victim("leasehold_internal.chunk_plan('orders', '{a,b}', '{1,2}')");
  const auto lease =
      victim("lease_id FROM leasehold_internal.loader_open('l', interval '1 min', p_instance => 'secret')");
  victim("token FROM leasehold_internal.chunk_claim('orders', p_attach => " + lease + ", p_instance => 'secret')");
  for (const auto& guess : guesses) {
    expect_powerless("leasehold_internal.loader_close(" + lease + ", " + guess + ")");
    expect_powerless("leasehold_internal.loader_extend(" + lease + ", " + guess + ", interval '1 day')");
    expect_powerless("leasehold_internal.chunk_claim('orders', p_attach => " + lease + ", p_instance => " + guess +
                     ")");
    EXPECT_EQ(attack("outcome FROM leasehold_internal.loader_close(" + lease + ", " + guess + ")"), "lost");
    EXPECT_EQ(attack("outcome FROM leasehold_internal.loader_extend(" + lease + ", " + guess + ")"), "lost");
  }
  EXPECT_EQ(victim("outcome FROM leasehold_internal.loader_close(" + lease + ", 'secret')"), "closed");
}

TEST_F(WorkScopeTest, ALeaseOfOneClaimCannotBeClosedByItsId) {
  victim("leasehold_internal.job_enqueue_one('mail', 'a')");
  const auto job = victim("lease_id FROM leasehold_internal.job_claim('mail')");
  victim("leasehold_internal.chunk_plan('orders', '{a}', '{1}')");
  const auto chunk = victim("lease_id FROM leasehold_internal.chunk_claim('orders')");
  for (const auto& guess : guesses) {
    expect_powerless("leasehold_internal.lease_close(" + job + ", " + guess + ")");
    expect_powerless("leasehold_internal.loader_close(" + chunk + ", " + guess + ")");
  }
}

TEST_F(WorkScopeTest, ALeaseForManyClaimsNeedsAnInstance) {
  EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal.lease_open('worker', 'w', interval '1 min')")).state, "LH003");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal.loader_open('l', interval '1 min')")).state, "LH003");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal.loader_open('l', interval '1 min', p_instance => NULL)")).state,
            "LH003");
}

TEST_F(WorkScopeTest, ReapingNeedsASecretThatNoReadShows) {
  victim(
      "token FROM leasehold_internal.lock_acquire('deploy', 'v', p_boot_id => leasehold_internal.boot_id_of('the "
      "machine'), p_pid => 7, "
      "p_process_start => 8)");
  const auto row =
      alice_.rows(here("SELECT lease_id, boot_id, pid, process_start FROM leasehold_internal.lock_show('deploy')"));
  const auto lease = *row.at(0).at(0);
  ASSERT_EQ(attack("lease_id FROM leasehold_internal.lease_suspects('" + *row.at(0).at(1) + "', 10)"), lease)
      << "a look";
  for (const auto& proof :
       {"'" + *row.at(0).at(1) + "'", std::string("NULL"), std::string("''"), std::string("'boot'")}) {
    expect_powerless("leasehold_internal.lease_reap(" + lease + ", " + proof + ", 7, 8)");
    EXPECT_EQ(attack("outcome FROM leasehold_internal.lease_reap(" + lease + ", " + proof + ", 7, 8)"), "gone");
  }
  expect_powerless("leasehold_internal.lease_reap(NULL, 'the machine', 7, 8)");
  expect_powerless("leasehold_internal.lease_reap(" + lease + ", 'the machine', NULL, NULL)");
  EXPECT_EQ(attack("outcome FROM leasehold_internal.lease_reap(" + lease + ", 'the machine', 7, 8)"), "reaped")
      << "a worker on the same machine sees that the process is gone";
}

TEST_F(WorkScopeTest, AHolderWithoutAMachineIsNotReaped) {
  const auto lease = victim("lease_id FROM leasehold_internal.lock_acquire('deploy', 'v')");
  for (const auto* proof : {"''", "NULL"})
    expect_powerless("leasehold_internal.lease_reap(" + lease + ", " + proof + ", 0, 0)");
}

TEST_F(WorkScopeTest, OnlyTheSessionItselfTakesItems) {
  const auto token = victim("token FROM leasehold_internal.session_open('ann')");
  victim("leasehold_internal.item_add('SD-1')");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal.claim_take('SD-1', 'ann')")).state, "42501");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal.claim_take_for('SD-1', 'ann')")).state, "42501");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal.claim_take_own('SD-1', 'ann', NULL)")).state, "LH003");
  expect_powerless("leasehold_internal.claim_take('SD-1', 'ann', 1)");
  EXPECT_EQ(attack("why FROM leasehold_internal.claim_take('SD-1', 'ann', 1)"), "superseded");
  EXPECT_EQ(attack("outcome FROM leasehold_internal.claim_take('SD-1', 'ann', " + token + ")"), "granted");
}

TEST_F(WorkScopeTest, NullProvesNothing) {
  victim("token FROM leasehold_internal.lock_acquire('deploy', 'v', p_request => 'r')");
  victim("token FROM leasehold_internal.lock_share('pool', 'v', p_permits => 1, p_capacity => 2)");
  victim("leasehold_internal.lock_wait('deploy', 'w', 'waiter')");
  victim("leasehold_internal.job_enqueue_one('mail', 'a')");
  victim("leasehold_internal.job_enqueue_one('mail', 'b')");
  const auto job = victim("job_ids[1] FROM leasehold_internal.job_claim('mail')");
  victim("leasehold_internal.chunk_plan('orders', '{a}', '{1}')");
  victim("leasehold_internal.chunk_claim('orders')");
  victim("leasehold_internal.session_open('ann')");
  victim("leasehold_internal.session_open('ben')");
  victim("leasehold_internal.item_add('SD-1')");
  victim("leasehold_internal.item_add('SD-2')");
  victim("leasehold_internal.claim_take('SD-1', 'ann')");
  victim("leasehold_internal.schedule_set('refresh', interval '10 min')");
  victim("leasehold_internal.schedule_acquire('refresh', at_once => true)");
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
                          "job_fence(JOB, NULL)",
                          "job_heartbeat(JOB, NULL)",
                          "job_settle(JOB, NULL, 'complete')",
                          "job_settle(JOB, NULL, 'fail')",
                          "job_settle(JOB, NULL, 'release')",
                          "job_settle(JOB, NULL, 'snooze', p_delay => interval '1 s')",
                          "job_settle_many('complete', '{JOB}', '{NULL}')",
                          "job_claim('none', p_attach => NULL)",
                          "chunk_heartbeat('orders', 'a', NULL)",
                          "chunk_settle('orders', 'a', NULL, 'complete')",
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
    std::string sql = std::string("leasehold_internal.") + act;
    if (const auto at = sql.find("JOB"); at != std::string::npos) sql.replace(at, 3, job);
    expect_powerless(sql);
  }
}

}  // namespace
}  // namespace leasehold::support

// The functions have the same bounds for arguments as the library: one caller cannot fill the tables of all others, nor
// leave figures behind that a look cannot add up.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class BoundsTest : public SqlTest {
 protected:
  std::string state_of(const std::string& call) { return alice_.fail(here("SELECT leasehold_internal." + call)).state; }
};

TEST_F(BoundsTest, TheNameOfAHolderIsBounded) {
  alice_.run(here("SELECT leasehold_internal.schedule_set('refresh', interval '10 min')"));
  alice_.run(here("SELECT leasehold_internal.job_enqueue_many('mail', '{a,b}')"));
  alice_.run(here("SELECT leasehold_internal.chunk_plan('orders', '{a}', '{1}')"));
  alice_.run(
      here("SELECT leasehold_internal.lock_release('known', (leasehold_internal.lock_acquire('known', 'ann')).token)"));
  const auto before = store_.dump();
  const std::vector<std::string> calls = {
      "lock_acquire('known', WHO)",
      "lock_acquire('new', WHO)",
      "lock_acquire_all('{a,b}', WHO)",
      "lock_share('pool', WHO)",
      "lock_wait('known', WHO, p_request => 'r')",
      "lock_wait_all('{a,b}', WHO, p_request => 'r')",
      "job_claim('mail', p_holder => WHO)",
      "job_claim('mail', 2, p_holder => WHO)",
      "lease_open('worker', WHO, interval '1 min', p_instance => 'i')",
      "loader_open(WHO, interval '1 min', p_instance => 'i')",
      "chunk_claim('orders', p_holder => WHO)",
      "session_open('ann', p_holder => WHO)",
      "schedule_acquire('refresh', WHO, at_once => true)",
      "rate_take('api', interval '1 s', p_holder => WHO)",
  };
  for (const auto& call : calls) {
    for (const auto* who : {"NULL", "''", "repeat('x', 513)", "repeat('x', 10000000)", "E'a\\nb'"}) {
      auto sql = call;
      sql.replace(sql.find("WHO"), 3, who);
      EXPECT_EQ(state_of(sql), "LH003") << sql;
    }
  }
  EXPECT_EQ(store_.dump(), before);
}

TEST_F(BoundsTest, TheOtherTextsOfAHolderAreBounded) {
  for (const auto* column : {"p_host", "p_boot_id", "p_tty", "p_instance"}) {
    EXPECT_EQ(state_of("lock_acquire('a', 'ann', " + std::string(column) + " => repeat('x', 4097))"), "LH003")
        << column;
    EXPECT_EQ(state_of("lock_acquire('a', 'ann', " + std::string(column) + " => NULL)"), "LH003") << column;
  }
  EXPECT_EQ(state_of("lock_acquire('a', 'ann', p_request => repeat('x', 513))"), "LH003");
  EXPECT_EQ(state_of("lock_acquire('a', 'ann', p_request => '')"), "LH003");
  EXPECT_EQ(state_of("lock_acquire('a', repeat('x', 512), p_host => repeat('x', 4096))"), "");
}

TEST_F(BoundsTest, CallsThatTravelTogetherHaveTheSameBounds) {
  alice_.run(here("SELECT leasehold_internal.job_enqueue_many('mail', '{a,b}')"));
  EXPECT_EQ(state_of("job_claim_each('{mail,mail}', '{1,1}', '{NULL,NULL}', ARRAY['ann', repeat('x', 513)], "
                     "'{NULL,NULL}', '{\"\",\"\"}', '{\"\",\"\"}', '{0,0}', '{0,0}', '{\"\",\"\"}', '{\"\",\"\"}', "
                     "'{NULL,NULL}', '{NULL,NULL}', '{NULL,NULL}', '{NULL,NULL}')"),
            "LH003");
}

TEST_F(BoundsTest, ReasonsAreShort) {
  alice_.run(here("SELECT leasehold_internal.session_open('ann')"));
  for (const auto* call :
       {"lock_revoke('deploy', REASON)", "lease_close(1, 'i', REASON)", "loader_close(1, 'i', REASON)",
        "session_close('ann', 1, REASON)", "session_revoke('ann', REASON)", "claim_release('SD-1', 'ann', 1, REASON)",
        "claim_hand_over('SD-1', 'ann', 1, REASON)", "claim_assign('SD-1', 'ann', REASON)",
        "claim_revoke('SD-1', REASON)", "job_cancel(1, REASON)", "queue_pause('mail', true, REASON)",
        "schedule_pause('refresh', REASON)"}) {
    std::string sql = call;
    sql.replace(sql.find("REASON"), 6, "repeat('x', 4097)");
    EXPECT_EQ(state_of(sql), "LH003") << sql;
  }
}

TEST_F(BoundsTest, LimitsOfAQueueFitIntoALook) {
  for (const auto* call :
       {"queue_set('mail', 2147483648)", "queue_set('mail', p_max_per_group => 9223372036854775807)",
        "queue_set('mail', p_rate_count => 1, p_rate_period => interval '101 years')", "queue_set('mail', -1)"}) {
    EXPECT_EQ(state_of(call), "LH003") << call;
  }
  EXPECT_EQ(state_of("queue_set('mail', 2147483647)"), "");
}

TEST_F(BoundsTest, RowsOfAllChunksCanBeAddedUp) {
  alice_.run(here("SELECT leasehold_internal.chunk_plan('orders', '{a,b}', '{1,2}')"));
  for (const auto* key : {"a", "b"}) {
    const auto token =
        alice_.scalar(here("SELECT token FROM leasehold_internal.chunk_claim('orders', '" + std::string(key) + "')"));
    EXPECT_EQ(state_of("chunk_settle('orders', '" + std::string(key) + "', " + token +
                       ", 'complete', p_rows => 9223372036854775807)"),
              "LH003");
    EXPECT_EQ(state_of("chunk_settle('orders', '" + std::string(key) + "', " + token +
                       ", 'complete', p_rows => 1000000000000000)"),
              "");
  }
  EXPECT_EQ(alice_.scalar(here("SELECT rows FROM leasehold_internal.chunk_set_list('orders')")), "2000000000000000");
}

TEST_F(BoundsTest, AStepHasASize) {
  for (const auto* size : {"0", "-1", "NULL", "4611686018427387904"}) {
    for (const auto* call :
         {"job_prune(interval '1 h', interval '1 h', 0, SIZE)", "job_list(NULL, NULL, SIZE)",
          "prune(interval '1 h', SIZE)", "lock_prune(interval '1 h', '', SIZE)", "lease_prune(interval '1 h', 0, SIZE)",
          "event_prune(interval '1 h', 0, SIZE)", "chunk_sweep(SIZE)", "schedule_sweep(SIZE)",
          "chunk_set_remove('orders', SIZE)", "schedule_remove('refresh', SIZE)"}) {
      std::string sql = call;
      sql.replace(sql.find("SIZE"), 4, size);
      EXPECT_EQ(state_of(sql), "LH003") << sql;
    }
  }
}

TEST_F(BoundsTest, AnAgeIsNotNegative) {
  for (const auto* age : {"NULL", "interval '-1 s'"}) {
    for (const auto* call : {"job_prune(AGE, interval '1 day', 0, 10)", "job_prune(interval '1 day', AGE, 0, 10)",
                             "prune(AGE, 10)", "prune_preview(AGE)"}) {
      std::string sql = call;
      sql.replace(sql.find("AGE"), 3, age);
      EXPECT_EQ(state_of(sql), "LH003") << sql;
    }
  }
}

}  // namespace
}  // namespace leasehold::support

// The functions have the same bounds for arguments as the library: one caller cannot fill the tables of all others, nor
// leave figures behind that a look cannot add up.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class BoundsTest : public SqlTest {
 protected:
  std::string state_of(const std::string& call) { return alice_.fail(here("SELECT leasehold_internal." + call)).state; }
  /// Of a call of a function that people use.
  std::string state_in_face(const std::string& call) {
    return alice_.fail(here("SELECT count(*) FROM leasehold." + call)).state;
  }
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
        "schedule_pause('refresh', REASON)", "chunk_skip_open('orders', 'a', REASON)"}) {
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

TEST_F(BoundsTest, AnAgeIsNotNegativeAndNotLongerThanACentury) {
  for (const auto* age : {"NULL", "interval '-1 s'", "interval '101 years'", "interval '100000000 years'"}) {
    for (const auto* call : {"job_prune(AGE, interval '1 day', 0, 10)", "job_prune(interval '1 day', AGE, 0, 10)",
                             "prune(AGE, 10)", "prune_preview(AGE)"}) {
      std::string sql = call;
      sql.replace(sql.find("AGE"), 3, age);
      EXPECT_EQ(state_of(sql), "LH003") << sql;
    }
    EXPECT_EQ(state_in_face("prune(" + std::string(age) + ")"), "LH003") << age;
  }
  EXPECT_EQ(state_in_face("prune(interval '100 years')"), "");
}

TEST_F(BoundsTest, ARangeMakesAsManyChunksAsTheLibraryAllows) {
  alice_.run("SET statement_timeout = '20s'");
  for (const auto* range :
       {"1, 1000000000000, 1", "1, 10000001, 1", "0, 20000000, 2", "-9223372036854775808, 9223372036854775807, 1",
        "-9223372036854775808, 9223372036854775807, 1000000000000", "9, 1, 1", "1, 9, 0", "1, 9, -1",
        "1, 9, -9223372036854775808", "NULL, 9, 1", "1, NULL, 1", "1, 9, NULL"}) {
    EXPECT_EQ(state_in_face("chunk_plan_range('big', " + std::string(range) + ")"), "LH003") << range;
  }
  EXPECT_EQ(observer_.scalar(here("SELECT count(*) FROM leasehold_internal.chunk_set")), "0");
}

TEST_F(BoundsTest, ARangeMayReachTheEndsOfItsNumbers) {
  const auto keys = [&](const std::string& set) {
    return alice_.scalar(
        here("SELECT string_agg(key || ' ' || spec, ', ' ORDER BY position) FROM "
             "leasehold_internal.chunk_list('" +
             set + "')"));
  };
  EXPECT_EQ(state_in_face("chunk_plan_range('up', 1, 9223372036854775807, 4611686018427387904)"), "");
  EXPECT_EQ(keys("up"),
            R"(1-4611686018427387904 {"from":1,"to":4611686018427387904}, )"
            R"(4611686018427387905-9223372036854775807 {"from":4611686018427387905,"to":9223372036854775807})");
  EXPECT_EQ(state_in_face("chunk_plan_range('all', -9223372036854775808, 9223372036854775807, 9223372036854775807)"),
            "");
  EXPECT_EQ(keys("all"),
            R"(-9223372036854775808--2 {"from":-9223372036854775808,"to":-2}, )"
            R"(-1-9223372036854775805 {"from":-1,"to":9223372036854775805}, )"
            R"(9223372036854775806-9223372036854775807 {"from":9223372036854775806,"to":9223372036854775807})");
  // More than one step of the plan.
  EXPECT_EQ(alice_.scalar(here("SELECT concat_ws(' ', added, total, state) FROM leasehold.chunk_plan_range('many', 1, "
                               "45000, 10)")),
            "4500 4500 planned");
  EXPECT_EQ(alice_.scalar(here("SELECT concat_ws(' ', min(position), max(position), count(DISTINCT position)) FROM "
                               "leasehold.chunks WHERE set = 'many'")),
            "0 4499 4500");
}

TEST_F(BoundsTest, ALookAtACalendarIsBounded) {
  alice_.run(here("SELECT leasehold_internal.schedule_set('cronny', cron => '* * * * *')"));
  alice_.run(here("SELECT leasehold_internal.schedule_set('pause', interval '1 hour')"));
  alice_.run("SET statement_timeout = '20s'");
  for (const auto* name : {"cronny", "pause"}) {
    for (const auto* max : {"0", "-1", "NULL", "10001", "100000000", "9223372036854775807"}) {
      EXPECT_EQ(state_in_face("schedule_next('" + std::string(name) + "', max => " + max + ")"), "LH003") << max;
    }
  }
  EXPECT_EQ(alice_.scalar(here("SELECT count(*) FROM leasehold.schedule_next('cronny', max => 1)")), "1");
  EXPECT_EQ(state_of("cron_occurrences('* * * * *', 'UTC', leasehold_internal.now(), max => 10001)"), "LH003");
  EXPECT_EQ(state_of("cron_occurrences('* * * * *', 'UTC', leasehold_internal.now(), max => NULL)"), "LH003");
}

TEST_F(BoundsTest, WhatTheLibraryRefusesPeopleCannotPassEither) {
  alice_.run(here("SELECT leasehold.chunk_plan('orders', '{a}', '{1}')"));
  alice_.run(here("SELECT leasehold.rate_set('api', '1 second')"));
  alice_.run(here("SELECT leasehold.item_add('SD-1')"));
  const auto before = store_.dump();
  for (const auto* call :
       {"schedule_set('s', every_min => '1 hour', every_max => '101 years')",
        "schedule_set('s', every_min => '101 years')",
        "schedule_set('s', every_min => '1 hour', fail_min => '1 hour', fail_max => '101 years')",
        "schedule_set('s', cron => '* * * * *', jitter => '101 years')",
        "schedule_set('s', every_min => '1 hour', misfire_after => '101 years')",
        "schedule_set('s', every_min => '1 hour', command => to_json(ARRAY['run', repeat('x', 262144)])::text)",
        "schedule_set('s', every_min => '1 hour', next_run_at => '-infinity')",
        "schedule_ensure('s', every_min => '101 years')",
        "session_open('ann', max_age => '101 years')",
        "session_open('ann', max_age => '1 millisecond')",
        "session_open('ann', exclusive => NULL)",
        "chunk_claim('orders', older_than => '101 years')",
        "chunk_reset('orders', 'older', older_than => '101 years')",
        "chunk_reset('orders', 'older')",
        "chunk_skip('orders', 'a', repeat('x', 4097))",
        "chunk_plan('orders', '{{a,b},{c,d}}', ARRAY[['1', NULL], ['3', '4']]::jsonb[])",
        "item_add('SD-1', conflicts => (SELECT array_agg('SD-' || i) FROM generate_series(2, 1002) AS i))",
        "item_add('SD-1', depends_on => (SELECT array_agg('SD-' || i) FROM generate_series(2, 1002) AS i))",
        "item_add('SD-1', conflicts => ARRAY['SD-2', NULL])",
        "item_add('SD-1', conflicts => '{{a,b},{c,d}}')",
        "item_add('SD-1', depends_on => ARRAY[repeat('x', 513)])",
        "job_enqueue('mail', '1', depends_on => ARRAY[NULL]::bigint[])",
        "job_enqueue('mail', '1', backoff_exponential => NULL)",
        "job_enqueue_many('mail', ARRAY['1']::jsonb[], backoff_exponential => NULL)",
        "job_enqueue('mail', '1', run_at => '-infinity')",
        "job_enqueue('mail', '1', expires_at => '0001-01-01 BC')",
        "recover(0)",
        "recover(-1)",
        "recover(NULL)",
        "recover(2147483648)",
        "recover(9223372036854775807)"}) {
    EXPECT_EQ(state_in_face(call), "LH003") << call;
  }
  EXPECT_EQ(store_.dump(), before);
  for (const auto* list : {"job_list(", "job_search('x', ", "job_bulk('cancel', "}) {
    for (const auto* filter : {"queue", "tag", "\"group\"", "batch", "dedupe_key"}) {
      const auto call = std::string(list) + filter + " => repeat('x', 4097))";
      EXPECT_EQ(state_in_face(call), "LH003") << call;
    }
  }
  EXPECT_EQ(store_.dump(), before);
  // Cut, or no place to begin: not a reason to refuse.
  EXPECT_EQ(state_in_face("rate_take('api', wait => '100000000 years')"), "");
  EXPECT_EQ(state_in_face("job_list(page => -9223372036854775808)"), "");
  EXPECT_EQ(state_in_face("job_search('x', page => -9223372036854775808)"), "");
}

}  // namespace
}  // namespace leasehold::support

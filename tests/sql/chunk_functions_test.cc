// Chunks as psql, an edge function or an ORM handles them: functions by name, inside the caller's own transaction.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class ChunkFunctionsTest : public SqlTest {
 protected:
  void SetUp() override { plan(observer_); }

  std::string plan(PgConnection& who, const std::string& planner = "1", const std::string& specs = "{1,2}") {
    return who.scalar(
        here("SELECT concat_ws(' ', created, added, replaced, removed, kept, differing, left_alone, "
             "total, set_state) FROM leasehold_internal.chunk_plan('orders', '{a,b}', '" +
             specs + "', p_planner => '" + planner + "')"));
  }
  /// Claims a chunk and gives its token.
  std::string claimed(PgConnection& who, const std::string& key = "a") {
    return who.scalar(
        here("SELECT token FROM leasehold_internal.chunk_claim('orders', '" + key + "', p_holder => 'alice')"));
  }
  std::string look(const std::string& columns, const std::string& key = "a") {
    return observer_.scalar(here("SELECT concat_ws(' ', " + columns + ") FROM leasehold.chunks WHERE key = '" + key +
                                 "' AND set = 'orders'"));
  }
  std::string call(PgConnection& who, const std::string& function) {
    return who.scalar(here("SELECT concat_ws(' ', outcome, why) FROM leasehold_internal." + function));
  }
};

TEST_F(ChunkFunctionsTest, AChunksWholeLifeByNameWithDefaults) {
  const auto token =
      alice_.scalar(here("SELECT token FROM leasehold_internal.chunk_claim('orders', p_holder => 'alice')"));
  EXPECT_EQ(look("state, holder, (held_until - leasehold_internal.now()), attempts"), "running alice 00:02:00 1");
  EXPECT_EQ(alice_.scalar(here("SELECT outcome || ' ' || rows FROM leasehold_internal.chunk_heartbeat('orders', 'a', " +
                               token + ", p_cursor => '{\"page\": 3}', p_rows => 30)")),
            "extended 30");
  EXPECT_EQ(look("cursor, rows"), "{\"page\": 3} 30");
  EXPECT_EQ(alice_.scalar(here(
                "SELECT state || ' ' || (due_at - store_now) FROM leasehold_internal.chunk_settle('orders', 'a', " +
                token + ", 'fail', p_error => 'no route')")),
            "deferred 00:00:02");
  const auto again = claimed(alice_);
  EXPECT_EQ(alice_.scalar(here("SELECT state || ' ' || set_state FROM leasehold_internal.chunk_settle('orders', 'a', " +
                               again + ", 'complete', p_rows => 40)")),
            "completed running");
  const auto other = claimed(alice_, "b");
  EXPECT_EQ(call(alice_, "chunk_settle('orders', 'b', " + other + ", 'release')"), "settled");
  EXPECT_EQ(alice_.scalar(here("SELECT state || ' ' || set_state FROM leasehold_internal.chunk_settle('orders', 'b', " +
                               claimed(alice_, "b") + ", 'skip', p_error => 'nothing in it')")),
            "skipped complete");
  EXPECT_EQ(alice_.scalar(here("SELECT state || ' ' || rows FROM leasehold_internal.chunk_set_list('orders')")),
            "complete 40");
}

TEST_F(ChunkFunctionsTest, APlanShowsWhatItChanged) {
  EXPECT_EQ(plan(alice_), "f 0 0 0 2 0 0 2 planned");
  EXPECT_EQ(plan(alice_, "1", "{1,22}"), "f 0 0 0 1 1 0 2 planned");
  EXPECT_EQ(plan(alice_, "2", "{1,22}"), "f 0 1 0 1 0 0 2 planned");
}

TEST_F(ChunkFunctionsTest, ARangeIsPlannedAsTheLibraryDoes) {
  alice_.run(here("SELECT leasehold_internal.chunk_plan_range('items', 1, 25, 10)"));
  EXPECT_EQ(alice_.scalar(
                here("SELECT string_agg(key || ' ' || spec, ', ' ORDER BY position) FROM leasehold_internal.chunk_list("
                     "'items')")),
            R"(1-10 {"from":1,"to":10}, 11-20 {"from":11,"to":20}, 21-25 {"from":21,"to":25})");
  const auto outcome = store_.open().chunks().plan("items", *plan_range(1, 25, 10));
  ASSERT_TRUE(ok(outcome));
  EXPECT_EQ(outcome->kept, 3);
  ASSERT_TRUE(ok(store_.open().chunks().plan("twin", *plan_range(1, 25, 10))));
  EXPECT_EQ(alice_.scalar(here("SELECT count(DISTINCT hash) FROM leasehold_internal.chunk WHERE key = '1-10'")), "1")
      << "the library and the functions make the same hash";
}

TEST_F(ChunkFunctionsTest, ASaveThatRolledBackWasNone) {
  const auto token = claimed(alice_);
  const auto expires = look("held_until");
  store_.advance(10s);
  alice_.run("BEGIN");
  EXPECT_EQ(call(alice_, "chunk_heartbeat('orders', 'a', " + token + ", p_cursor => '1', p_rows => 10)"), "extended");
  alice_.run("ROLLBACK");
  EXPECT_EQ(look("rows, cursor IS NULL"), "0 t");
  EXPECT_EQ(look("held_until"), expires);
}

TEST_F(ChunkFunctionsTest, RowsAndTheirCursorBecomeTrueTogether) {
  alice_.run("CREATE TABLE " + store_.schema() + ".rows_of_user (id int)");
  const auto token = claimed(alice_);
  for (const auto* end : {"ROLLBACK", "COMMIT"}) {
    alice_.run("BEGIN");
    alice_.run("INSERT INTO " + store_.schema() + ".rows_of_user SELECT generate_series(1, 10)");
    alice_.run(here("SELECT leasehold_internal.chunk_heartbeat('orders', 'a', " + token +
                    ", p_cursor => '10', p_rows => 10)"));
    alice_.run(end);
    EXPECT_EQ(look("rows"), bob_.scalar("SELECT count(*) FROM " + store_.schema() + ".rows_of_user")) << end;
  }
}

TEST_F(ChunkFunctionsTest, VerdictsClaimsAndPlansThatRolledBackWereNone) {
  const auto token = claimed(alice_);
  for (const auto& act :
       {"chunk_settle('orders', 'a', TOKEN, 'complete', p_rows => 10)", "chunk_settle('orders', 'a', TOKEN, 'fail')",
        "chunk_settle('orders', 'a', TOKEN, 'release')", "chunk_settle('orders', 'a', TOKEN, 'skip', p_error => 'why')",
        "chunk_claim('orders', 'b')", "chunk_plan('orders', '{c}', '{3}', '2')", "chunk_reset('orders', 'all')",
        "chunk_skip_open('orders', 'b', 'why')", "rate_take('api', interval '1 s')"}) {
    const auto before = store_.dump();
    auto sql = here(std::string("SELECT leasehold_internal.") + act);
    if (const auto at = sql.find("TOKEN"); at != std::string::npos) sql.replace(at, 5, token);
    alice_.run("BEGIN");
    alice_.run(sql);
    alice_.run("ROLLBACK");
    EXPECT_EQ(store_.dump(), before) << act;
  }
}

TEST_F(ChunkFunctionsTest, Promise04_ALateSaveOrVerdictIsLostAndChangesNothing) {
  const auto token = claimed(alice_);
  store_.advance(1h);
  claimed(bob_);
  const auto before = store_.dump();
  EXPECT_EQ(call(alice_, "chunk_heartbeat('orders', 'a', " + token + ", p_cursor => '9', p_rows => 99)"),
            "lost superseded");
  EXPECT_EQ(call(alice_, "chunk_settle('orders', 'a', " + token + ", 'complete', p_rows => 99)"), "lost superseded");
  EXPECT_EQ(call(alice_, "chunk_settle('orders', 'a', NULL, 'fail')"),
            call(alice_, "chunk_settle('orders', 'a', NULL, 'release')"));
  EXPECT_NE(call(alice_, "chunk_settle('orders', 'a', NULL, 'complete')"), "settled")
      << "a token of NULL is never current";
  EXPECT_EQ(store_.dump(), before);
}

TEST_F(ChunkFunctionsTest, Promise14_TheFenceRaisesLH001WithAHint) {
  const auto token = claimed(alice_);
  EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal.chunk_fence('orders', 'a', " + token + ")")).state, "");
  const auto stale = alice_.fail(here("SELECT leasehold_internal.chunk_fence('orders', 'a', 1)"));
  EXPECT_EQ(stale.state, "LH001");
  EXPECT_NE(stale.message.find("HINT"), std::string::npos) << stale.message;
  for (const auto* act : {"chunk_fence('orders', 'b', 1)", "chunk_fence('nothing', 'a', 1)",
                          "chunk_fence(NULL, 'a', 1)", "chunk_fence('orders', 'a', NULL)"}) {
    EXPECT_EQ(alice_.fail(here(std::string("SELECT leasehold_internal.") + act)).state, "LH001") << act;
  }
}

TEST_F(ChunkFunctionsTest, OtherIsolationLevelsAreRefused) {
  for (const auto* level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    for (const auto& act :
         {"chunk_plan('orders', '{a}', '{1}')", "chunk_plan_range('orders', 1, 9, 3)", "chunk_claim('orders')",
          "chunk_heartbeat('orders', 'a', 1)", "chunk_settle('orders', 'a', 1, 'complete')",
          "chunk_settle('orders', 'a', 1, 'fail')", "chunk_settle('orders', 'a', 1, 'release')",
          "chunk_settle('orders', 'a', 1, 'skip', p_error => 'why')", "chunk_skip_open('orders', 'a', 'why')",
          "chunk_reset('orders', 'all')", "chunk_set_settings('orders')", "chunk_tie_job('orders', 1)",
          "chunk_set_remove('orders')", "loader_open('ann', interval '1 minute', p_instance => 'i')",
          "loader_extend(1, '')", "loader_close(1, '')", "rate_take('api', interval '1 s')",
          "rate_set('api', interval '1 s')", "rate_remove('api')"}) {
      alice_.run(std::string("BEGIN ISOLATION LEVEL ") + level);
      EXPECT_EQ(alice_.fail(here(std::string("SELECT leasehold_internal.") + act)).state, "LH002")
          << level << ": " << act;
      alice_.run("ROLLBACK");
    }
  }
}

TEST_F(ChunkFunctionsTest, BadInputIsRefusedAndChangesNothing) {
  const auto token = claimed(alice_);
  const auto before = store_.dump();
  for (const auto& act : {"chunk_plan('', '{a}', '{1}')",
                          "chunk_plan('orders', '{\"\"}', '{1}')",
                          "chunk_plan('orders', '{a,a}', '{1,1}', '2')",
                          "chunk_plan('orders', '{c}', '{page 3}')",
                          "chunk_plan('orders', '{c,d}', '{1}')",
                          "chunk_plan('orders', '{c}', ARRAY[NULL])",
                          "chunk_plan('orders', '{c}', '{1}', p_max_failures => 0)",
                          "chunk_plan('orders', '{c}', '{1}', p_backoff_base => interval '-1 s')",
                          "chunk_plan('orders', '{c}', '{1}', p_default_ttl => interval '1 ms')",
                          "chunk_plan_range('orders', 9, 1, 1)",
                          "chunk_plan_range('orders', 1, 9, 0)",
                          "chunk_plan('orders', '{c}', '{1}', p_backoff_max => interval '101 years')",
                          "chunk_claim('')",
                          "chunk_claim('orders', p_max => 0)",
                          "chunk_claim('orders', p_max => 1001)",
                          "chunk_claim('orders', p_ttl => interval '1 ms')",
                          "chunk_claim('orders', p_older_than => interval '-1 s')",
                          "chunk_heartbeat('orders', 'a', TOKEN, p_cursor => 'page 3')",
                          "chunk_heartbeat('orders', 'a', TOKEN, p_cursor => '\"' || repeat('x', 65536) || '\"')",
                          "chunk_heartbeat('orders', 'a', TOKEN, p_rows => -1)",
                          "chunk_heartbeat('orders', 'a', TOKEN, p_rows => 1000000000000001)",
                          "chunk_heartbeat('orders', 'a', TOKEN, p_rows => 9223372036854775807)",
                          "chunk_settle('orders', 'a', TOKEN, 'complete', p_rows => -1)",
                          "chunk_settle('orders', 'a', TOKEN, 'complete', p_rows => 9223372036854775807)",
                          "chunk_settle('orders', 'a', TOKEN, 'complete', p_cursor => '{')",
                          "chunk_settle('orders', 'a', TOKEN, 'fail', p_delay => interval '-1 s')",
                          "chunk_settle('orders', 'a', TOKEN, 'fail', p_delay => interval '101 years')",
                          "chunk_settle('orders', 'a', TOKEN, 'destroy')",
                          "chunk_reset('orders', 'some')",
                          "chunk_reset('orders', 'older')",
                          "rate_take('', interval '1 s')",
                          "rate_take('api', interval '0')",
                          "rate_take('api', interval '1 s', 0)",
                          "rate_set('api', NULL)"}) {
    auto sql = here(std::string("SELECT leasehold_internal.") + act);
    if (const auto at = sql.find("TOKEN"); at != std::string::npos) sql.replace(at, 5, token);
    EXPECT_EQ(alice_.fail(sql).state, "LH003") << act;
  }
  EXPECT_EQ(store_.dump(), before);
}

TEST_F(ChunkFunctionsTest, TheViewOfAllLeasesShowsChunks) {
  claimed(alice_);
  EXPECT_EQ(alice_.scalar(here("SELECT kind || ' ' || key || ' ' || state || ' ' || holder FROM leasehold.leases")),
            "chunk orders/a running alice");
  store_.advance(1h);
  EXPECT_EQ(alice_.scalar(here("SELECT state FROM leasehold.leases")), "expired");
  EXPECT_EQ(look("state"), "expired");
}

TEST_F(ChunkFunctionsTest, ALimitIsSharedByAllWhoCallIt) {
  EXPECT_EQ(alice_.scalar(here("SELECT outcome || ' ' || (at - store_now) FROM leasehold_internal.rate_take('api', "
                               "interval '750 ms', p_holder => 'alice')")),
            "granted 00:00:00");
  EXPECT_EQ(bob_.scalar(here("SELECT outcome || ' ' || (at - store_now) FROM leasehold_internal.rate_take('api')")),
            "granted 00:00:00.75");
  EXPECT_EQ(bob_.scalar(here("SELECT outcome || ' ' || (retry_at - store_now) FROM leasehold_internal.rate_take('api', "
                             "p_patience => interval '1 s')")),
            "rate_limited 00:00:01.5");
}

/// A role with the scope that loaders have: it may call, and it may not touch.
class ChunkPrivilegesTest : public SqlTest {
 protected:
  void SetUp() override {
    role_ = "loader_" + store_.schema();
    observer_.run("CREATE ROLE " + role_);
    observer_.run(here("SELECT leasehold_internal.grant_scope('" + role_ + "', 'work')"));
    alice_.run("SET ROLE " + role_);
  }
  void TearDown() override {
    alice_.run("RESET ROLE");
    observer_.run("DROP OWNED BY " + role_ + "; DROP ROLE " + role_);
  }

  std::string role_;
};

TEST_F(ChunkPrivilegesTest, ALoaderMayCallWhatLoadingNeeds) {
  for (const auto* call :
       {"chunk_plan('orders', '{a,b}', '{1,2}')", "chunk_plan_range('items', 1, 9, 3)",
        "chunk_claim('orders', p_request_id => 'r')", "chunk_heartbeat('orders', 'a', 1, p_cursor => '1', p_rows => 1)",
        "chunk_settle('orders', 'a', 1, 'complete')", "chunk_settle('orders', 'a', 1, 'fail')",
        "chunk_settle('orders', 'a', 1, 'release')", "chunk_settle('orders', 'a', 1, 'skip', p_error => 'why')",
        "chunk_tie_job('orders', 1)", "chunk_set_list()", "chunk_list('orders')",
        "loader_open('ann', interval '1 minute', p_instance => 'i')", "loader_extend(1, 'i')", "loader_close(1, 'i')",
        "rate_take('api', interval '1 s')", "rate_list()", "recover()",
        "await_topic('chunks:orders', interval '1 s')"}) {
    EXPECT_EQ(alice_.fail(here(std::string("SELECT leasehold_internal.") + call)).message, "") << call;
  }
}

TEST_F(ChunkPrivilegesTest, OperatingAndTheTablesStayClosed) {
  for (const auto* call :
       {"chunk_reset('orders', 'all')", "chunk_skip_open('orders', 'a', 'why')", "chunk_set_settings('orders')",
        "chunk_set_remove('orders')", "rate_set('api', interval '1 s')", "rate_remove('api')"}) {
    EXPECT_EQ(alice_.fail(here(std::string("SELECT leasehold_internal.") + call)).state, "42501") << call;
  }
  for (const auto* table : {"chunk", "chunk_set", "rate"}) {
    EXPECT_EQ(alice_.fail(here(std::string("SELECT * FROM leasehold_internal.") + table)).state, "42501") << table;
    EXPECT_EQ(alice_.fail(here(std::string("DELETE FROM leasehold_internal.") + table)).state, "42501") << table;
  }
}

}  // namespace
}  // namespace leasehold::support

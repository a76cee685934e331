// Schedules as psql, an edge function or an ORM handles them: functions by name, views, inside the caller's own
// transaction.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class ScheduleFunctionsTest : public SqlTest {
 protected:
  void SetUp() override {
    observer_.run(
        here("SELECT leasehold_internal.schedule_set('refresh', interval '10 min', next_run_at => "
             "leasehold_internal.now())"));
    observer_.run(here("SELECT leasehold_internal.schedule_set('mail', cron => '0 9 * * *', queue => 'mail')"));
  }

  std::string acquired(const std::string& name, const std::string& how = "holder => 'ann', host => 'db1'") {
    return observer_.scalar(here("SELECT token FROM leasehold_internal.schedule_acquire('" + name + "', " + how + ")"));
  }
  std::string look(const std::string& columns, const std::string& from) {
    return observer_.scalar(here("SELECT concat_ws(' ', " + columns + ") FROM leasehold" +
                                 (from.find('(') == std::string::npos ? "." : "_internal.") + from));
  }
  std::string call(PgConnection& who, const std::string& function) {
    return who.scalar(here("SELECT concat_ws(' ', outcome, why) FROM leasehold_internal." + function));
  }
  /// The word that stands for the token replaced.
  std::string filled(std::string act) const {
    if (const auto at = act.find("TOKEN"); at != std::string::npos) act.replace(at, 5, token_);
    return here("SELECT leasehold_internal." + act);
  }

  std::string token_;  ///< of refresh, where a test acquires it
};

TEST_F(ScheduleFunctionsTest, AWholeLifeByNameWithDefaults) {
  EXPECT_EQ(look("created, changed, next_run_at - wall_now BETWEEN interval '10 min' AND interval '15 min'",
                 "schedule_set('x', interval '10 min', interval '15 min')"),
            "t t t");
  EXPECT_EQ(look("created, changed, next_run_at = wall_now",
                 "schedule_set('x', interval '10 min', interval '15 min', next_run_at => leasehold_internal.now())"),
            "f t t");
  EXPECT_EQ(alice_.scalar(here("SELECT (leasehold_internal.schedule_acquire('x')).holder = session_user")), "t");
  EXPECT_EQ(look("outcome, holder = session_user, expires_at - store_now, replayed", "schedule_acquire('x')"),
            "held t 00:05:00 f");
  token_ = look("token", "schedule_list('x')");
  EXPECT_EQ(call(alice_, "schedule_heartbeat('x', " + token_ + ")"), "extended");
  EXPECT_EQ(look("outcome, next_run_at - wall_now BETWEEN interval '10 min' AND interval '15 min'",
                 "schedule_settle('x', " + token_ + ")"),
            "settled t");
  EXPECT_EQ(call(alice_, "schedule_acquire('x')"), "not_due");
  EXPECT_EQ(call(alice_, "schedule_trigger('x')"), "triggered");
  EXPECT_EQ(look("outcome, cause, ttl", "schedule_acquire('x', ttl => interval '1 min')"),
            "granted triggered 00:01:00");
  token_ = look("token", "schedule_list('x')");
  EXPECT_EQ(call(alice_, "schedule_release('x', " + token_ + ")"), "released");
  EXPECT_EQ(alice_.scalar(here("SELECT leasehold_internal.schedule_pause('x')")), "paused");
  EXPECT_EQ(call(alice_, "schedule_acquire('x', at_once => true)"), "paused");
  EXPECT_EQ(call(alice_, "schedule_resume('x')"), "resumed");
  EXPECT_EQ(alice_.scalar(here("SELECT leasehold_internal.schedule_rename('x', 'y')")), "renamed");
  EXPECT_EQ(call(alice_, "schedule_remove('y')"), "removed");
  EXPECT_EQ(observer_.scalar(here("SELECT array_agg(occurrence) FROM leasehold.schedule_next('mail', 2)")),
            "{\"2026-03-02 09:00:00+00\",\"2026-03-03 09:00:00+00\"}");
  store_.advance(24h);
  EXPECT_EQ(look("outcome, occurrence, job_id IS NOT NULL", "schedule_fire('mail')"),
            "enqueued 2026-03-02 09:00:00+00 t");
  EXPECT_EQ(look("name, fires, runs", "schedule_due(1)"), "refresh f f");
}

TEST_F(ScheduleFunctionsTest, TheViewOfSchedulesSaysHowTheyAre) {
  const auto seen = [&](const std::string& name) {
    return look(
        "state, rule, zone, next_cause, next_run_in_seconds, queue, pause_reason, holder, host, last_outcome, "
        "last_holder, last_error",
        "schedules WHERE name = '" + name + "'");
  };
  EXPECT_EQ(seen("refresh"), "due every 00:10:00 scheduled 0");
  EXPECT_EQ(seen("mail"), "waiting 0 9 * * * UTC scheduled 84600 mail");
  token_ = acquired("refresh");
  EXPECT_EQ(seen("refresh"), "running every 00:10:00 scheduled 600 ann db1");
  store_.advance(5min);
  EXPECT_EQ(seen("refresh"), "expired every 00:10:00 scheduled 300 ann db1");
  alice_.run(filled("schedule_settle('refresh', TOKEN, false, 'no route')"));
  EXPECT_EQ(seen("refresh"), "waiting every 00:10:00 scheduled 600 failed ann no route");
  alice_.run(here("SELECT leasehold_internal.schedule_pause('refresh', 'why')"));
  EXPECT_EQ(seen("refresh"), "paused every 00:10:00 scheduled 600 why failed ann no route");
}

TEST_F(ScheduleFunctionsTest, TheViewOfRunsIsTheHistoryOfAll) {
  token_ = acquired("refresh");
  store_.advance(3s);
  const auto runs =
      "string_agg(concat_ws(' ', name, cause, outcome, took, holder, counts, missed, reason), '; ' "
      "ORDER BY started_at NULLS LAST)";
  EXPECT_EQ(look(runs, "schedule_runs"), "refresh scheduled running ann 0");
  alice_.run(filled("schedule_settle('refresh', TOKEN, counts => '{\"rows\": 7}')"));
  store_.advance(72h);
  alice_.run(here("SELECT leasehold_internal.schedule_fire('mail')"));
  EXPECT_EQ(
      look(runs, "schedule_runs"),
      "refresh scheduled completed 00:00:03 ann {\"rows\": 7} 0; mail scheduled enqueued 00:00:00  0; mail scheduled "
      "skipped  2 misfire");
  EXPECT_EQ(look("kind, key, state", "leases"), "") << "nothing is held";
}

TEST_F(ScheduleFunctionsTest, ActsThatRolledBackWereNone) {
  token_ = acquired("refresh");
  store_.advance(72h);
  const auto before = store_.dump();
  for (const auto* act :
       {"schedule_set('new', interval '1 h')", "schedule_set('mail', interval '1 h')", "schedule_acquire('refresh')",
        "schedule_acquire('mail')", "schedule_settle('refresh', TOKEN)", "schedule_release('refresh', TOKEN)",
        "schedule_trigger('mail')", "schedule_pause('mail')", "schedule_rename('mail', 'news')",
        "schedule_remove('refresh')", "schedule_fire('mail')", "recover()"}) {
    alice_.run("BEGIN");
    alice_.run(filled(act));
    alice_.run("ROLLBACK");
    EXPECT_EQ(store_.dump(), before) << act;
  }
}

TEST_F(ScheduleFunctionsTest, ARunIsFinishedWithTheUsersOwnRowsOrNotAtAll) {
  alice_.run("CREATE TABLE " + store_.schema() + ".prices (item text)");
  token_ = acquired("refresh");
  for (const auto* end : {"ROLLBACK", "COMMIT"}) {
    alice_.run("BEGIN");
    alice_.run(filled("schedule_fence('refresh', TOKEN)"));
    alice_.run("INSERT INTO " + store_.schema() + ".prices VALUES ('tea')");
    EXPECT_EQ(call(alice_, "schedule_settle('refresh', " + token_ + ")"), "settled");
    EXPECT_EQ(look("outcome", "schedule_runs"), "running") << "it is visible only after the commit";
    alice_.run(end);
    EXPECT_EQ(look("count(*)", "schedule_runs WHERE outcome = 'completed'"),
              bob_.scalar("SELECT count(*) FROM " + store_.schema() + ".prices"))
        << end;
  }
}

TEST_F(ScheduleFunctionsTest, Promise04_LateActsAreLostAndATokenOfNullIsNeverCurrent) {
  token_ = acquired("refresh");
  store_.advance(1h);
  acquired("refresh", "holder => 'bob'");
  const auto before = store_.dump();
  EXPECT_EQ(call(alice_, "schedule_settle('refresh', " + token_ + ")"), "lost superseded");
  EXPECT_EQ(call(alice_, "schedule_release('refresh', " + token_ + ")"), "lost superseded");
  EXPECT_EQ(call(alice_, "schedule_heartbeat('refresh', " + token_ + ")"), "lost superseded");
  EXPECT_EQ(call(alice_, "schedule_settle('refresh', NULL)"), "lost superseded");
  EXPECT_EQ(call(alice_, "schedule_release('refresh', NULL)"), "lost superseded");
  EXPECT_EQ(call(alice_, "schedule_heartbeat('refresh', NULL)"), "lost superseded");
  EXPECT_EQ(call(alice_, "schedule_acquire(NULL)"), "not_found");
  EXPECT_EQ(store_.dump(), before);
}

TEST_F(ScheduleFunctionsTest, Promise14_TheFenceRaisesLH001WithAHint) {
  token_ = acquired("refresh");
  EXPECT_EQ(alice_.fail(filled("schedule_fence('refresh', TOKEN)")).state, "");
  const auto stale = alice_.fail(here("SELECT leasehold_internal.schedule_fence('refresh', 1)"));
  EXPECT_EQ(stale.state, "LH001");
  EXPECT_NE(stale.message.find("HINT"), std::string::npos) << stale.message;
  for (const auto* act : {"schedule_fence('mail', TOKEN)", "schedule_fence('nothing', 1)", "schedule_fence(NULL, 1)",
                          "schedule_fence('refresh', NULL)"}) {
    EXPECT_EQ(alice_.fail(filled(act)).state, "LH001") << act;
  }
}

TEST_F(ScheduleFunctionsTest, OtherIsolationLevelsAreRefused) {
  for (const auto* level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    for (const auto* act :
         {"schedule_set('new', interval '1 h')", "schedule_acquire('refresh')", "schedule_heartbeat('refresh', 1)",
          "schedule_settle('refresh', 1)", "schedule_release('refresh', 1)", "schedule_trigger('refresh')",
          "schedule_pause('refresh')", "schedule_resume('refresh')", "schedule_rename('refresh', 'new')",
          "schedule_remove('refresh')", "schedule_fire('mail')"}) {
      alice_.run(std::string("BEGIN ISOLATION LEVEL ") + level);
      EXPECT_EQ(alice_.fail(filled(act)).state, "LH002") << level << ": " << act;
      alice_.run("ROLLBACK");
    }
  }
}

TEST_F(ScheduleFunctionsTest, BadInputIsRefusedAndChangesNothing) {
  token_ = acquired("refresh");
  const auto before = store_.dump();
  for (const auto* act : {"schedule_set('', interval '1 h')",
                          "schedule_set(NULL, interval '1 h')",
                          "schedule_set(repeat('x', 513), interval '1 h')",
                          "schedule_set(E'line\\nbreak', interval '1 h')",
                          "schedule_set('new')",
                          "schedule_set('new', interval '1 h', cron => '0 9 * * *')",
                          "schedule_set('new', interval '-1 s')",
                          "schedule_set('new', interval '2 h', interval '1 h')",
                          "schedule_set('new', NULL, interval '1 h')",
                          "schedule_set('new', interval '0.9 s')",
                          "schedule_set('new', interval '1 h', jitter => interval '1 s')",
                          "schedule_set('new', interval '1 h', jitter => NULL)",
                          "schedule_set('new', cron => '0 25 * * *')",
                          "schedule_set('new', cron => '0 9 * * *', zone => 'Europe/Berln')",
                          "schedule_set('new', cron => '0 9 * * *', jitter => interval '-1 s')",
                          "schedule_set('new', interval '1 h', fail_min => interval '2 h', fail_max => '1 h')",
                          "schedule_set('new', interval '1 h', fail_max => interval '1 h')",
                          "schedule_set('new', interval '1 h', ttl => interval '1 ms')",
                          "schedule_set('new', interval '1 h', ttl => NULL)",
                          "schedule_set('new', interval '1 h', misfire => 'never')",
                          "schedule_set('new', interval '1 h', misfire => NULL)",
                          "schedule_set('new', interval '1 h', misfire_after => interval '-1 s')",
                          "schedule_set('new', interval '1 h', queue => 'mail', command => '[\"true\"]')",
                          "schedule_set('new', interval '1 h', payload => 'x')",
                          "schedule_set('new', interval '1 h', command => 'make all')",
                          "schedule_set('new', interval '1 h', command => 'true')",
                          "schedule_set('new', interval '1 h', command => '[]')",
                          "schedule_set('new', interval '1 h', command => '[\"make\", 1]')",
                          "schedule_acquire('refresh', ttl => interval '1 ms')",
                          "schedule_heartbeat('refresh', TOKEN, interval '31 days')",
                          "schedule_settle('refresh', TOKEN, counts => 'seven')",
                          "schedule_pause('refresh', repeat('x', 4097))",
                          "schedule_rename('refresh', '')",
                          "schedule_rename('refresh', NULL)"}) {
    EXPECT_EQ(alice_.fail(filled(act)).state, "LH003") << act;
  }
  EXPECT_EQ(store_.dump(), before);
}

TEST_F(ScheduleFunctionsTest, TheIndexesStopWritesPastTheFunctions) {
  token_ = acquired("refresh");
  const auto insert = [&](const std::string& occurrence, const std::string& token, const std::string& outcome) {
    return alice_
        .fail(here(
            "INSERT INTO leasehold_internal.schedule_run (schedule_id, occurrence, cause, token, outcome) SELECT id, " +
            occurrence + ", 'scheduled', " + token + ", " + outcome +
            " FROM leasehold_internal.schedule WHERE name = 'refresh'"))
        .state;
  };
  EXPECT_EQ(insert("leasehold_internal.now() + interval '1 s'", "99", "NULL"), "23505") << "one run at a time";
  EXPECT_EQ(insert("leasehold_internal.now()", "99", "'ok'"), "23505") << "an occurrence is taken once";
  EXPECT_EQ(insert("leasehold_internal.now() + interval '1 s'", token_, "'ok'"), "23505") << "a token is given once";
  EXPECT_EQ(insert("leasehold_internal.now() + interval '1 s'", "99", "'ok'"), "");
  EXPECT_EQ(call(alice_, "schedule_settle('refresh', " + token_ + ")"), "settled");
}

}  // namespace
}  // namespace leasehold::support

// Waits about schedules: the lock matrix of docs/semantics.md, pair by pair. Alice does the first thing in
// a transaction that stays open, bob the second. `r` is run by ann, whose lease lasts 30 seconds; `d` is due, and so is
// `q`, which puts jobs into a queue.
#include <gtest/gtest.h>

#include <map>

#include "sql/matrix_fixture.h"

namespace leasehold::support {
namespace {

std::map<std::string, std::string> schedule_acts() {
  return {
      {"acquire", "concat_ws(' ', outcome, holder) FROM leasehold_internal.schedule_acquire('d', 'ben')"},
      {"acquire as cid", "concat_ws(' ', outcome, holder) FROM leasehold_internal.schedule_acquire('d', 'cid')"},
      {"acquire q", "outcome FROM leasehold_internal.schedule_acquire('q', 'cid')"},
      {"take over", "concat_ws(' ', outcome, holder) FROM leasehold_internal.schedule_acquire('r', 'cid')"},
      {"beat", "concat_ws(' ', outcome, why) FROM leasehold_internal.schedule_heartbeat('r', TOKEN)"},
      {"finish", "concat_ws(' ', outcome, why) FROM leasehold_internal.schedule_settle('r', TOKEN)"},
      {"fail", "concat_ws(' ', outcome, why) FROM leasehold_internal.schedule_settle('r', TOKEN, false)"},
      {"release", "concat_ws(' ', outcome, why) FROM leasehold_internal.schedule_release('r', TOKEN)"},
      {"fence", "'passed' FROM leasehold_internal.schedule_fence('r', TOKEN)"},
      {"trigger", "outcome FROM leasehold_internal.schedule_trigger('d')"},
      {"trigger r", "outcome FROM leasehold_internal.schedule_trigger('r')"},
      {"pause", "leasehold_internal.schedule_pause('d')"},
      {"pause r", "leasehold_internal.schedule_pause('r')"},
      {"set", "changed FROM leasehold_internal.schedule_set('d', cron => '0 9 * * *')"},
      {"set r", "changed FROM leasehold_internal.schedule_set('r', cron => '0 9 * * *')"},
      {"set new", "created FROM leasehold_internal.schedule_set('new', interval '1 h')"},
      {"rename", "leasehold_internal.schedule_rename('d', 'e')"},
      {"remove", "outcome FROM leasehold_internal.schedule_remove('d')"},
      {"remove r", "outcome FROM leasehold_internal.schedule_remove('r')"},
      {"fire", "outcome FROM leasehold_internal.schedule_fire('q')"},
      {"recover", "runs FROM leasehold_internal.recover()"},
      {"reap", "outcome FROM leasehold_internal.lease_reap(LEASE, 'boot', 7, 8)"},
      {"show", "state FROM leasehold_internal.schedule_list('d')"},
      {"due", "name FROM leasehold_internal.schedule_due(1)"},
  };
}

class ScheduleMatrixTest : public MatrixTest {
 protected:
  ScheduleMatrixTest() : MatrixTest(schedule_acts()) {}

  void SetUp() override {
    observer_.run(
        here("SELECT leasehold_internal.schedule_ensure(name, interval '10 min', ttl => interval '30 s') FROM "
             "unnest('{d,r}'::text[]) AS name"));
    observer_.run(
        here("SELECT leasehold_internal.schedule_set('q', interval '10 min', queue => 'mail', next_run_at => "
             "leasehold_internal.now())"));
    const auto row =
        observer_.rows(here("SELECT token, lease_id FROM leasehold_internal.schedule_acquire('r', 'ann', boot_id => "
                            "leasehold_internal.boot_id_of('boot'), pid => 7, "
                            "process_start => 8)"));
    words_["TOKEN"] = row.at(0).at(0).value();
    words_["LEASE"] = row.at(0).at(1).value();
  }
  /// A run under way has a lease, which has not ended and which its schedule points at; and each run its own token.
  void expect_sound() override {
    EXPECT_EQ(observer_.scalar(here(
                  "SELECT count(*) FROM leasehold_internal.schedule_run AS r JOIN leasehold_internal.schedule AS s ON "
                  "s.id = r.schedule_id LEFT JOIN leasehold_internal.lease AS l ON l.id = s.lease_id WHERE "
                  "r.outcome IS NULL AND (l.id IS DISTINCT FROM r.lease_id OR l.ended_at IS NOT NULL)")),
              "0");
    EXPECT_EQ(observer_.scalar(
                  here("SELECT count(*) FROM leasehold_internal.schedule AS s WHERE s.lease_id IS NOT NULL AND NOT "
                       "EXISTS (SELECT FROM leasehold_internal.schedule_run AS r WHERE r.schedule_id = s.id AND "
                       "r.outcome IS NULL)")),
              "0");
    EXPECT_EQ(observer_.scalar(
                  here("SELECT count(*) FROM leasehold_internal.lease AS l WHERE l.kind = 'schedule' AND l.ended_at "
                       "IS NULL AND NOT EXISTS (SELECT FROM leasehold_internal.schedule AS s WHERE s.lease_id = "
                       "l.id)")),
              "0");
  }
};

TEST_P(ScheduleMatrixTest, EachPairWaitsOrPassesAsPromised) { expect_as_promised(); }

TEST_P(ScheduleMatrixTest, ARolledBackActLeavesNoTrace) { expect_sound_after_rollback(); }

// Ann's lease has run out, and the schedule is removed.
INSTANTIATE_TEST_SUITE_P(
    Removals, ScheduleMatrixTest,
    ::testing::Values(Pair{"RemoveThenBeat", "remove r", "beat", Bob::waits, "not_found", Expiry::before_alice},
                      Pair{"RemoveThenFinish", "remove r", "finish", Bob::waits, "not_found", Expiry::before_alice},
                      Pair{"RemoveThenFail", "remove r", "fail", Bob::waits, "not_found", Expiry::before_alice},
                      Pair{"RemoveThenRelease", "remove r", "release", Bob::waits, "not_found", Expiry::before_alice},
                      Pair{"RemoveThenFence", "remove r", "fence", Bob::waits, "LH001", Expiry::before_alice},
                      Pair{"RemoveThenTrigger", "remove r", "trigger r", Bob::waits, "not_found", Expiry::before_alice},
                      Pair{"RemoveThenPause", "remove r", "pause r", Bob::waits, "not_found", Expiry::before_alice},
                      Pair{"RemoveThenSet", "remove r", "set r", Bob::waits, "t", Expiry::before_alice},
                      Pair{"RemoveThenRemove", "remove r", "remove r", Bob::waits, "not_found", Expiry::before_alice},
                      Pair{"RemoveThenRename", "remove", "rename", Bob::waits, "not_found"}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Acquires, ScheduleMatrixTest,
    ::testing::Values(Pair{"AcquireThenAcquire", "acquire", "acquire as cid", Bob::waits, "held ben"},
                      Pair{"AcquireThenSet", "acquire", "set", Bob::waits, "t"},
                      Pair{"SetThenAcquire", "set", "acquire", Bob::waits, "not_due"},
                      Pair{"SetThenSet", "set new", "set new", Bob::waits, "f"},
                      Pair{"AcquireThenTrigger", "acquire", "trigger", Bob::waits, "triggered"},
                      Pair{"TriggerThenAcquire", "trigger", "acquire", Bob::waits, "granted ben"},
                      Pair{"AcquireThenPause", "acquire", "pause", Bob::waits, "paused"},
                      Pair{"PauseThenAcquire", "pause", "acquire", Bob::waits, "paused"},
                      Pair{"RenameThenAcquire", "rename", "acquire", Bob::waits, "not_found"},
                      Pair{"RemoveThenAcquire", "remove", "acquire", Bob::waits, "not_found"},
                      Pair{"AcquireThenRemove", "acquire", "remove", Bob::waits, "held"},
                      Pair{"AcquireThenRecover", "acquire", "recover", Bob::passes, "0"},
                      Pair{"AcquireThenShow", "acquire", "show", Bob::passes, "due"},
                      Pair{"AcquireThenDue", "acquire", "due", Bob::passes, "d"},
                      Pair{"TriggerThenAcquireOfHeld", "trigger r", "take over", Bob::passes, "held ann"},
                      Pair{"FireThenFire", "fire", "fire", Bob::passes, "busy"},
                      Pair{"FireThenAcquire", "fire", "acquire q", Bob::waits, "not_due"},
                      Pair{"AcquireThenFire", "acquire q", "fire", Bob::passes, "busy"}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(Runs, ScheduleMatrixTest,
                         ::testing::Values(Pair{"FinishThenFinish", "finish", "finish", Bob::waits, "settled"},
                                           Pair{"FinishThenFail", "finish", "fail", Bob::waits, "lost finished"},
                                           Pair{"FinishThenBeat", "finish", "beat", Bob::waits, "lost finished"},
                                           Pair{"BeatThenFinish", "beat", "finish", Bob::waits, "settled"},
                                           Pair{"BeatThenBeat", "beat", "beat", Bob::waits, "extended"},
                                           Pair{"BeatThenPause", "beat", "pause r", Bob::passes, "paused"},
                                           Pair{"PauseThenBeat", "pause r", "beat", Bob::passes, "extended"},
                                           Pair{"SetThenBeat", "set r", "beat", Bob::passes, "extended"},
                                           Pair{"SetThenFinish", "set r", "finish", Bob::waits, "settled"},
                                           Pair{"FinishThenTrigger", "finish", "trigger r", Bob::waits, "triggered"},
                                           Pair{"FinishThenRemove", "finish", "remove r", Bob::waits, "removed"},
                                           Pair{"FenceThenFence", "fence", "fence", Bob::passes, "passed"},
                                           Pair{"FenceThenBeat", "fence", "beat", Bob::passes, "extended"},
                                           Pair{"BeatThenFence", "beat", "fence", Bob::passes, "passed"},
                                           Pair{"FenceThenTrigger", "fence", "trigger r", Bob::passes, "triggered"},
                                           Pair{"FenceThenFinish", "fence", "finish", Bob::waits, "settled"},
                                           Pair{"FenceThenRelease", "fence", "release", Bob::waits, "released"},
                                           Pair{"FinishThenFence", "finish", "fence", Bob::waits, "LH001"},
                                           Pair{"ReleaseThenFence", "release", "fence", Bob::waits, "LH001"},
                                           Pair{"FenceThenReap", "fence", "reap", Bob::passes, "gone"},
                                           Pair{"BeatThenReap", "beat", "reap", Bob::passes, "gone"},
                                           Pair{"FinishThenReap", "finish", "reap", Bob::passes, "gone"},
                                           Pair{"PauseThenReap", "pause r", "reap", Bob::passes, "gone"},
                                           Pair{"ReapThenReap", "reap", "reap", Bob::passes, "gone"},
                                           Pair{"ReapThenAcquire", "reap", "take over", Bob::passes, "held ann"},
                                           Pair{"ReapThenFinish", "reap", "finish", Bob::waits, "lost expired"},
                                           Pair{"ReapThenBeat", "reap", "beat", Bob::waits, "lost expired"},
                                           Pair{"ReapThenPause", "reap", "pause r", Bob::waits, "paused"}),
                         pair_name);

INSTANTIATE_TEST_SUITE_P(
    Endings, ScheduleMatrixTest,
    ::testing::Values(
        Pair{"FenceThenTakeover", "fence", "take over", Bob::passes, "busy ann", Expiry::after_alice},
        Pair{"BeatThenTakeover", "beat", "take over", Bob::passes, "busy ann", Expiry::after_alice},
        Pair{"FenceThenRecover", "fence", "recover", Bob::passes, "0", Expiry::after_alice},
        Pair{"FenceThenRemove", "fence", "remove r", Bob::waits, "removed", Expiry::after_alice},
        Pair{"FinishThenTakeover", "finish", "take over", Bob::waits, "not_due", Expiry::before_alice},
        Pair{"ReleaseThenTakeover", "release", "take over", Bob::waits, "granted cid", Expiry::before_alice},
        Pair{"TakeoverThenFinish", "take over", "finish", Bob::waits, "lost superseded", Expiry::before_alice},
        Pair{"TakeoverThenRelease", "take over", "release", Bob::waits, "lost superseded", Expiry::before_alice},
        Pair{"TakeoverThenBeat", "take over", "beat", Bob::waits, "lost superseded", Expiry::before_alice},
        Pair{"TakeoverThenFence", "take over", "fence", Bob::waits, "LH001", Expiry::before_alice},
        Pair{"TakeoverThenTakeover", "take over", "take over", Bob::waits, "held cid", Expiry::before_alice},
        Pair{"TakeoverThenRecover", "take over", "recover", Bob::passes, "0", Expiry::before_alice},
        Pair{"TakeoverThenReap", "take over", "reap", Bob::passes, "gone", Expiry::before_alice},
        Pair{"RecoverThenTakeover", "recover", "take over", Bob::waits, "granted cid", Expiry::before_alice},
        Pair{"RecoverThenFinish", "recover", "finish", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"RecoverThenBeat", "recover", "beat", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"RecoverThenRecover", "recover", "recover", Bob::passes, "0", Expiry::before_alice},
        Pair{"RecoverThenReap", "recover", "reap", Bob::passes, "gone", Expiry::before_alice},
        Pair{"ReapThenTakeover", "reap", "take over", Bob::waits, "granted cid", Expiry::before_alice},
        Pair{"ReapThenRecover", "reap", "recover", Bob::passes, "0", Expiry::before_alice}),
    pair_name);

/// Cases with more than two acts.
class ScheduleMeetingTest : public SqlTest {};

TEST_F(ScheduleMeetingTest, Promise05_AHeartbeatThatWaitedDoesNotReviveWhatExpiredMeanwhile) {
  observer_.run(
      here("SELECT leasehold_internal.schedule_set('r', interval '10 min', ttl => interval '30 s', "
           "next_run_at => leasehold_internal.now())"));
  const auto token = observer_.scalar(here("SELECT token FROM leasehold_internal.schedule_acquire('r', 'ann')"));
  alice_.run("BEGIN");
  alice_.run(here("SELECT leasehold_internal.schedule_settle('r', " + token + ")"));
  bob_.send(here("SELECT concat_ws(' ', outcome, why) FROM leasehold_internal.schedule_heartbeat('r', " + token + ")"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(31s);
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "lost expired");
}

TEST_F(ScheduleMeetingTest, AnAcquireThatWaitedLooksAtTheClockAgain) {
  observer_.run(here("SELECT leasehold_internal.schedule_set('r', cron => '0 12 * * *')"));
  store_.advance(3h);
  alice_.run("BEGIN");
  alice_.run(here("SELECT FROM leasehold_internal.schedule WHERE name = 'r' FOR UPDATE"));
  bob_.send(
      here("SELECT concat_ws(' ', outcome, occurrence, skipped) FROM leasehold_internal.schedule_acquire('r', 'bob')"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(24h);
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "granted 2026-03-02 12:00:00+00 1");
}

}  // namespace
}  // namespace leasehold::support

// Who waits for whom about schedules: the lock matrix of docs/semantics.md, pair by pair. Alice does the first thing in
// a transaction that stays open, bob the second. `r` is run by ann, whose lease lasts 30 seconds; `d` is due, and so is
// `q`, which puts jobs into a queue.
#include <gtest/gtest.h>

#include <map>

#include "sql/matrix_fixture.h"

namespace leasehold::support {
namespace {

struct SchedulePair {
  const char* name;
  const char* first;   ///< an act of alice
  const char* second;  ///< an act of bob
  Bob bob;
  const char* told;  ///< what bob is told in the end
  Expiry expiry = Expiry::never;
};

/// For gtest: how a parameter looks in the name of a test.
void PrintTo(const SchedulePair& pair, std::ostream* out) { *out << pair.name; }

const std::map<std::string, std::string>& acts() {
  static const std::map<std::string, std::string> all = {
      {"acquire", "concat_ws(' ', outcome, holder) FROM leasehold.schedule_acquire('d', 'ben')"},
      {"acquire as cid", "concat_ws(' ', outcome, holder) FROM leasehold.schedule_acquire('d', 'cid')"},
      {"acquire q", "outcome FROM leasehold.schedule_acquire('q', 'cid')"},
      {"take over", "concat_ws(' ', outcome, holder) FROM leasehold.schedule_acquire('r', 'cid')"},
      {"beat", "concat_ws(' ', outcome, why) FROM leasehold.schedule_heartbeat('r', TOKEN)"},
      {"finish", "concat_ws(' ', outcome, why) FROM leasehold.schedule_finish('r', TOKEN)"},
      {"fail", "concat_ws(' ', outcome, why) FROM leasehold.schedule_finish('r', TOKEN, false)"},
      {"release", "concat_ws(' ', outcome, why) FROM leasehold.schedule_release('r', TOKEN)"},
      {"fence", "'passed' FROM leasehold.schedule_fence('r', TOKEN)"},
      {"trigger", "outcome FROM leasehold.schedule_trigger('d')"},
      {"trigger r", "outcome FROM leasehold.schedule_trigger('r')"},
      {"pause", "leasehold.schedule_pause('d')"},
      {"pause r", "leasehold.schedule_pause('r')"},
      {"define", "changed FROM leasehold.schedule_define('d', cron => '0 9 * * *')"},
      {"define r", "changed FROM leasehold.schedule_define('r', cron => '0 9 * * *')"},
      {"define new", "created FROM leasehold.schedule_define('new', interval '1 h')"},
      {"rename", "leasehold.schedule_rename('d', 'e')"},
      {"remove", "outcome FROM leasehold.schedule_remove('d')"},
      {"remove r", "outcome FROM leasehold.schedule_remove('r')"},
      {"fire", "outcome FROM leasehold.schedule_fire('q')"},
      {"recover", "runs FROM leasehold.recover()"},
      {"reap", "outcome FROM leasehold.lease_reap(LEASE, 'boot', 7, 8)"},
      {"show", "state FROM leasehold.schedule_list('d')"},
      {"due", "name FROM leasehold.schedule_due(1)"},
  };
  return all;
}

class ScheduleMatrixTest : public SqlTest, public ::testing::WithParamInterface<SchedulePair> {
 protected:
  void SetUp() override {
    observer_.run(
        here("SELECT leasehold.schedule_define(name, interval '10 min', ttl => interval '30 s') FROM "
             "unnest('{d,r}'::text[]) AS name"));
    observer_.run(here("SELECT leasehold.schedule_define('q', interval '10 min', queue => 'mail')"));
    const auto row = observer_.rows(
        here("SELECT token, lease_id FROM leasehold.schedule_acquire('r', 'ann', boot_id => 'boot', pid => 7, "
             "process_start => 8)"));
    words_["TOKEN"] = row.at(0).at(0).value();
    words_["LEASE"] = row.at(0).at(1).value();
  }
  std::string filled(const std::string& act) {
    auto sql = here("SELECT " + acts().at(act));
    for (const auto& [word, value] : words_) {
      for (auto at = sql.find(word); at != std::string::npos; at = sql.find(word)) sql.replace(at, word.size(), value);
    }
    return sql;
  }

  /// Alice's act and bob's, each in a transaction that stays open. Whether he waits.
  bool meet(const SchedulePair& pair) {
    alice_.run("BEGIN");
    bob_.run("BEGIN");
    if (pair.expiry == Expiry::before_alice) store_.advance(31s);
    alice_.run(filled(pair.first));
    if (pair.expiry == Expiry::after_alice) store_.advance(31s);
    bob_.send(filled(pair.second));
    return bob_.waits(observer_);
  }
  /// A run under way has a lease, which has not ended and which its schedule points at; and each run its own token.
  void expect_sound() {
    EXPECT_EQ(
        observer_.scalar(here("SELECT count(*) FROM leasehold.schedule_run AS r JOIN leasehold.schedule AS s ON "
                              "s.id = r.schedule_id LEFT JOIN leasehold.lease AS l ON l.id = s.lease_id WHERE "
                              "r.outcome IS NULL AND (l.id IS DISTINCT FROM r.lease_id OR l.ended_at IS NOT NULL)")),
        "0");
    EXPECT_EQ(observer_.scalar(here("SELECT count(*) FROM leasehold.schedule AS s WHERE s.lease_id IS NOT NULL AND NOT "
                                    "EXISTS (SELECT FROM leasehold.schedule_run AS r WHERE r.schedule_id = s.id AND "
                                    "r.outcome IS NULL)")),
              "0");
    EXPECT_EQ(
        observer_.scalar(here("SELECT count(*) FROM leasehold.lease AS l WHERE l.kind = 'schedule' AND l.ended_at "
                              "IS NULL AND NOT EXISTS (SELECT FROM leasehold.schedule AS s WHERE s.lease_id = "
                              "l.id)")),
        "0");
  }

  std::map<std::string, std::string> words_;
};

TEST_P(ScheduleMatrixTest, EachPairWaitsOrPassesAsPromised) {
  const auto& pair = GetParam();
  meet(pair);
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.outcome().state, "") << "after a rollback it is as if nothing had been";
  bob_.run("ROLLBACK");
  if (pair.expiry != Expiry::never) store_.advance(-31s);
  EXPECT_EQ(meet(pair), pair.bob == Bob::waits);
  alice_.run("COMMIT");
  EXPECT_EQ(told(bob_), pair.told);
  bob_.run("COMMIT");
  expect_sound();
}

std::string pair_name(const ::testing::TestParamInfo<SchedulePair>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Acquires, ScheduleMatrixTest,
    ::testing::Values(SchedulePair{"AcquireThenAcquire", "acquire", "acquire as cid", Bob::waits, "held ben"},
                      SchedulePair{"AcquireThenDefine", "acquire", "define", Bob::waits, "t"},
                      SchedulePair{"DefineThenAcquire", "define", "acquire", Bob::waits, "not_due"},
                      SchedulePair{"DefineThenDefine", "define new", "define new", Bob::waits, "f"},
                      SchedulePair{"AcquireThenTrigger", "acquire", "trigger", Bob::waits, "triggered"},
                      SchedulePair{"TriggerThenAcquire", "trigger", "acquire", Bob::waits, "granted ben"},
                      SchedulePair{"AcquireThenPause", "acquire", "pause", Bob::waits, "paused"},
                      SchedulePair{"PauseThenAcquire", "pause", "acquire", Bob::waits, "paused"},
                      SchedulePair{"RenameThenAcquire", "rename", "acquire", Bob::waits, "not_found"},
                      SchedulePair{"RemoveThenAcquire", "remove", "acquire", Bob::waits, "not_found"},
                      SchedulePair{"AcquireThenRemove", "acquire", "remove", Bob::waits, "held"},
                      SchedulePair{"AcquireThenRecover", "acquire", "recover", Bob::passes, "0"},
                      SchedulePair{"AcquireThenShow", "acquire", "show", Bob::passes, "due"},
                      SchedulePair{"AcquireThenDue", "acquire", "due", Bob::passes, "d"},
                      SchedulePair{"TriggerThenAcquireOfHeld", "trigger r", "take over", Bob::passes, "held ann"},
                      SchedulePair{"FireThenFire", "fire", "fire", Bob::passes, "busy"},
                      SchedulePair{"FireThenAcquire", "fire", "acquire q", Bob::waits, "not_due"},
                      SchedulePair{"AcquireThenFire", "acquire q", "fire", Bob::passes, "busy"}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Runs, ScheduleMatrixTest,
    ::testing::Values(SchedulePair{"FinishThenFinish", "finish", "finish", Bob::waits, "finished"},
                      SchedulePair{"FinishThenFail", "finish", "fail", Bob::waits, "lost finished"},
                      SchedulePair{"FinishThenBeat", "finish", "beat", Bob::waits, "lost finished"},
                      SchedulePair{"BeatThenFinish", "beat", "finish", Bob::waits, "finished"},
                      SchedulePair{"BeatThenBeat", "beat", "beat", Bob::waits, "extended"},
                      SchedulePair{"BeatThenPause", "beat", "pause r", Bob::passes, "paused"},
                      SchedulePair{"PauseThenBeat", "pause r", "beat", Bob::passes, "extended"},
                      SchedulePair{"DefineThenBeat", "define r", "beat", Bob::passes, "extended"},
                      SchedulePair{"DefineThenFinish", "define r", "finish", Bob::waits, "finished"},
                      SchedulePair{"FinishThenTrigger", "finish", "trigger r", Bob::waits, "triggered"},
                      SchedulePair{"FinishThenRemove", "finish", "remove r", Bob::waits, "removed"},
                      SchedulePair{"FenceThenFence", "fence", "fence", Bob::passes, "passed"},
                      SchedulePair{"FenceThenBeat", "fence", "beat", Bob::passes, "extended"},
                      SchedulePair{"BeatThenFence", "beat", "fence", Bob::passes, "passed"},
                      SchedulePair{"FenceThenTrigger", "fence", "trigger r", Bob::passes, "triggered"},
                      SchedulePair{"FenceThenFinish", "fence", "finish", Bob::waits, "finished"},
                      SchedulePair{"FenceThenRelease", "fence", "release", Bob::waits, "released"},
                      SchedulePair{"FinishThenFence", "finish", "fence", Bob::waits, "LH001"},
                      SchedulePair{"ReleaseThenFence", "release", "fence", Bob::waits, "LH001"},
                      SchedulePair{"FenceThenReap", "fence", "reap", Bob::passes, "gone"},
                      SchedulePair{"BeatThenReap", "beat", "reap", Bob::passes, "gone"},
                      SchedulePair{"FinishThenReap", "finish", "reap", Bob::passes, "gone"},
                      SchedulePair{"PauseThenReap", "pause r", "reap", Bob::passes, "gone"},
                      SchedulePair{"ReapThenReap", "reap", "reap", Bob::passes, "gone"},
                      SchedulePair{"ReapThenAcquire", "reap", "take over", Bob::passes, "held ann"},
                      SchedulePair{"ReapThenFinish", "reap", "finish", Bob::waits, "lost expired"},
                      SchedulePair{"ReapThenBeat", "reap", "beat", Bob::waits, "lost expired"},
                      SchedulePair{"ReapThenPause", "reap", "pause r", Bob::waits, "paused"}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Endings, ScheduleMatrixTest,
    ::testing::Values(
        SchedulePair{"FenceThenTakeover", "fence", "take over", Bob::passes, "busy ann", Expiry::after_alice},
        SchedulePair{"BeatThenTakeover", "beat", "take over", Bob::passes, "busy ann", Expiry::after_alice},
        SchedulePair{"FenceThenRecover", "fence", "recover", Bob::passes, "0", Expiry::after_alice},
        SchedulePair{"FenceThenRemove", "fence", "remove r", Bob::waits, "removed", Expiry::after_alice},
        SchedulePair{"FinishThenTakeover", "finish", "take over", Bob::waits, "not_due", Expiry::before_alice},
        SchedulePair{"ReleaseThenTakeover", "release", "take over", Bob::waits, "granted cid", Expiry::before_alice},
        SchedulePair{"TakeoverThenFinish", "take over", "finish", Bob::waits, "lost superseded", Expiry::before_alice},
        SchedulePair{"TakeoverThenRelease", "take over", "release", Bob::waits, "lost superseded",
                     Expiry::before_alice},
        SchedulePair{"TakeoverThenBeat", "take over", "beat", Bob::waits, "lost superseded", Expiry::before_alice},
        SchedulePair{"TakeoverThenFence", "take over", "fence", Bob::waits, "LH001", Expiry::before_alice},
        SchedulePair{"TakeoverThenTakeover", "take over", "take over", Bob::waits, "held cid", Expiry::before_alice},
        SchedulePair{"TakeoverThenRecover", "take over", "recover", Bob::passes, "0", Expiry::before_alice},
        SchedulePair{"TakeoverThenReap", "take over", "reap", Bob::passes, "gone", Expiry::before_alice},
        SchedulePair{"RecoverThenTakeover", "recover", "take over", Bob::waits, "granted cid", Expiry::before_alice},
        SchedulePair{"RecoverThenFinish", "recover", "finish", Bob::waits, "lost expired", Expiry::before_alice},
        SchedulePair{"RecoverThenBeat", "recover", "beat", Bob::waits, "lost expired", Expiry::before_alice},
        SchedulePair{"RecoverThenRecover", "recover", "recover", Bob::passes, "0", Expiry::before_alice},
        SchedulePair{"RecoverThenReap", "recover", "reap", Bob::passes, "gone", Expiry::before_alice},
        SchedulePair{"ReapThenTakeover", "reap", "take over", Bob::waits, "granted cid", Expiry::before_alice},
        SchedulePair{"ReapThenRecover", "reap", "recover", Bob::passes, "0", Expiry::before_alice}),
    pair_name);

/// What takes more than two acts.
class ScheduleMeetingTest : public SqlTest {};

TEST_F(ScheduleMeetingTest, Promise05_AHeartbeatThatWaitedDoesNotReviveWhatExpiredMeanwhile) {
  observer_.run(here("SELECT leasehold.schedule_define('r', interval '10 min', ttl => interval '30 s')"));
  const auto token = observer_.scalar(here("SELECT token FROM leasehold.schedule_acquire('r', 'ann')"));
  alice_.run("BEGIN");
  alice_.run(here("SELECT leasehold.schedule_finish('r', " + token + ")"));
  bob_.send(here("SELECT concat_ws(' ', outcome, why) FROM leasehold.schedule_heartbeat('r', " + token + ")"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(31s);
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "lost expired");
}

TEST_F(ScheduleMeetingTest, AnAcquireThatWaitedLooksAtTheClockAgain) {
  observer_.run(here("SELECT leasehold.schedule_define('r', cron => '0 12 * * *')"));
  store_.advance(3h);
  alice_.run("BEGIN");
  alice_.run(here("SELECT FROM leasehold.schedule WHERE name = 'r' FOR UPDATE"));
  bob_.send(here("SELECT concat_ws(' ', outcome, occurrence, skipped) FROM leasehold.schedule_acquire('r', 'bob')"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(24h);
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "granted 2026-03-02 12:00:00+00 1");
}

}  // namespace
}  // namespace leasehold::support

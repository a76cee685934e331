// Sessions, items and claims as psql, an edge function or an ORM handles them: functions by name, views, inside the
// caller's own transaction.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class SessionFunctionsTest : public SqlTest {
 protected:
  void SetUp() override {
    observer_.run(here("SELECT leasehold_internal.item_add('SD-1', 'Parse'), leasehold_internal.item_add('SD-2')"));
    ann_ =
        opened("ann", "p_label => 'parser', p_host => 'db1', p_tty => 'pts/3', p_codebase => 'src', p_track => 'core'");
  }

  std::string opened(const std::string& id, const std::string& how = "p_host => ''") {
    return observer_.scalar(
        here("SELECT token FROM leasehold_internal.session_open('" + id + "', p_holder => '" + id + "', " + how + ")"));
  }
  std::string taken(const std::string& item, const std::string& session) {
    return observer_.scalar(here("SELECT token FROM leasehold_internal.claim_take('" + item + "', '" + session + "')"));
  }
  std::string token_of(const std::string& item) {
    return alice_.scalar(here("SELECT token FROM leasehold_internal.item_list('" + item + "')"));
  }
  std::string look(const std::string& columns, const std::string& from) {
    return observer_.scalar(here("SELECT concat_ws(' ', " + columns + ") FROM leasehold" +
                                 (from.find('(') == std::string::npos ? "." : "_internal.") + from));
  }
  std::string call(PgConnection& who, const std::string& function) {
    return who.scalar(here("SELECT concat_ws(' ', outcome, why) FROM leasehold_internal." + function));
  }
  /// The names that stand for tokens replaced.
  std::string filled(std::string act) const {
    for (const auto& [word, value] : {std::pair{"ANN", &ann_}, std::pair{"TOKEN", &token_}}) {
      if (const auto at = act.find(word); at != std::string::npos) act.replace(at, std::string(word).size(), *value);
    }
    return here("SELECT leasehold_internal." + act);
  }

  std::string ann_;
  std::string token_;  ///< of SD-1, where a test takes it
};

TEST_F(SessionFunctionsTest, AWholeLifeByNameWithDefaults) {
  EXPECT_EQ(look("ttl, holder", "session_list('ann')"), "00:05:00 ann");
  EXPECT_EQ(call(alice_, "session_heartbeat('ann', " + ann_ + ", p_progress => 'half way')"), "extended");
  token_ = taken("SD-1", "ann");
  EXPECT_EQ(alice_.scalar(here("SELECT concat_ws(' ', outcome, session_id, label, holder, host, tty) FROM "
                               "leasehold_internal.claim_take('SD-1', 'ben')")),
            "unregistered");
  opened("ben");
  EXPECT_EQ(alice_.scalar(here("SELECT concat_ws(' ', outcome, session_id, label, holder, host, tty, expires_at - "
                               "store_now) FROM leasehold_internal.claim_take('SD-1', 'ben')")),
            "held ann parser ann db1 pts/3 00:05:00");
  EXPECT_EQ(call(alice_, "claim_switch('SD-1', " + token_ + ", 'SD-2')"), "granted");
  const auto second = token_of("SD-2");
  EXPECT_EQ(call(alice_, "claim_hand_over('SD-2', 'ben', " + second + ")"), "granted");
  EXPECT_EQ(call(alice_, "claim_assign('SD-1', 'ben')"), "granted");
  EXPECT_EQ(call(alice_, "item_done('SD-1', " + token_of("SD-1") + ")"), "done");
  EXPECT_EQ(call(alice_, "claim_revoke('SD-2', 'enough')"), "revoked");
  EXPECT_EQ(call(alice_, "session_park('ann', " + ann_ + ", interval '1 hour')"), "extended");
  EXPECT_EQ(call(alice_, "session_close('ann', " + ann_ + ", 'done')"), "released");
  EXPECT_EQ(call(alice_, "session_revoke('ben', 'make way')"), "revoked");
  EXPECT_EQ(alice_.scalar(here("SELECT leasehold_internal.item_reopen('SD-1')")), "reopened");
  EXPECT_EQ(call(alice_, "item_remove('SD-1')"), "removed");
}

TEST_F(SessionFunctionsTest, TheViewOfSessionsSaysHowTheyAre) {
  const auto ages =
      "heartbeat_age_seconds, heartbeat_age_minutes, heartbeat_age_human, progress_age_seconds, progress_age_human, "
      "seconds_until_stale, state, ttl_seconds";
  EXPECT_EQ(look("id, label, holder, host, tty, pid, codebase, track, metadata, opened_at = leasehold_internal.now(), "
                 "parked_until IS NULL, claims, item IS NULL, claim_duration_minutes IS NULL",
                 "sessions"),
            "ann parser ann db1 pts/3 0 src core {} t t 0 t t");
  EXPECT_EQ(look(ages, "sessions"), "0 0 just now 0 just now 300 active 300");
  taken("SD-1", "ann");
  store_.advance(150s);
  alice_.run(here("SELECT leasehold_internal.session_heartbeat('ann', " + ann_ + ")"));
  store_.advance(150s + 500ms);
  EXPECT_EQ(look(ages, "sessions"), "150 2 2m ago 300 5m ago 149 idle 300");
  EXPECT_EQ(look("claims, item, claim_duration_minutes", "sessions"), "1 SD-1 5");
  store_.advance(149s + 500ms);
  EXPECT_EQ(look("state, seconds_until_stale", "sessions"), "stale 0");
  store_.advance(2h);
  EXPECT_EQ(look("state, heartbeat_age_human, seconds_until_stale", "sessions"), "stale 2h ago -7200");
  alice_.run(here("SELECT leasehold_internal.session_close('ann', " + ann_ + ")"));
  EXPECT_EQ(look("count(*)", "sessions"), "0") << "released ones are history";
}

TEST_F(SessionFunctionsTest, TheViewsOfItemsAndClaimsNeverDisagree) {
  const auto seen = [&] { return look("state, session_id", "items WHERE key = 'SD-1'"); };
  EXPECT_EQ(seen(), "open");
  token_ = taken("SD-1", "ann");
  EXPECT_EQ(seen(), "claimed ann");
  store_.advance(90s);
  EXPECT_EQ(look("key, title, session_id, label, holder, host, claim_duration_minutes, heartbeat_age_human, "
                 "progress_age_human, frees_in_seconds",
                 "claims"),
            "SD-1 Parse ann parser ann db1 1 1m ago 1m ago 210");
  store_.advance(210s);
  EXPECT_EQ(seen(), "stale ann");
  EXPECT_EQ(look("frees_in_seconds", "claims"), "0");
  EXPECT_EQ(alice_.scalar(here("SELECT string_agg(kind || ' ' || key || ' ' || state, ', ' ORDER BY kind) FROM "
                               "leasehold.leases")),
            "item SD-1 expired, session ann expired");
  alice_.run(filled("item_done('SD-1', TOKEN)"));
  EXPECT_EQ(seen(), "done");
  EXPECT_EQ(look("count(*)", "claims"), "0");
}

TEST_F(SessionFunctionsTest, AgesHaveTheNamesOfTheLibrary) {
  for (const auto& [span, words] :
       {std::pair{"0", "just now"}, std::pair{"999 ms", "just now"}, std::pair{"1 s", "1s ago"},
        std::pair{"59.9 s", "59s ago"}, std::pair{"1 min", "1m ago"}, std::pair{"59 min 59 s", "59m ago"},
        std::pair{"1 h", "1h ago"}, std::pair{"23 h 59 min", "23h ago"}, std::pair{"24 h", "1d ago"},
        std::pair{"40 days", "40d ago"}}) {
    EXPECT_EQ(alice_.scalar(here(std::string("SELECT leasehold_internal.ago(interval '") + span + "')")), words);
  }
}

TEST_F(SessionFunctionsTest, ActsThatRolledBackWereNone) {
  token_ = taken("SD-1", "ann");
  opened("ben");
  const auto before = store_.dump();
  for (const auto* act :
       {"session_open('new')", "session_heartbeat('ann', ANN, p_progress => 'x')",
        "session_park('ann', ANN, interval '1 hour')", "session_close('ann', ANN)", "session_revoke('ann', 'why')",
        "item_add('SD-9', p_conflicts => '{SD-1}')", "item_done('SD-1', TOKEN)", "item_remove('SD-2')",
        "claim_take('SD-2', 'ann')", "claim_take('SD-9', 'ann', p_create => true)",
        "claim_release('SD-1', 'ann', TOKEN)", "claim_switch('SD-1', TOKEN, 'SD-2')",
        "claim_hand_over('SD-1', 'ben', TOKEN)", "claim_assign('SD-1', 'ben')", "claim_revoke('SD-1', 'why')"}) {
    alice_.run("BEGIN");
    alice_.run(filled(act));
    alice_.run("ROLLBACK");
    EXPECT_EQ(store_.dump(), before) << act;
  }
}

TEST_F(SessionFunctionsTest, AnItemIsTakenWithTheUsersOwnRowsOrNotAtAll) {
  alice_.run("CREATE TABLE " + store_.schema() + "_internal.branches (item text)");
  for (const auto* end : {"ROLLBACK", "COMMIT"}) {
    alice_.run("BEGIN");
    alice_.run("INSERT INTO " + store_.schema() + "_internal.branches VALUES ('SD-1')");
    EXPECT_EQ(call(alice_, "claim_take('SD-1', 'ann')"), "granted");
    EXPECT_EQ(look("count(*)", "claims"), "0") << "it is visible only after the commit";
    alice_.run(end);
    EXPECT_EQ(look("count(*)", "claims"), bob_.scalar("SELECT count(*) FROM " + store_.schema() + "_internal.branches"))
        << end;
  }
}

TEST_F(SessionFunctionsTest, Promise04_LateActsAreLostAndATokenOfNullIsNeverCurrent) {
  token_ = taken("SD-1", "ann");
  store_.advance(1h);
  opened("ben");
  taken("SD-1", "ben");
  const auto before = store_.dump();
  EXPECT_EQ(call(alice_, "claim_release('SD-1', 'ann', " + token_ + ")"), "lost superseded");
  EXPECT_EQ(call(alice_, "item_done('SD-1', " + token_ + ")"), "lost superseded");
  EXPECT_EQ(call(alice_, "session_heartbeat('ann', " + ann_ + ")"), "lost expired");
  EXPECT_NE(call(alice_, "claim_release('SD-1', 'ben', NULL)"), "released");
  EXPECT_NE(call(alice_, "claim_switch('SD-1', NULL, 'SD-2')"), "granted");
  EXPECT_NE(call(alice_, "session_heartbeat('ben', NULL)"), "extended");
  EXPECT_NE(call(alice_, "session_close('ben', NULL)"), "released");
  EXPECT_EQ(call(alice_, "claim_take('SD-1', NULL)"), "unregistered unknown");
  EXPECT_EQ(store_.dump(), before);
}

TEST_F(SessionFunctionsTest, Promise14_TheFenceRaisesLH001WithAHint) {
  token_ = taken("SD-1", "ann");
  EXPECT_EQ(alice_.fail(filled("claim_fence('SD-1', TOKEN)")).state, "");
  const auto stale = alice_.fail(here("SELECT leasehold_internal.claim_fence('SD-1', 1)"));
  EXPECT_EQ(stale.state, "LH001");
  EXPECT_NE(stale.message.find("HINT"), std::string::npos) << stale.message;
  for (const auto* act : {"claim_fence('SD-2', TOKEN)", "claim_fence('nothing', 1)", "claim_fence(NULL, 1)",
                          "claim_fence('SD-1', NULL)"}) {
    EXPECT_EQ(alice_.fail(filled(act)).state, "LH001") << act;
  }
}

TEST_F(SessionFunctionsTest, OtherIsolationLevelsAreRefused) {
  for (const auto* level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    for (const auto* act :
         {"session_open('new')", "session_heartbeat('ann', 1)", "session_park('ann', 1, interval '1 s')",
          "session_close('ann', 1)", "session_revoke('ann', 'why')", "item_add('SD-9')", "item_done('SD-1')",
          "item_reopen('SD-1')", "item_remove('SD-1')", "claim_take('SD-1', 'ann')", "claim_release('SD-1', 'ann', 1)",
          "claim_switch('SD-1', 1, 'SD-2')", "claim_hand_over('SD-1', 'ann', 1)", "claim_transfer('SD-1', 'ann')",
          "claim_assign('SD-1', 'ann')", "claim_revoke('SD-1', 'why')"}) {
      alice_.run(std::string("BEGIN ISOLATION LEVEL ") + level);
      EXPECT_EQ(alice_.fail(filled(act)).state, "LH002") << level << ": " << act;
      alice_.run("ROLLBACK");
    }
  }
}

TEST_F(SessionFunctionsTest, BadInputIsRefusedAndChangesNothing) {
  token_ = taken("SD-1", "ann");
  const auto before = store_.dump();
  for (const auto* act : {"session_open('')",
                          "session_open(NULL)",
                          "session_open(repeat('x', 513))",
                          "session_open(E'line\\nbreak')",
                          "session_open('new', interval '1 ms')",
                          "session_open('new', interval '31 days')",
                          "session_open('new', p_label => repeat('x', 4097))",
                          "session_open('new', p_metadata => '{')",
                          "session_open('new', p_metadata => NULL)",
                          "session_open('new', p_max_age => interval '0')",
                          "session_heartbeat('ann', ANN, interval '1 ms')",
                          "session_heartbeat('ann', ANN, p_progress => repeat('x', 4097))",
                          "session_park('ann', ANN, interval '-1 s')",
                          "session_park('ann', ANN, interval '12 hours 1 s')",
                          "item_add('')",
                          "item_add(NULL)",
                          "item_add('SD-9', p_metadata => 'page 3')",
                          "item_add('SD-9', p_title => repeat('x', 262145))",
                          "claim_take('', 'ann', p_create => true)",
                          "claim_take(E'a\\tb', 'ann', p_create => true)",
                          "claim_switch('SD-1', TOKEN, 'SD-1')",
                          "claim_hand_over('SD-1', 'ann', NULL)"}) {
    EXPECT_EQ(alice_.fail(filled(act)).state, "LH003") << act;
  }
  EXPECT_EQ(store_.dump(), before);
}

TEST_F(SessionFunctionsTest, TheIndexStopsWritesPastTheFunctions) {
  token_ = taken("SD-1", "ann");
  const auto claim = [&](const std::string& item, const std::string& session, const std::string& exclusive) {
    return alice_.fail(
        here("INSERT INTO leasehold_internal.claim (item, token, session_id, session_token, lease_id, exclusive, "
             "taken_at) SELECT '" +
             item + "', 99, id, token, lease_id, " + exclusive + ", leasehold_internal.now() FROM " +
             "leasehold_internal.session WHERE id = '" + session + "'"));
  };
  opened("ben", "p_exclusive => true");
  EXPECT_EQ(claim("SD-1", "ben", "false").state, "23505") << "an item has one owner";
  EXPECT_EQ(claim("SD-2", "ben", "true").state, "");
  EXPECT_EQ(claim("SD-3", "ben", "true").state, "23505") << "an exclusive session has one item";
  EXPECT_EQ(call(alice_, "claim_take('SD-2', 'ann')"), "held") << "a row written past the functions counts";
  EXPECT_EQ(call(alice_, "claim_take('SD-1', 'ben')"), "held");
}

}  // namespace
}  // namespace leasehold::support

// Waits about sessions and claims: the lock matrix of docs/semantics.md, pair by pair. Alice does the
// first thing in a transaction that stays open, bob the second. The session ann has the items a and b and goes stale
// after 30 seconds; ben and cid live for an hour. c is free, k is a child of p, x and y conflict.
#include <gtest/gtest.h>

#include <map>

#include "sql/matrix_fixture.h"

namespace leasehold::support {
namespace {

std::map<std::string, std::string> claim_acts() {
  return {
      {"take", "concat_ws(' ', outcome, session_id) FROM leasehold_internal.claim_take('c', 'ben')"},
      {"take as cid", "concat_ws(' ', outcome, session_id) FROM leasehold_internal.claim_take('c', 'cid')"},
      {"take as ann", "concat_ws(' ', outcome, session_id) FROM leasehold_internal.claim_take('c', 'ann')"},
      {"take new", "outcome || ' ' || created FROM leasehold_internal.claim_take('new', 'ben', p_create => true)"},
      {"take over", "concat_ws(' ', outcome, session_id) FROM leasehold_internal.claim_take('a', 'cid')"},
      {"take over b", "concat_ws(' ', outcome, session_id) FROM leasehold_internal.claim_take('b', 'ben')"},
      {"take p", "concat_ws(' ', outcome, why, key) FROM leasehold_internal.claim_take('p', 'ben')"},
      {"take k", "concat_ws(' ', outcome, why, key) FROM leasehold_internal.claim_take('k', 'cid')"},
      {"take x", "concat_ws(' ', outcome, why, key) FROM leasehold_internal.claim_take('x', 'ben')"},
      {"take y", "concat_ws(' ', outcome, why, key) FROM leasehold_internal.claim_take('y', 'cid')"},
      {"adopt k", "outcome FROM leasehold_internal.item_add('k', p_parent => '')"},
      {"add", "outcome FROM leasehold_internal.item_add('new')"},
      {"release", "concat_ws(' ', outcome, why) FROM leasehold_internal.claim_release('a', 'ann', TOKEN)"},
      {"release b", "concat_ws(' ', outcome, why) FROM leasehold_internal.claim_release('b', 'ann', OTHER)"},
      {"done", "concat_ws(' ', outcome, why) FROM leasehold_internal.item_done('a', TOKEN)"},
      {"switch", "concat_ws(' ', outcome, why, key) FROM leasehold_internal.claim_switch('a', TOKEN, 'c')"},
      {"hand over", "concat_ws(' ', outcome, why) FROM leasehold_internal.claim_hand_over('a', 'cid', TOKEN)"},
      {"assign", "concat_ws(' ', outcome, why) FROM leasehold_internal.claim_assign('a', 'ben')"},
      {"revoke", "concat_ws(' ', outcome, why) FROM leasehold_internal.claim_revoke('a', 'why')"},
      {"fence", "'passed' FROM leasehold_internal.claim_fence('a', TOKEN)"},
      {"beat", "concat_ws(' ', outcome, why) FROM leasehold_internal.session_heartbeat('ann', ANN)"},
      {"progress",
       "concat_ws(' ', outcome, why) FROM leasehold_internal.session_heartbeat('ann', ANN, p_progress => 'x')"},
      {"close", "max(outcome) || ' ' || count(item) FROM leasehold_internal.session_close('ann', ANN)"},
      {"open", "outcome FROM leasehold_internal.session_open('ann')"},
      {"open new", "outcome FROM leasehold_internal.session_open('new')"},
      {"recover", "claims FROM leasehold_internal.recover()"},
      {"remove", "concat_ws(' ', outcome, why) FROM leasehold_internal.item_remove('c')"},
      {"remove a", "concat_ws(' ', outcome, why) FROM leasehold_internal.item_remove('a')"},
      {"show", "concat_ws(' ', state, active_session_id) FROM leasehold_internal.item_list('a')"},
  };
}

class ClaimMatrixTest : public MatrixTest {
 protected:
  ClaimMatrixTest() : MatrixTest(claim_acts()) {}

  void SetUp() override {
    words_["ANN"] = observer_.scalar(here("SELECT token FROM leasehold_internal.session_open('ann', interval '30 s')"));
    observer_.run(
        here("SELECT leasehold_internal.session_open(id, interval '1 hour') FROM unnest('{ben,cid}'::text[]) AS id"));
    observer_.run(here("SELECT leasehold_internal.item_add(key) FROM unnest('{a,b,c,p,x}'::text[]) AS key"));
    observer_.run(here(
        "SELECT leasehold_internal.item_add('k', p_parent => 'p'), leasehold_internal.item_add('y', p_conflicts => "
        "'{x}')"));
    words_["TOKEN"] = observer_.scalar(here("SELECT token FROM leasehold_internal.claim_take('a', 'ann')"));
    words_["OTHER"] = observer_.scalar(here("SELECT token FROM leasehold_internal.claim_take('b', 'ann')"));
  }
  /// Every owner is alive, and no two sessions hold conflicting items or an item and its ancestor.
  void expect_sound() override {
    EXPECT_EQ(observer_.scalar(
                  here("SELECT count(*) FROM leasehold_internal.claim AS c LEFT JOIN leasehold_internal.lease AS l ON "
                       "l.id = c.lease_id WHERE c.ended_at IS NULL AND (l.id IS NULL OR "
                       "l.ended_at IS NOT NULL)")),
              "0");
    EXPECT_EQ(observer_.scalar(here(
                  "SELECT count(*) FROM leasehold_internal.claim AS c JOIN leasehold_internal.item AS i ON i.key = "
                  "c.item JOIN leasehold_internal.claim AS o ON o.item IN (SELECT i.parent UNION SELECT "
                  "other FROM leasehold_internal.item_conflict WHERE item = i.key) WHERE c.ended_at IS NULL "
                  "AND o.ended_at IS NULL AND o.session_id <> c.session_id")),
              "0");
    EXPECT_EQ(observer_.scalar(here(
                  "SELECT count(*) FROM leasehold_internal.claim AS c JOIN leasehold_internal.item AS i ON i.key = "
                  "c.item WHERE c.token > i.token OR i.done_at IS NOT NULL AND c.ended_at IS NULL")),
              "0");
  }
};

TEST_P(ClaimMatrixTest, EachPairWaitsOrPassesAsPromised) { expect_as_promised(); }

TEST_P(ClaimMatrixTest, ARolledBackActLeavesNoTrace) { expect_sound_after_rollback(); }

INSTANTIATE_TEST_SUITE_P(
    Living, ClaimMatrixTest,
    ::testing::Values(Pair{"TakeThenTake", "take", "take as cid", Bob::waits, "held ben"},
                      Pair{"TakeThenTakeAgain", "take", "take", Bob::waits, "granted ben"},
                      Pair{"TakeNewThenTakeNew", "take new", "take new", Bob::waits, "granted false"},
                      Pair{"AddThenTakeNew", "add", "take new", Bob::waits, "granted false"},
                      Pair{"TakeParentThenChild", "take p", "take k", Bob::waits, "blocked parent p"},
                      Pair{"TakeChildThenParent", "take k", "take p", Bob::waits, "blocked child k"},
                      Pair{"TakeConflictThenOther", "take x", "take y", Bob::waits, "blocked conflict x"},
                      Pair{"TakeOtherThenConflict", "take y", "take x", Bob::waits, "blocked conflict y"},
                      Pair{"TakeUnrelated", "take x", "take k", Bob::passes, "granted k"},
                      Pair{"AdoptThenTakeParent", "adopt k", "take p", Bob::waits, "granted p"},
                      Pair{"TakeParentThenAdopt", "take p", "adopt k", Bob::waits, "updated"},
                      Pair{"TakeThenBeat", "take as ann", "beat", Bob::passes, "extended"},
                      Pair{"TakeThenProgress", "take as ann", "progress", Bob::waits, "extended"},
                      Pair{"TakeThenClose", "take as ann", "close", Bob::waits, "released 3"},
                      Pair{"TakeThenRemove", "take", "remove", Bob::waits, "held"},
                      Pair{"RemoveThenTake", "remove", "take", Bob::waits, "not_found"},
                      Pair{"BeatThenTake", "beat", "take as ann", Bob::passes, "granted ann"},
                      Pair{"BeatThenRelease", "beat", "release", Bob::passes, "released"},
                      Pair{"BeatThenClose", "beat", "close", Bob::waits, "released 2"},
                      Pair{"ReleaseThenRelease", "release", "release", Bob::waits, "released"},
                      Pair{"ReleaseThenReleaseOther", "release", "release b", Bob::passes, "released"},
                      Pair{"ReleaseThenDone", "release", "done", Bob::waits, "lost finished"},
                      Pair{"ReleaseThenSwitch", "release", "switch", Bob::waits, "lost finished a"},
                      Pair{"DoneThenRelease", "done", "release", Bob::waits, "lost finished"},
                      Pair{"SwitchThenTake", "switch", "take", Bob::waits, "held ann"},
                      Pair{"SwitchThenSwitch", "switch", "switch", Bob::waits, "granted c"},
                      Pair{"HandOverThenAssign", "hand over", "assign", Bob::waits, "granted"},
                      Pair{"AssignThenHandOver", "assign", "hand over", Bob::waits, "lost superseded"},
                      Pair{"RevokeThenRelease", "revoke", "release", Bob::waits, "lost revoked"},
                      Pair{"ReleaseThenRevoke", "release", "revoke", Bob::waits, "not_found claim"},
                      Pair{"ReleaseThenShow", "release", "show", Bob::passes, "claimed ann"}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Fences, ClaimMatrixTest,
    ::testing::Values(Pair{"FenceThenFence", "fence", "fence", Bob::passes, "passed"},
                      Pair{"FenceThenBeat", "fence", "beat", Bob::passes, "extended"},
                      Pair{"FenceThenTakeOther", "fence", "take as ann", Bob::passes, "granted ann"},
                      Pair{"FenceThenRelease", "fence", "release", Bob::waits, "released"},
                      Pair{"FenceThenReleaseOther", "fence", "release b", Bob::passes, "released"},
                      Pair{"FenceThenDone", "fence", "done", Bob::waits, "done"},
                      Pair{"FenceThenSwitch", "fence", "switch", Bob::waits, "granted c"},
                      Pair{"FenceThenAssign", "fence", "assign", Bob::waits, "granted"},
                      Pair{"FenceThenRevoke", "fence", "revoke", Bob::waits, "revoked"},
                      Pair{"FenceThenClose", "fence", "close", Bob::waits, "released 2"},
                      Pair{"FenceThenTakeover", "fence", "take over", Bob::passes, "busy ann", Expiry::after_alice},
                      Pair{"FenceThenRecover", "fence", "recover", Bob::passes, "0", Expiry::after_alice},
                      Pair{"ReleaseThenFence", "release", "fence", Bob::waits, "LH001"},
                      Pair{"RevokeThenFence", "revoke", "fence", Bob::waits, "LH001"},
                      Pair{"CloseThenFence", "close", "fence", Bob::waits, "LH001"},
                      Pair{"TakeoverThenFence", "take over", "fence", Bob::waits, "LH001", Expiry::before_alice}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Endings, ClaimMatrixTest,
    ::testing::Values(
        Pair{"CloseThenTake", "close", "take as ann", Bob::waits, "unregistered"},
        Pair{"CloseThenBeat", "close", "beat", Bob::waits, "lost finished"},
        Pair{"CloseThenClose", "close", "close", Bob::waits, "released 2"},
        Pair{"CloseThenRelease", "close", "release", Bob::waits, "released"},
        Pair{"CloseThenTakeIts", "close", "take over", Bob::passes, "held ann"},
        Pair{"OpenThenOpen", "open new", "open new", Bob::waits, "held"},
        Pair{"ReopenThenReopen", "open", "open", Bob::waits, "held", Expiry::before_alice},
        Pair{"ReopenThenTakeover", "open", "take over", Bob::passes, "busy ann", Expiry::before_alice},
        Pair{"ReopenThenBeat", "open", "beat", Bob::waits, "lost superseded", Expiry::before_alice},
        Pair{"BeatThenTakeover", "beat", "take over", Bob::passes, "busy ann", Expiry::after_alice},
        Pair{"ReleaseThenTakeover", "release", "take over", Bob::passes, "busy ann", Expiry::before_alice},
        Pair{"CloseThenTakeover", "close", "take over", Bob::passes, "busy ann", Expiry::before_alice},
        Pair{"TakeoverThenBeat", "take over", "beat", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"TakeoverThenClose", "take over", "close", Bob::waits, "lost 0", Expiry::before_alice},
        Pair{"TakeoverThenRelease", "take over", "release", Bob::waits, "lost superseded", Expiry::before_alice},
        Pair{"TakeoverThenReleaseOther", "take over", "release b", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"TakeoverThenDone", "take over", "done", Bob::waits, "lost superseded", Expiry::before_alice},
        Pair{"TakeoverThenSwitch", "take over", "switch", Bob::waits, "lost superseded a", Expiry::before_alice},
        Pair{"TakeoverThenTakeover", "take over", "take over", Bob::waits, "granted cid", Expiry::before_alice},
        Pair{"TakeoverThenTakeoverOfOther", "take over", "take over b", Bob::passes, "busy ann", Expiry::before_alice},
        Pair{"TakeoverThenRecover", "take over", "recover", Bob::passes, "0", Expiry::before_alice},
        Pair{"TakeoverThenReopen", "take over", "open", Bob::passes, "busy", Expiry::before_alice},
        Pair{"RecoverThenTakeover", "recover", "take over", Bob::passes, "busy ann", Expiry::before_alice},
        Pair{"RecoverThenBeat", "recover", "beat", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"RecoverThenRecover", "recover", "recover", Bob::passes, "0", Expiry::before_alice}),
    pair_name);

// Ann is stale, and her item is removed.
INSTANTIATE_TEST_SUITE_P(
    Removals, ClaimMatrixTest,
    ::testing::Values(
        Pair{"RemoveThenRelease", "remove a", "release", Bob::waits, "not_found", Expiry::before_alice},
        Pair{"RemoveThenReleaseOther", "remove a", "release b", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"RemoveThenDone", "remove a", "done", Bob::waits, "not_found", Expiry::before_alice},
        Pair{"RemoveThenSwitch", "remove a", "switch", Bob::waits, "not_found a", Expiry::before_alice},
        Pair{"RemoveThenHandOver", "remove a", "hand over", Bob::waits, "not_found", Expiry::before_alice},
        Pair{"RemoveThenAssign", "remove a", "assign", Bob::waits, "not_found", Expiry::before_alice},
        Pair{"RemoveThenRevoke", "remove a", "revoke", Bob::waits, "not_found", Expiry::before_alice},
        Pair{"RemoveThenFence", "remove a", "fence", Bob::waits, "LH001", Expiry::before_alice},
        Pair{"RemoveThenTakeover", "remove a", "take over", Bob::waits, "not_found", Expiry::before_alice},
        Pair{"RemoveThenRemove", "remove a", "remove a", Bob::waits, "not_found", Expiry::before_alice},
        Pair{"RemoveThenBeat", "remove a", "beat", Bob::waits, "lost expired", Expiry::before_alice}),
    pair_name);

/// Cases with more than two acts.
class ClaimMeetingTest : public SqlTest {
 protected:
  void SetUp() override {
    observer_.run(here("SELECT leasehold_internal.session_open(id) FROM unnest('{ann,ben}'::text[]) AS id"));
    observer_.run(here("SELECT leasehold_internal.item_add(key) FROM unnest('{a,b}'::text[]) AS key"));
  }
};

TEST_F(ClaimMeetingTest, ACallerThatBeganBeforeTheWinnerGotItIsRefusedWithARace) {
  alice_.run("BEGIN");
  alice_.run(here("SELECT FROM leasehold_internal.item WHERE key = 'a' FOR UPDATE"));
  bob_.send(here("SELECT outcome || ' ' || session_id FROM leasehold_internal.claim_take('a', 'ben')"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(1s);
  alice_.run(here("SELECT leasehold_internal.claim_take('a', 'ann')"));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "race ann");
  EXPECT_EQ(bob_.scalar(here("SELECT outcome FROM leasehold_internal.claim_take('a', 'ben')")), "held")
      << "asked again";
}

TEST_F(ClaimMeetingTest, Promise03_TheNextItemIsNotOneThatAnOpenTransactionHasTaken) {
  const auto next = [this](const std::string& session) {
    return here("SELECT outcome || ' ' || key FROM leasehold_internal.claim_next('" + session +
                "', (SELECT token FROM leasehold_internal.session_list('" + session + "')))");
  };
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(next("ann")), "granted a");
  bob_.send(next("ben"));
  ASSERT_FALSE(bob_.waits(observer_));
  EXPECT_EQ(bob_.answer(), "granted b");
}

TEST_F(ClaimMeetingTest, Promise05_AHeartbeatThatWaitedDoesNotReviveWhatExpiredMeanwhile) {
  const auto token = observer_.scalar(here("SELECT token FROM leasehold_internal.session_list('ann')"));
  alice_.run("BEGIN");
  alice_.run(here("SELECT leasehold_internal.session_close('ann', " + token + ")"));
  bob_.send(
      here("SELECT concat_ws(' ', outcome, why) FROM leasehold_internal.session_heartbeat('ann', " + token + ")"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(301s);
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "lost expired");
}

TEST_F(ClaimMeetingTest, ATakeThatWaitedLooksAtTheClockAgain) {
  alice_.run("BEGIN");
  alice_.run(here("SELECT FROM leasehold_internal.item WHERE key = 'a' FOR UPDATE"));
  bob_.send(here("SELECT concat_ws(' ', outcome, why) FROM leasehold_internal.claim_take('a', 'ben')"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(301s);
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "unregistered stale") << "its own session went stale while it waited";
}

}  // namespace
}  // namespace leasehold::support

// Who waits for whom about sessions and claims: the lock matrix of docs/semantics.md, pair by pair. Alice does the
// first thing in a transaction that stays open, bob the second. The session ann has the items a and b and goes stale
// after 30 seconds; ben and cid live for an hour. c is free, k is a child of p, x and y conflict.
#include <gtest/gtest.h>

#include <map>

#include "sql/matrix_fixture.h"

namespace leasehold::support {
namespace {

struct ClaimPair {
  const char* name;
  const char* first;   ///< an act of alice
  const char* second;  ///< an act of bob
  Bob bob;
  const char* told;  ///< what bob is told in the end
  Expiry expiry = Expiry::never;
};

/// For gtest: how a parameter looks in the name of a test.
void PrintTo(const ClaimPair& pair, std::ostream* out) { *out << pair.name; }

const std::map<std::string, std::string>& acts() {
  static const std::map<std::string, std::string> all = {
      {"take", "concat_ws(' ', outcome, session_id) FROM leasehold.claim_take('c', 'ben')"},
      {"take as cid", "concat_ws(' ', outcome, session_id) FROM leasehold.claim_take('c', 'cid')"},
      {"take as ann", "concat_ws(' ', outcome, session_id) FROM leasehold.claim_take('c', 'ann')"},
      {"take new", "outcome || ' ' || created FROM leasehold.claim_take('new', 'ben', create_item => true)"},
      {"take over", "concat_ws(' ', outcome, session_id) FROM leasehold.claim_take('a', 'cid')"},
      {"take over b", "concat_ws(' ', outcome, session_id) FROM leasehold.claim_take('b', 'ben')"},
      {"take p", "concat_ws(' ', outcome, why, key) FROM leasehold.claim_take('p', 'ben')"},
      {"take k", "concat_ws(' ', outcome, why, key) FROM leasehold.claim_take('k', 'cid')"},
      {"take x", "concat_ws(' ', outcome, why, key) FROM leasehold.claim_take('x', 'ben')"},
      {"take y", "concat_ws(' ', outcome, why, key) FROM leasehold.claim_take('y', 'cid')"},
      {"adopt k", "outcome FROM leasehold.item_add('k', parent => '')"},
      {"add", "outcome FROM leasehold.item_add('new')"},
      {"release", "concat_ws(' ', outcome, why) FROM leasehold.claim_release('a', 'ann', TOKEN)"},
      {"release b", "concat_ws(' ', outcome, why) FROM leasehold.claim_release('b', 'ann', OTHER)"},
      {"done", "concat_ws(' ', outcome, why) FROM leasehold.item_done('a', TOKEN)"},
      {"switch", "concat_ws(' ', outcome, why, key) FROM leasehold.claim_switch('a', TOKEN, 'c')"},
      {"hand over", "concat_ws(' ', outcome, why) FROM leasehold.claim_hand_over('a', 'cid', TOKEN)"},
      {"assign", "concat_ws(' ', outcome, why) FROM leasehold.claim_assign('a', 'ben')"},
      {"revoke", "concat_ws(' ', outcome, why) FROM leasehold.claim_revoke('a', 'why')"},
      {"fence", "'passed' FROM leasehold.claim_fence('a', TOKEN)"},
      {"beat", "concat_ws(' ', outcome, why) FROM leasehold.session_heartbeat('ann', ANN)"},
      {"progress", "concat_ws(' ', outcome, why) FROM leasehold.session_heartbeat('ann', ANN, progress => 'x')"},
      {"close", "max(outcome) || ' ' || count(item) FROM leasehold.session_close('ann', ANN)"},
      {"open", "outcome FROM leasehold.session_open('ann')"},
      {"open new", "outcome FROM leasehold.session_open('new')"},
      {"recover", "claims FROM leasehold.recover()"},
      {"remove", "concat_ws(' ', outcome, why) FROM leasehold.item_remove('c')"},
      {"show", "concat_ws(' ', state, active_session_id) FROM leasehold.item_list('a')"},
  };
  return all;
}

class ClaimMatrixTest : public SqlTest, public ::testing::WithParamInterface<ClaimPair> {
 protected:
  void SetUp() override {
    words_["ANN"] = observer_.scalar(here("SELECT token FROM leasehold.session_open('ann', interval '30 s')"));
    observer_.run(here("SELECT leasehold.session_open(id, interval '1 hour') FROM unnest('{ben,cid}'::text[]) AS id"));
    observer_.run(here("SELECT leasehold.item_add(key) FROM unnest('{a,b,c,p,x}'::text[]) AS key"));
    observer_.run(here("SELECT leasehold.item_add('k', parent => 'p'), leasehold.item_add('y', conflicts => '{x}')"));
    words_["TOKEN"] = observer_.scalar(here("SELECT token FROM leasehold.claim_take('a', 'ann')"));
    words_["OTHER"] = observer_.scalar(here("SELECT token FROM leasehold.claim_take('b', 'ann')"));
  }
  std::string filled(const std::string& act) {
    auto sql = here("SELECT " + acts().at(act));
    for (const auto& [word, value] : words_) {
      for (auto at = sql.find(word); at != std::string::npos; at = sql.find(word)) sql.replace(at, word.size(), value);
    }
    return sql;
  }

  /// Alice's act and bob's, each in a transaction that stays open. Whether he waits.
  bool meet(const ClaimPair& pair) {
    alice_.run("BEGIN");
    bob_.run("BEGIN");
    if (pair.expiry == Expiry::before_alice) store_.advance(31s);
    alice_.run(filled(pair.first));
    if (pair.expiry == Expiry::after_alice) store_.advance(31s);
    bob_.send(filled(pair.second));
    return bob_.waits(observer_);
  }
  /// Whoever has something is there, and nobody has what another one's is above or in conflict with.
  void expect_sound() {
    EXPECT_EQ(observer_.scalar(here("SELECT count(*) FROM leasehold.claim AS c LEFT JOIN leasehold.lease AS l ON "
                                    "l.id = c.lease_id WHERE c.ended_at IS NULL AND (l.id IS NULL OR "
                                    "l.ended_at IS NOT NULL)")),
              "0");
    EXPECT_EQ(observer_.scalar(here("SELECT count(*) FROM leasehold.claim AS c JOIN leasehold.item AS i ON i.key = "
                                    "c.item JOIN leasehold.claim AS o ON o.item IN (SELECT i.parent UNION SELECT "
                                    "other FROM leasehold.item_conflict WHERE item = i.key) WHERE c.ended_at IS NULL "
                                    "AND o.ended_at IS NULL AND o.session_id <> c.session_id")),
              "0");
    EXPECT_EQ(observer_.scalar(here("SELECT count(*) FROM leasehold.claim AS c JOIN leasehold.item AS i ON i.key = "
                                    "c.item WHERE c.token > i.token OR i.done_at IS NOT NULL AND c.ended_at IS NULL")),
              "0");
  }

  std::map<std::string, std::string> words_;
};

TEST_P(ClaimMatrixTest, EachPairWaitsOrPassesAsPromised) {
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

std::string pair_name(const ::testing::TestParamInfo<ClaimPair>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Living, ClaimMatrixTest,
    ::testing::Values(ClaimPair{"TakeThenTake", "take", "take as cid", Bob::waits, "held ben"},
                      ClaimPair{"TakeThenTakeAgain", "take", "take", Bob::waits, "granted ben"},
                      ClaimPair{"TakeNewThenTakeNew", "take new", "take new", Bob::waits, "granted false"},
                      ClaimPair{"AddThenTakeNew", "add", "take new", Bob::waits, "granted false"},
                      ClaimPair{"TakeParentThenChild", "take p", "take k", Bob::waits, "blocked parent p"},
                      ClaimPair{"TakeChildThenParent", "take k", "take p", Bob::waits, "blocked child k"},
                      ClaimPair{"TakeConflictThenOther", "take x", "take y", Bob::waits, "blocked conflict x"},
                      ClaimPair{"TakeOtherThenConflict", "take y", "take x", Bob::waits, "blocked conflict y"},
                      ClaimPair{"TakeUnrelated", "take x", "take k", Bob::passes, "granted k"},
                      ClaimPair{"AdoptThenTakeParent", "adopt k", "take p", Bob::waits, "granted p"},
                      ClaimPair{"TakeParentThenAdopt", "take p", "adopt k", Bob::waits, "updated"},
                      ClaimPair{"TakeThenBeat", "take as ann", "beat", Bob::passes, "extended"},
                      ClaimPair{"TakeThenProgress", "take as ann", "progress", Bob::waits, "extended"},
                      ClaimPair{"TakeThenClose", "take as ann", "close", Bob::waits, "released 3"},
                      ClaimPair{"TakeThenRemove", "take", "remove", Bob::waits, "held"},
                      ClaimPair{"RemoveThenTake", "remove", "take", Bob::waits, "not_found"},
                      ClaimPair{"BeatThenTake", "beat", "take as ann", Bob::passes, "granted ann"},
                      ClaimPair{"BeatThenRelease", "beat", "release", Bob::passes, "released"},
                      ClaimPair{"BeatThenClose", "beat", "close", Bob::waits, "released 2"},
                      ClaimPair{"ReleaseThenRelease", "release", "release", Bob::waits, "released"},
                      ClaimPair{"ReleaseThenReleaseOther", "release", "release b", Bob::passes, "released"},
                      ClaimPair{"ReleaseThenDone", "release", "done", Bob::waits, "lost finished"},
                      ClaimPair{"ReleaseThenSwitch", "release", "switch", Bob::waits, "lost finished a"},
                      ClaimPair{"DoneThenRelease", "done", "release", Bob::waits, "lost finished"},
                      ClaimPair{"SwitchThenTake", "switch", "take", Bob::waits, "held ann"},
                      ClaimPair{"SwitchThenSwitch", "switch", "switch", Bob::waits, "granted c"},
                      ClaimPair{"HandOverThenAssign", "hand over", "assign", Bob::waits, "granted"},
                      ClaimPair{"AssignThenHandOver", "assign", "hand over", Bob::waits, "lost superseded"},
                      ClaimPair{"RevokeThenRelease", "revoke", "release", Bob::waits, "lost revoked"},
                      ClaimPair{"ReleaseThenRevoke", "release", "revoke", Bob::waits, "not_found claim"},
                      ClaimPair{"ReleaseThenShow", "release", "show", Bob::passes, "claimed ann"}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Fences, ClaimMatrixTest,
    ::testing::Values(ClaimPair{"FenceThenFence", "fence", "fence", Bob::passes, "passed"},
                      ClaimPair{"FenceThenBeat", "fence", "beat", Bob::passes, "extended"},
                      ClaimPair{"FenceThenTakeOther", "fence", "take as ann", Bob::passes, "granted ann"},
                      ClaimPair{"FenceThenRelease", "fence", "release", Bob::waits, "released"},
                      ClaimPair{"FenceThenReleaseOther", "fence", "release b", Bob::passes, "released"},
                      ClaimPair{"FenceThenDone", "fence", "done", Bob::waits, "done"},
                      ClaimPair{"FenceThenSwitch", "fence", "switch", Bob::waits, "granted c"},
                      ClaimPair{"FenceThenAssign", "fence", "assign", Bob::waits, "granted"},
                      ClaimPair{"FenceThenRevoke", "fence", "revoke", Bob::waits, "revoked"},
                      ClaimPair{"FenceThenClose", "fence", "close", Bob::waits, "released 2"},
                      ClaimPair{"FenceThenTakeover", "fence", "take over", Bob::passes, "busy ann",
                                Expiry::after_alice},
                      ClaimPair{"FenceThenRecover", "fence", "recover", Bob::passes, "0", Expiry::after_alice},
                      ClaimPair{"ReleaseThenFence", "release", "fence", Bob::waits, "LH001"},
                      ClaimPair{"RevokeThenFence", "revoke", "fence", Bob::waits, "LH001"},
                      ClaimPair{"CloseThenFence", "close", "fence", Bob::waits, "LH001"},
                      ClaimPair{"TakeoverThenFence", "take over", "fence", Bob::waits, "LH001", Expiry::before_alice}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Endings, ClaimMatrixTest,
    ::testing::Values(
        ClaimPair{"CloseThenTake", "close", "take as ann", Bob::waits, "unregistered"},
        ClaimPair{"CloseThenBeat", "close", "beat", Bob::waits, "lost finished"},
        ClaimPair{"CloseThenClose", "close", "close", Bob::waits, "released 2"},
        ClaimPair{"CloseThenRelease", "close", "release", Bob::waits, "released"},
        ClaimPair{"CloseThenTakeIts", "close", "take over", Bob::passes, "held ann"},
        ClaimPair{"OpenThenOpen", "open new", "open new", Bob::waits, "held"},
        ClaimPair{"ReopenThenReopen", "open", "open", Bob::waits, "held", Expiry::before_alice},
        ClaimPair{"ReopenThenTakeover", "open", "take over", Bob::passes, "busy ann", Expiry::before_alice},
        ClaimPair{"ReopenThenBeat", "open", "beat", Bob::waits, "lost superseded", Expiry::before_alice},
        ClaimPair{"BeatThenTakeover", "beat", "take over", Bob::passes, "busy ann", Expiry::after_alice},
        ClaimPair{"ReleaseThenTakeover", "release", "take over", Bob::passes, "busy ann", Expiry::before_alice},
        ClaimPair{"CloseThenTakeover", "close", "take over", Bob::passes, "busy ann", Expiry::before_alice},
        ClaimPair{"TakeoverThenBeat", "take over", "beat", Bob::waits, "lost expired", Expiry::before_alice},
        ClaimPair{"TakeoverThenClose", "take over", "close", Bob::waits, "lost 0", Expiry::before_alice},
        ClaimPair{"TakeoverThenRelease", "take over", "release", Bob::waits, "lost superseded", Expiry::before_alice},
        ClaimPair{"TakeoverThenReleaseOther", "take over", "release b", Bob::waits, "lost expired",
                  Expiry::before_alice},
        ClaimPair{"TakeoverThenDone", "take over", "done", Bob::waits, "lost superseded", Expiry::before_alice},
        ClaimPair{"TakeoverThenSwitch", "take over", "switch", Bob::waits, "lost superseded a", Expiry::before_alice},
        ClaimPair{"TakeoverThenTakeover", "take over", "take over", Bob::waits, "granted cid", Expiry::before_alice},
        ClaimPair{"TakeoverThenTakeoverOfOther", "take over", "take over b", Bob::passes, "busy ann",
                  Expiry::before_alice},
        ClaimPair{"TakeoverThenRecover", "take over", "recover", Bob::passes, "0", Expiry::before_alice},
        ClaimPair{"TakeoverThenReopen", "take over", "open", Bob::passes, "busy", Expiry::before_alice},
        ClaimPair{"RecoverThenTakeover", "recover", "take over", Bob::passes, "busy ann", Expiry::before_alice},
        ClaimPair{"RecoverThenBeat", "recover", "beat", Bob::waits, "lost expired", Expiry::before_alice},
        ClaimPair{"RecoverThenRecover", "recover", "recover", Bob::passes, "0", Expiry::before_alice}),
    pair_name);

/// What takes more than two acts.
class ClaimMeetingTest : public SqlTest {
 protected:
  void SetUp() override {
    observer_.run(here("SELECT leasehold.session_open(id) FROM unnest('{ann,ben}'::text[]) AS id"));
    observer_.run(here("SELECT leasehold.item_add(key) FROM unnest('{a,b}'::text[]) AS key"));
  }
};

TEST_F(ClaimMeetingTest, WhoAskedBeforeTheWinnerGotItIsToldOfARace) {
  alice_.run("BEGIN");
  alice_.run(here("SELECT FROM leasehold.item WHERE key = 'a' FOR UPDATE"));
  bob_.send(here("SELECT outcome || ' ' || session_id FROM leasehold.claim_take('a', 'ben')"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(1s);
  alice_.run(here("SELECT leasehold.claim_take('a', 'ann')"));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "race ann");
  EXPECT_EQ(bob_.scalar(here("SELECT outcome FROM leasehold.claim_take('a', 'ben')")), "held") << "asked again";
}

TEST_F(ClaimMeetingTest, Promise05_AHeartbeatThatWaitedDoesNotReviveWhatExpiredMeanwhile) {
  const auto token = observer_.scalar(here("SELECT token FROM leasehold.session_list('ann')"));
  alice_.run("BEGIN");
  alice_.run(here("SELECT leasehold.session_close('ann', " + token + ")"));
  bob_.send(here("SELECT concat_ws(' ', outcome, why) FROM leasehold.session_heartbeat('ann', " + token + ")"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(301s);
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "lost expired");
}

TEST_F(ClaimMeetingTest, ATakeThatWaitedLooksAtTheClockAgain) {
  alice_.run("BEGIN");
  alice_.run(here("SELECT FROM leasehold.item WHERE key = 'a' FOR UPDATE"));
  bob_.send(here("SELECT concat_ws(' ', outcome, why) FROM leasehold.claim_take('a', 'ben')"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(301s);
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "unregistered stale") << "its own session went stale while it waited";
}

}  // namespace
}  // namespace leasehold::support

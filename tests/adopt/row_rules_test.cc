// The effect of each write by code without tokens: on a lease of leasehold, on a hold of its own and on a free row.
#include <gmock/gmock.h>

#include "adopt_fixture.h"

namespace leasehold {
namespace {

using support::AdoptTest;
using testing::HasSubstr;
using namespace std::chrono_literals;

class RowRulesTest : public AdoptTest {
 protected:
  void adopt_with(const std::string& more, const std::string& jobs = "(1), (2)") {
    run(support::jobs_table);
    run("INSERT INTO {s}.jobs (id) VALUES " + jobs);
    adopt(support::jobs_file + more);
  }
  /// "free", or the name of the holder and the last digit of the token.
  std::string lease(int id = 1) {
    return scalar(
        "SELECT CASE WHEN locked_until IS NULL AND locked_by IS NULL THEN 'free' ELSE coalesce(locked_by, '?') END "
        "|| ' ' || coalesce(lease_token % 10, -1) FROM {s}.jobs WHERE id = " +
        std::to_string(id));
  }
  std::int64_t token(int id = 1) {
    return std::stoll(scalar("SELECT coalesce(lease_token, 0) FROM {s}.jobs WHERE id = " + std::to_string(id)));
  }
  std::string take(const std::string& who, int seconds = 300) {
    return "UPDATE {s}.jobs SET locked_until = " + moment(seconds) + ", locked_by = '" + who + "' WHERE id = 1";
  }
};
LEASEHOLD_ON_BOTH_STORES(RowRulesTest);

TEST_P(RowRulesTest, AFutureValueByAnotherNameIsRefusedWhileOurLeaseLives) {
  adopt_with("");
  const auto grant = claim_one(open_rows());
  EXPECT_THAT(refusal(take("thief")), HasSubstr("hold"));
  EXPECT_EQ(lease(), "ann 0");
  EXPECT_TRUE(open_rows().complete(grant.key, grant.token).ok());
}

TEST_P(RowRulesTest, AFutureValueByAnotherNameDoesNothingWhereTheGuardSkips) {
  adopt_with("guard = \"skip\"\n");
  const auto grant = claim_one(open_rows());
  EXPECT_EQ(refusal(take("thief")), "");
  EXPECT_EQ(lease(), "ann 0");
  EXPECT_TRUE(open_rows().complete(grant.key, grant.token).ok());
}

TEST_P(RowRulesTest, AFutureValueByAnotherNameIsRefusedWithoutAGuard) {
  adopt_with("guard = \"off\"\n");
  claim_one(open_rows());
  EXPECT_NE(refusal(take("thief")), "");
  EXPECT_EQ(lease(), "ann 0");
}

TEST_P(RowRulesTest, AFreeRowThatOldCodeTakesIsItsHold) {
  adopt_with("", "(1)");
  run(take("old"));
  EXPECT_EQ(lease(), "old 9");
  const auto rows = open_rows();
  EXPECT_EQ(code_of(rows.claim()), Errc::empty);
  const auto refused = rows.claim_key({"1"});
  ASSERT_EQ(code_of(refused), Errc::held);
  EXPECT_EQ(refused.error().held_by->holder.name, "old");
}

TEST_P(RowRulesTest, AnExpiredRowThatOldCodeTakesRaisesTheToken) {
  adopt_with("", "(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  expire(rows, grant);
  run(take("old"));
  EXPECT_EQ(lease(), "old 9");
  EXPECT_GT(token(), grant.token.value);
  for (const auto& late : {rows.complete(grant.key, grant.token), rows.release(grant.key, grant.token)}) {
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().lost_reason, LostReason::superseded);
  }
  EXPECT_EQ(lease(), "old 9");
}

TEST_P(RowRulesTest, ALaterTimeIsTheHeartbeatOfAForeignHold) {
  adopt_with("", "(1)");
  run(take("old", 100));
  const auto first = token();
  run("UPDATE {s}.jobs SET locked_until = " + moment(500) + " WHERE id = 1 AND locked_by = 'old'");
  EXPECT_EQ(lease(), "old 9");
  EXPECT_EQ(token(), first);
  EXPECT_EQ(scalar("SELECT count(*) FROM {s}.jobs WHERE locked_until > " + moment(400)), "1");
}

TEST_P(RowRulesTest, AForeignHoldThatExpiredIsTakenOverAndItsHolderFoundOut) {
  adopt_with("", "(1)");
  run(take("old"));
  const auto foreign = token();
  run_behind_triggers("UPDATE {s}.jobs SET locked_until = " + moment(-2));
  const auto rows = open_rows();
  const auto grant = claim_one(rows, "bob");
  EXPECT_GT(grant.token.value, foreign);
  EXPECT_EQ(lease(), "bob 0");
  EXPECT_NE(refusal(take("old")), "");
  EXPECT_TRUE(rows.complete(grant.key, grant.token).ok());
}

TEST_P(RowRulesTest, ClearingTheColumnsRevokesALiveLease) {
  adopt_with("");
  const auto rows = open_rows();
  for (const std::string how : {"locked_until = NULL, locked_by = NULL", "locked_until = NULL"}) {
    const auto grant = rows.claim_key({"1"}, {}, by("ann")).value();
    run("UPDATE {s}.jobs SET " + how + " WHERE id = 1");
    EXPECT_EQ(lease(), "free 5") << how;
    const auto late = rows.heartbeat({{grant.key, grant.token}}).front();
    ASSERT_FALSE(late.ok()) << how;
    EXPECT_EQ(late.error().lost_reason, LostReason::revoked) << how;
    EXPECT_EQ(reason_of(rows.complete(grant.key, grant.token)), LostReason::revoked) << how;
  }
}

TEST_P(RowRulesTest, APastTimeRevokesALiveLeaseAndIsNoCrash) {
  adopt_with("", "(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  run("UPDATE {s}.jobs SET locked_until = " + moment(-10) + " WHERE id = 1");
  EXPECT_EQ(reason_of(rows.heartbeat({{grant.key, grant.token}}).front()), LostReason::revoked);
  EXPECT_EQ(rows.show({"1"})->state, "available");
  claim_one(rows, "bob");
  EXPECT_EQ(scalar("SELECT crashes FROM {s}.jobs"), "0");
}

TEST_P(RowRulesTest, AReleaseByNameOfAStrangerEndsNothing) {
  adopt_with("");
  const auto grant = claim_one(open_rows(), "ann");
  run("UPDATE {s}.jobs SET locked_until = NULL, locked_by = NULL WHERE id = 1 AND locked_by = 'old'");
  EXPECT_TRUE(open_rows().heartbeat({{grant.key, grant.token}}).front().ok());
}

TEST_P(RowRulesTest, ATokenFallsForNoWriteWhatever) {
  for (const std::string guard : {"deny", "off"}) {
    run("DROP TABLE IF EXISTS {s}.jobs");
    adopt_with("guard = \"" + guard + "\"\n", "(1)");
    const auto rows = open_rows();
    const auto grant = claim_one(rows);
    for (const std::string lower : {"0", "NULL", "lease_token - 1", "10"}) {
      refusal("UPDATE {s}.jobs SET lease_token = " + lower);
      EXPECT_EQ(token(), grant.token.value) << lower;
    }
    ASSERT_TRUE(rows.release(grant.key, grant.token).ok());
    // The row as an ORM read it before the claim, saved after the release.
    refusal("UPDATE {s}.jobs SET lease_token = NULL, locked_until = NULL, locked_by = NULL, status = 'PENDING'");
    EXPECT_EQ(token(), grant.token.value + 3);
    const auto reverted = adoption().revert(with_schema("{s}.jobs"));
    EXPECT_TRUE(reverted.ok()) << reverted.error().message;
  }
}

TEST_P(RowRulesTest, GuardOffLetsAWriteThroughAndTheRowCountsAsFinal) {
  adopt_with("guard = \"off\"\n", "(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  run("UPDATE {s}.jobs SET status = 'COMPLETED' WHERE id = 1");
  EXPECT_EQ(rows.show({"1"})->state, "completed");
  EXPECT_EQ(code_of(rows.claim()), Errc::empty);
  // Its holder learns that its run was ended, and verify() finds no lease on a finished row.
  const auto late = rows.complete(grant.key, grant.token);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().lost_reason, LostReason::revoked);
  EXPECT_EQ(scalar("SELECT count(*) FROM {s}.jobs WHERE locked_until IS NOT NULL"), "0");
}

TEST_P(RowRulesTest, DenyNamesTheTableAndGuardsEveryColumnOfTheVerdicts) {
  adopt_with("", "(1)");
  const auto grant = claim_one(open_rows());
  for (const std::string write : {"status = 'FAILED'", "error = 'mine'", "status = NULL || 'x', note = 'x'"}) {
    EXPECT_THAT(refusal("UPDATE {s}.jobs SET " + write), HasSubstr("jobs")) << write;
  }
  EXPECT_EQ(refusal("UPDATE {s}.jobs SET status = status, note = 'same value'"), "");
  EXPECT_TRUE(open_rows().complete(grant.key, grant.token).ok());
}

TEST_P(RowRulesTest, NothingIsGuardedWithoutALiveLease) {
  adopt_with("", "(1)");
  const auto rows = open_rows();
  run("UPDATE {s}.jobs SET status = 'FAILED'");
  run("UPDATE {s}.jobs SET status = 'PENDING'");
  const auto grant = claim_one(rows);
  expire(rows, grant);
  run("UPDATE {s}.jobs SET status = 'COMPLETED'");
  EXPECT_EQ(reason_of(rows.complete(grant.key, grant.token)), LostReason::expired);
  EXPECT_EQ(lease(), "free 4");
}

TEST_P(RowRulesTest, ExpiryBetweenTwoStatementsEndsTheProtection) {
  adopt_with("", "(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  ASSERT_TRUE(rows.heartbeat({{grant.key, grant.token}}).front().ok());
  expire(rows, grant);
  ASSERT_FALSE(rows.heartbeat({{grant.key, grant.token}}).front().ok());
  EXPECT_EQ(rows.show({"1"})->state, "expired");
  const auto next = claim_one(rows, "bob");
  EXPECT_EQ(reason_of(rows.heartbeat({{grant.key, grant.token}}).front()), LostReason::superseded);
  EXPECT_GT(next.token, grant.token);
}

TEST_P(RowRulesTest, ARaisedTokenProvesOnlyItsOwnGrant) {
  adopt_with("", "(1)");
  const auto rows = open_rows();
  const auto late = claim_one(rows);
  expire(rows, late);
  const auto current = claim_one(rows, "bob");
  const auto old = std::to_string(late.token.value);
  run("UPDATE {s}.jobs SET status = 'COMPLETED', locked_until = NULL, locked_by = NULL, lease_token = " + old +
      " + 1 WHERE id = 1 AND lease_token = " + old);
  EXPECT_EQ(rows.show({"1"})->state, "running");
  EXPECT_NE(refusal("UPDATE {s}.jobs SET status = 'COMPLETED', lease_token = " + old + " + 1 WHERE id = 1"), "");
  EXPECT_TRUE(rows.complete(current.key, current.token).ok());
}

TEST_P(RowRulesTest, AKeyMayChangeWhileTheRowIsFree) {
  adopt_with("", "(1)");
  const auto grant = claim_one(open_rows());
  EXPECT_THAT(refusal("UPDATE {s}.jobs SET id = 7"), HasSubstr("key"));
  ASSERT_TRUE(open_rows().release(grant.key, grant.token).ok());
  run("UPDATE {s}.jobs SET id = 7");
  EXPECT_EQ(claim_one(open_rows()).key, RowKey{"7"});
}

TEST_P(RowRulesTest, ARowThatIsDeletedAndMadeAgainKeepsNoOldToken) {
  adopt_with("", "(1)");
  const auto rows = open_rows();
  const auto old = claim_one(rows);
  run("DELETE FROM {s}.jobs");
  EXPECT_EQ(code_of(rows.heartbeat({{old.key, old.token}}).front()), Errc::lost);
  run("INSERT INTO {s}.jobs (id) VALUES (1)");
  const auto fresh = claim_one(rows, "bob");
  EXPECT_GT(fresh.token, old.token);
  EXPECT_FALSE(rows.complete(old.key, old.token).ok());
}

TEST_P(RowRulesTest, AFragmentThatViolatesAConstraintFailsWholeAndNamesIt) {
  run("CREATE TABLE {s}.jobs (id integer PRIMARY KEY, status text NOT NULL DEFAULT 'PENDING', tries integer NOT NULL "
      "DEFAULT 0, CONSTRAINT few_tries CHECK (tries < 1))");
  run("INSERT INTO {s}.jobs (id) VALUES (1)");
  adopt(
      "[{s}.jobs]\nshape = \"work\"\nttl = \"30s\"\nclaimable = \"status <> 'DONE'\"\n"
      "on_claim = \"status = 'RUNNING'\"\non_complete = \"status = 'DONE', tries = tries + 1\"\n");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  const auto answer = rows.complete(grant.key, grant.token);
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("few_tries"));
  EXPECT_EQ(scalar("SELECT status || tries FROM {s}.jobs"), "RUNNING0");
  EXPECT_EQ(lease(), "ann 0");
  EXPECT_TRUE(rows.heartbeat({{grant.key, grant.token}}).front().ok());
  EXPECT_TRUE(rows.release(grant.key, grant.token).ok());
  if (on_postgres()) return;
  EXPECT_EQ(scalar("SELECT count(*) FROM leasehold_adopted WHERE kind = 'proof'"), "0");
}

}  // namespace
}  // namespace leasehold

// The promises, for rows of adopted tables.
#include <gmock/gmock.h>

#include "adopt_fixture.h"

namespace leasehold {
namespace {

using support::AdoptTest;
using testing::HasSubstr;
using namespace std::chrono_literals;

class RowPromiseTest : public AdoptTest {};
LEASEHOLD_ON_BOTH_STORES(RowPromiseTest);

TEST_P(RowPromiseTest, Promise01_TheStateFollowsFromTheRow) {
  adopt_jobs("(1), (2), (3), (4)");
  const auto rows = open_rows();
  const auto first = claim_one(rows);
  const auto second = claim_one(rows);
  ASSERT_TRUE(rows.complete(second.key, second.token).ok());
  const auto third = claim_one(rows);
  expire(rows, third);
  EXPECT_EQ(rows.show(first.key)->state, "running");
  EXPECT_EQ(rows.show(second.key)->state, "completed");
  EXPECT_EQ(rows.show(third.key)->state, "expired");
  EXPECT_EQ(rows.show({"4"})->state, "available");
}

TEST_P(RowPromiseTest, Promise03_EveryTokenIsGreaterThanTheOneBefore) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  auto last = claim_one(rows);
  const std::vector<std::pair<std::string, std::function<void()>>> ends = {
      {"release", [&] { ASSERT_TRUE(rows.release(last.key, last.token).ok()); }},
      {"expiry", [&] { expire(rows, last); }},
      {"revoke", [&] { run("UPDATE {s}.jobs SET locked_until = NULL, locked_by = NULL WHERE id = 1"); }}};
  for (const auto& [how, end] : ends) {
    end();
    const auto next = claim_one(rows);
    EXPECT_GT(next.token, last.token) << "after " << how;
    EXPECT_EQ(next.token.value % 10, 0);
    last = next;
  }
}

TEST_P(RowPromiseTest, Promise04_LateActsAreLostAndChangeNothing) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  const auto late = claim_one(rows, "ann");
  expire(rows, late);
  const auto current = claim_one(rows, "bob");
  const auto before = scalar("SELECT status || locked_by || lease_token FROM {s}.jobs");
  for (const auto& answer : {rows.complete(late.key, late.token), rows.fail(late.key, late.token, "late"),
                             rows.release(late.key, late.token)}) {
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, Errc::lost);
    EXPECT_EQ(answer.error().lost_reason, LostReason::superseded);
  }
  EXPECT_EQ(scalar("SELECT status || locked_by || lease_token FROM {s}.jobs"), before);
  EXPECT_TRUE(rows.complete(current.key, current.token).ok());
}

TEST_P(RowPromiseTest, Promise05_AHeartbeatExtendsALiveLeaseAndNeverAnExpiredOne) {
  adopt_jobs("(1), (2)");
  const auto rows = open_rows();
  const auto live = claim_one(rows);
  const auto expired = claim_one(rows);
  expire(rows, expired);
  const auto answers = rows.heartbeat({{live.key, live.token}, {expired.key, expired.token}}, 60s);
  ASSERT_TRUE(answers[0].ok()) << answers[0].error().message;
  EXPECT_GT(answers[0]->expires_at, live.expires_at);
  ASSERT_FALSE(answers[1].ok());
  EXPECT_EQ(answers[1].error().lost_reason, LostReason::expired);
  EXPECT_EQ(rows.show(expired.key)->state, "expired");
}

TEST_P(RowPromiseTest, Promise05_CompleteIsAcceptedAfterExpiryUntilAnotherHolderTookOver) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  expire(rows, grant);
  EXPECT_TRUE(rows.complete(grant.key, grant.token).ok());
  EXPECT_EQ(rows.show(grant.key)->state, "completed");
}

TEST_P(RowPromiseTest, Promise06_AClaimTakesOverAnExpiredRowWithoutASweep) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  expire(rows, claim_one(rows, "ann"));
  const auto taken = claim_one(rows, "bob");
  EXPECT_EQ(taken.key, RowKey{"1"});
  EXPECT_EQ(scalar("SELECT locked_by FROM {s}.jobs"), "bob");
}

TEST_P(RowPromiseTest, Promise07_ATakeoverCountsACrashAndAReleaseDoesNot) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  const auto released = claim_one(rows);
  ASSERT_TRUE(rows.release(released.key, released.token).ok());
  EXPECT_EQ(scalar("SELECT crashes FROM {s}.jobs"), "0");
  expire(rows, claim_one(rows));
  claim_one(rows);
  EXPECT_EQ(scalar("SELECT crashes FROM {s}.jobs"), "1");
}

TEST_P(RowPromiseTest, Promise08_FinishedRowsCannotBeClaimed) {
  adopt_jobs("(1), (2)");
  const auto rows = open_rows();
  const auto completed = claim_one(rows);
  ASSERT_TRUE(rows.complete(completed.key, completed.token).ok());
  const auto failed = claim_one(rows);
  ASSERT_TRUE(rows.fail(failed.key, failed.token, "no such source").ok());
  EXPECT_EQ(rows.claim().error().code, Errc::empty);
  EXPECT_EQ(rows.claim_key(completed.key).error().code, Errc::terminal);
  EXPECT_EQ(rows.claim_key({"99"}).error().code, Errc::not_found);
  EXPECT_EQ(scalar("SELECT error FROM {s}.jobs WHERE id = 2"), "no such source");
}

TEST_P(RowPromiseTest, Promise11_ARefusalNamesTheHolderAndShowsNoToken) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  claim_one(rows, "ann");
  const auto refused = rows.claim_key({"1"}, {}, by("bob"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::held);
  ASSERT_TRUE(refused.error().held_by.has_value());
  EXPECT_EQ(refused.error().held_by->holder.name, "ann");
  EXPECT_EQ(refused.error().held_by->token, Token{});
  ASSERT_TRUE(refused.error().retry_in.has_value());
  EXPECT_LE(*refused.error().retry_in, 31s);
  EXPECT_THAT(refused.error().message, HasSubstr("ann"));
}

TEST_P(RowPromiseTest, Promise13_TheSameVerdictTwiceGivesTheFirstAnswer) {
  adopt_jobs("(1), (2), (3)");
  const auto rows = open_rows();
  const auto completed = claim_one(rows);
  const auto failed = claim_one(rows);
  const auto released = claim_one(rows);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(rows.complete(completed.key, completed.token).ok()) << i;
    EXPECT_TRUE(rows.fail(failed.key, failed.token, "why").ok()) << i;
    EXPECT_TRUE(rows.release(released.key, released.token).ok()) << i;
  }
  const auto other = rows.fail(completed.key, completed.token, "after all not");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().lost_reason, LostReason::finished);
}

TEST_P(RowPromiseTest, Promise04_ARevokedHolderLearnsIt) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  run("UPDATE {s}.jobs SET locked_until = NULL, locked_by = NULL WHERE id = 1");
  const auto answer = rows.heartbeat({{grant.key, grant.token}}).front();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().lost_reason, LostReason::revoked);
}

TEST_P(RowPromiseTest, Promise04_TheHolderOfADeletedRowLearnsIt) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  run("DELETE FROM {s}.jobs WHERE id = 1");
  const auto answer = rows.complete(grant.key, grant.token);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Errc::lost);
  EXPECT_THAT(answer.error().message, HasSubstr("gone"));
}

}  // namespace
}  // namespace leasehold

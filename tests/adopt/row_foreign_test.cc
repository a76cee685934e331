// Code that knows nothing of tokens, beside code that does.
#include <gmock/gmock.h>

#include "adopt_fixture.h"

namespace leasehold {
namespace {

using support::AdoptTest;
using testing::HasSubstr;

constexpr const char* held_file = R"~(
[{s}.jobs]
shape       = "work"
ttl         = "30s"
order       = "id"
claimable   = "status IN ('PENDING', 'RUNNING')"
final       = { completed = "status = 'COMPLETED'", failed = "status = 'FAILED'" }
held        = { when = "status = 'RUNNING'", until = "{until}", by = "worker" }
on_claim    = "status = 'RUNNING'"
on_complete = "status = 'COMPLETED'"
on_fail     = "status = 'FAILED', error = :error"
on_release  = "status = 'PENDING'"
on_expire   = "status = 'PENDING'"
guard       = "{guard}"
)~";

class RowForeignTest : public AdoptTest {
 protected:
  void adopt_with(const std::string& guard) {
    std::string file = held_file;
    file.replace(file.find("{guard}"), 7, guard);
    const auto* until = on_postgres() ? "clock_timestamp() + interval '5 minutes'" : "datetime('now', '+5 minutes')";
    file.replace(file.find("{until}"), 7, until);
    if (!on_postgres()) file += "time = \"iso\"\n";
    adopt(file);
  }
  void make_jobs() {
    run(support::jobs_table);
    run("INSERT INTO {s}.jobs (id) VALUES (1), (2)");
  }
};
LEASEHOLD_ON_BOTH_STORES(RowForeignTest);

TEST_P(RowForeignTest, ARowHeldByOldCodeBeforeIsNotTaken) {
  make_jobs();
  run("UPDATE {s}.jobs SET status = 'RUNNING', worker = 'old' WHERE id = 1");
  adopt_with("deny");
  const auto rows = open_rows();
  EXPECT_EQ(claim_one(rows).key, RowKey{"2"});
  const auto refused = rows.claim_key({"1"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().held_by->holder.name, "old");
  EXPECT_EQ(scalar("SELECT lease_token % 10 FROM {s}.jobs WHERE id = 1"), "9");
}

TEST_P(RowForeignTest, ARowThatOldCodeTakesNowIsNotTaken) {
  make_jobs();
  adopt_with("deny");
  run("UPDATE {s}.jobs SET status = 'RUNNING', worker = 'old' WHERE id = 1");
  const auto rows = open_rows();
  EXPECT_EQ(claim_one(rows).key, RowKey{"2"});
  EXPECT_EQ(rows.claim_key({"1"}).error().code, Errc::held);
}

TEST_P(RowForeignTest, OldCodeFinishesItsOwnRows) {
  make_jobs();
  adopt_with("deny");
  run("UPDATE {s}.jobs SET status = 'RUNNING', worker = 'old' WHERE id = 1");
  run("UPDATE {s}.jobs SET status = 'COMPLETED' WHERE id = 1");
  EXPECT_EQ(open_rows().show({"1"})->state, "completed");
  EXPECT_EQ(scalar("SELECT coalesce(locked_by, 'nobody') FROM {s}.jobs WHERE id = 1"), "nobody");
}

TEST_P(RowForeignTest, DenyRefusesAWriteWithoutProofWhileALeaseLives) {
  make_jobs();
  adopt_with("deny");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  // SQLite's triggers cannot name the holder.
  EXPECT_THAT(refusal("UPDATE {s}.jobs SET status = 'COMPLETED' WHERE id = 1"),
              HasSubstr(on_postgres() ? "holds it" : "a live lease is on this row"));
  EXPECT_EQ(rows.show({"1"})->state, "running");
  run("UPDATE {s}.jobs SET note = 'other columns are free' WHERE id = 1");
  EXPECT_TRUE(rows.complete(grant.key, grant.token).ok());
}

TEST_P(RowForeignTest, SkipMakesAWriteWithoutProofDoNothing) {
  make_jobs();
  adopt_with("skip");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  EXPECT_EQ(refusal("UPDATE {s}.jobs SET status = 'FAILED'"), "");
  EXPECT_EQ(rows.show({"1"})->state, "running");
  EXPECT_EQ(scalar("SELECT status FROM {s}.jobs WHERE id = 2"), "FAILED");
  EXPECT_TRUE(rows.complete(grant.key, grant.token).ok());
}

TEST_P(RowForeignTest, AStatementThatRaisesTheTokenIsProven) {
  make_jobs();
  adopt_with("deny");
  const auto grant = claim_one(open_rows());
  const auto token = std::to_string(grant.token.value);
  run("UPDATE {s}.jobs SET status = 'COMPLETED', locked_until = NULL, locked_by = NULL, lease_token = " + token +
      " + 1 WHERE id = 1 AND lease_token = " + token);
  EXPECT_EQ(open_rows().show({"1"})->state, "completed");
}

TEST_P(RowForeignTest, ATokenNeverFalls) {
  make_jobs();
  adopt_with("off");
  const auto grant = claim_one(open_rows());
  run("UPDATE {s}.jobs SET note = 'an ORM that saves whole rows', lease_token = 10 WHERE id = 1");
  EXPECT_EQ(scalar("SELECT lease_token FROM {s}.jobs WHERE id = 1"), std::to_string(grant.token.value));
}

TEST_P(RowForeignTest, AnotherNameCannotTakeALiveRow) {
  make_jobs();
  adopt_with("deny");
  claim_one(open_rows());
  EXPECT_NE(refusal("UPDATE {s}.jobs SET locked_by = 'thief' WHERE id = 1"), "");
  EXPECT_EQ(scalar("SELECT locked_by FROM {s}.jobs WHERE id = 1"), "ann");
}

TEST_P(RowForeignTest, AKeyCannotChangeUnderALiveLease) {
  make_jobs();
  adopt_with("deny");
  claim_one(open_rows());
  EXPECT_THAT(refusal("UPDATE {s}.jobs SET id = 7 WHERE id = 1"), HasSubstr("key"));
}

}  // namespace
}  // namespace leasehold

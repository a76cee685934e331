// Adopted rows in a database that has a store, too: the store gets their events, and shows their leases.
#include <gmock/gmock.h>

#include "adopt_fixture.h"
#include "leasehold/migrations.h"
#include "support/pg.h"

namespace leasehold {
namespace {

using support::AdoptTest;
using support::PgConnection;
using support::StoreKind;
using ::testing::ElementsAre;

class RowEventsTest : public AdoptTest {
 protected:
  void SetUp() override {
    AdoptTest::SetUp();
    auto migrations = Migrations::open(url(), {});
    ASSERT_TRUE(migrations.ok() && migrations->up().ok());
  }

  /// "claimed 1 by bob", oldest first.
  std::vector<std::string> recorded() {
    std::vector<std::string> all;
    const auto store = Store::open(url()).value();
    const auto events = store.events().value();
    for (const auto& event : events) {
      if (event.kind != "row") continue;
      all.push_back(event.what + " " + event.key.substr(event.key.find('/') + 1) + " by " + event.holder->name +
                    (event.previous_holder ? " from " + event.previous_holder->name : ""));
    }
    return all;
  }
  std::string leases() {
    return scalar(
        "SELECT coalesce(string_agg(key || ' ' || state || ' ' || holder, ', ' ORDER BY key), '') FROM "
        "leasehold.leases");
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, RowEventsTest, ::testing::Values(StoreKind::postgres), support::store_name);

TEST_P(RowEventsTest, Promise12_TheEventOfEachChangeIsInItsCommit) {
  adopt_jobs("(1), (2)");
  const auto rows = open_rows();
  const auto first = claim_one(rows);
  expire(rows, first);
  const auto second = rows.claim_key({"1"}, {}, by("bob"));
  ASSERT_TRUE(second.ok()) << second.error().message;
  ASSERT_TRUE(rows.complete({"1"}, second->token).ok());
  ASSERT_TRUE(rows.fail({"2"}, claim_one(rows).token, "no").ok());
  EXPECT_THAT(recorded(), ElementsAre("claimed 1 by ann", "expired 1 by ann", "claimed 1 by bob", "completed 1 by bob",
                                      "claimed 2 by ann", "failed 2 by ann"));

  run("UPDATE {s}.jobs SET status = 'PENDING' WHERE id = 2");
  PgConnection other(url());
  other.run("BEGIN");
  other.run(with_schema("SELECT id FROM {s}.jobs_claim('carol')"));
  other.run("ROLLBACK");
  EXPECT_EQ(recorded().size(), 6U) << "an event of a claim that was taken back";
}

TEST_P(RowEventsTest, OldCodeHasEventsToo) {
  adopt_jobs("(1)");
  run("UPDATE {s}.jobs SET locked_until = clock_timestamp() + interval '1 hour', locked_by = 'old' WHERE id = 1");
  run("UPDATE {s}.jobs SET locked_until = NULL, locked_by = NULL WHERE id = 1");
  claim_one(open_rows());
  run("UPDATE {s}.jobs SET locked_until = NULL, locked_by = NULL WHERE id = 1");
  EXPECT_THAT(recorded(), ElementsAre("held 1 by old", "claimed 1 by ann", "revoked 1 by ann"));
}

TEST_P(RowEventsTest, TheViewOfLeasesShowsHeldRows) {
  adopt_jobs("(1), (2), (3)");
  const auto rows = open_rows();
  const auto expired = claim_one(rows);
  claim_one(rows, "bob");
  expire(rows, expired);
  const auto name = with_schema("{s}.jobs");
  EXPECT_EQ(leases(), name + "/1 expired ann, " + name + "/2 running bob");
  EXPECT_EQ(Store::open(url()).value().leases().value().items.size(), 2U);
}

TEST_P(RowEventsTest, ARoleThatCannotReadTheTableSeesTheOtherLeases) {
  adopt_jobs("(1)");
  claim_one(open_rows());
  const auto role = "reader_" + scalar("SELECT (random() * 1000000000)::bigint");
  run("CREATE ROLE " + role);
  run("SELECT leasehold_internal.grant_scope('" + role + "', 'read')");
  run("SELECT leasehold.lock_acquire('deploy')");
  EXPECT_EQ(scalar("SELECT count(*) FROM leasehold.leases"), "2");
  PgConnection reader(url());
  reader.run("SET ROLE " + role);
  EXPECT_EQ(reader.scalar("SELECT string_agg(kind, ',') FROM leasehold.leases"), "lock");
  run("SELECT leasehold_internal.revoke_scope('" + role + "'); DROP ROLE " + role);
}

TEST_P(RowEventsTest, RevertEndsTheEventsAndARemovedStoreStopsNothing) {
  adopt_jobs("(1), (2)");
  ASSERT_TRUE(Migrations::open(url(), {})->down(0).ok());
  claim_one(open_rows());
  ASSERT_TRUE(Migrations::open(url(), {})->up().ok());
  const auto reverted = adoption().revert(with_schema("{s}.jobs"));
  ASSERT_TRUE(reverted.ok()) << reverted.error().message;
  run("UPDATE {s}.jobs SET status = 'DONE'");
  EXPECT_TRUE(recorded().empty());
  EXPECT_EQ(scalar("SELECT count(*) FROM leasehold_internal.adopted"), "0");
}

}  // namespace
}  // namespace leasehold

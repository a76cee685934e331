// The list of adopted tables, and how many of their rows are in which state.
#include "adopt_fixture.h"

namespace leasehold {
namespace {

using support::AdoptTest;

class RowCountsTest : public AdoptTest {
 protected:
  AdoptedTable only_table() {
    auto tables = Rows::tables(url()).value();
    EXPECT_EQ(tables.size(), 1U);
    return tables.empty() ? AdoptedTable() : tables.front();
  }
};
LEASEHOLD_ON_BOTH_STORES(RowCountsTest);

TEST_P(RowCountsTest, ADatabaseWithoutAdoptedTablesHasNone) { EXPECT_TRUE(Rows::tables(url()).value().empty()); }

TEST_P(RowCountsTest, EachRowThatCanBeClaimedIsCounted) {
  adopt_jobs("(1), (2), (3), (4), (5)");
  const auto rows = open_rows();
  expire(rows, claim_one(rows));
  // The claim gives back what expired; it is claimed again, as the first row.
  const auto done = claim_one(rows);
  EXPECT_TRUE(rows.complete(done.key, done.token).ok());
  claim_one(rows);
  expire(rows, claim_one(rows));
  const auto table = only_table();
  EXPECT_EQ(table.table, with_schema("{s}.jobs"));
  EXPECT_EQ(table.shape, "work");
  EXPECT_EQ(table.ttl, std::chrono::seconds(30));
  ASSERT_TRUE(table.counts);
  EXPECT_EQ(table.counts->running, 1);
  EXPECT_EQ(table.counts->expired, 1);
  EXPECT_EQ(table.counts->available, 2);
  EXPECT_EQ(table.counts->waiting, 0);
  EXPECT_FALSE(table.counts->estimated);
}

TEST_P(RowCountsTest, RowsThatAreNotDueWait) {
  run("CREATE TABLE {s}.jobs (id integer PRIMARY KEY, status text NOT NULL DEFAULT 'NEW', due boolean NOT NULL)");
  run("INSERT INTO {s}.jobs (id, due) VALUES (1, true), (2, false), (3, false)");
  adopt(
      "[{s}.jobs]\nshape = \"work\"\nttl = \"30s\"\nclaimable = \"status <> 'DONE'\"\ndue = \"due\"\n"
      "on_complete = \"status = 'DONE'\"\n");
  const auto table = only_table();
  ASSERT_TRUE(table.counts);
  EXPECT_EQ(table.counts->available, 1);
  EXPECT_EQ(table.counts->waiting, 2);
}

TEST_P(RowCountsTest, ALargeTableIsNotCountedToItsEnd) {
  run(support::jobs_table);
  run("INSERT INTO {s}.jobs (id) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10500) "
      "SELECT i FROM n");
  adopt(support::jobs_file);
  claim_one(open_rows());
  const auto table = only_table();
  ASSERT_TRUE(table.counts);
  EXPECT_EQ(table.counts->running, 1);
  EXPECT_EQ(table.counts->available, bounds::max_rows_counted);
  EXPECT_TRUE(table.counts->estimated);
}

}  // namespace
}  // namespace leasehold

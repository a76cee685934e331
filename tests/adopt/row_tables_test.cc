// Tables as people have them: keys of several kinds, names in quotes, partitions, constraints, and what depends on
// them.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "adopt_fixture.h"
#include "support/pg.h"

namespace leasehold {
namespace {

using support::AdoptTest;
using support::PgConnection;
using support::StoreKind;
using namespace std::chrono_literals;

constexpr const char* worked =
    "shape = \"work\"\nttl = \"30s\"\nclaimable = \"status <> 'DONE'\"\n"
    "on_claim = \"status = 'RUNNING'\"\non_complete = \"status = 'DONE'\"\n"
    "on_release = \"status = 'NEW'\"\non_expire = \"status = 'NEW'\"\n";

class RowTablesTest : public AdoptTest {
 protected:
  /// One row through claim, refusal, expiry, takeover and both verdicts; then everything is taken back.
  void expect_life(const std::string& table, const RowKey& key) {
    const auto rows = Rows::open(url(), with_schema("{s}." + table)).value();
    const auto late = rows.claim_key(key, {}, by("ann"));
    ASSERT_TRUE(late.ok()) << late.error().message;
    EXPECT_EQ(late->key, key);
    EXPECT_EQ(code_of(rows.claim_key(key, {}, by("bob"))), Errc::held);
    EXPECT_TRUE(rows.heartbeat({{key, late->token}}).front().ok());
    expire(rows, *late);
    const auto current = rows.claim_key(key, {}, by("bob"));
    ASSERT_TRUE(current.ok()) << current.error().message;
    EXPECT_EQ(reason_of(rows.complete(key, late->token)), LostReason::superseded);
    const auto done = rows.complete(key, current->token);
    EXPECT_TRUE(done.ok()) << done.error().message;
    EXPECT_TRUE(adoption().verify()->empty());
    const auto reverted = adoption().revert(with_schema("{s}." + table));
    EXPECT_TRUE(reverted.ok()) << reverted.error().message;
  }
};
LEASEHOLD_ON_BOTH_STORES(RowTablesTest);

TEST_P(RowTablesTest, NamesThatNeedQuotes) {
  run("CREATE TABLE {s}.\"Sync Jobs\" (\"order\" integer PRIMARY KEY, \"Status\" text NOT NULL DEFAULT 'NEW', "
      "\"group by\" text)");
  run("INSERT INTO {s}.\"Sync Jobs\" (\"order\") VALUES (1)");
  adopt(
      "[{s}.\"Sync Jobs\"]\nshape = \"work\"\nttl = \"30s\"\norder = '\"order\"'\n"
      "claimable = '''\"Status\" <> 'DONE' '''\non_claim = '''\"Status\" = 'RUNNING' '''\n"
      "on_complete = '''\"Status\" = 'DONE', \"group by\" = 'x' '''\n");
  expect_life("Sync Jobs", {"1"});
}

TEST_P(RowTablesTest, GeneratedColumnsAndChecksStay) {
  run("CREATE TABLE {s}.jobs (id integer PRIMARY KEY, status text NOT NULL DEFAULT 'NEW' CHECK (status IN ('NEW', "
      "'RUNNING', 'DONE')), cost integer NOT NULL DEFAULT 2, twice integer GENERATED ALWAYS AS (cost * 2) STORED)");
  run("INSERT INTO {s}.jobs (id) VALUES (1)");
  adopt(std::string("[{s}.jobs]\n") + worked);
  EXPECT_NE(refusal("UPDATE {s}.jobs SET status = 'BROKEN'"), "");
  expect_life("jobs", {"1"});
  EXPECT_EQ(scalar("SELECT twice FROM {s}.jobs"), "4");
}

TEST_P(RowTablesTest, ForeignKeysAndViewsStay) {
  run("CREATE TABLE {s}.jobs (id integer PRIMARY KEY, status text NOT NULL DEFAULT 'NEW')");
  run("CREATE TABLE {s}.steps (id integer PRIMARY KEY, job integer NOT NULL REFERENCES " +
      std::string(on_postgres() ? "{s}." : "") + "jobs (id))");
  run("CREATE VIEW {s}.open_jobs AS SELECT * FROM " + std::string(on_postgres() ? "{s}." : "") +
      "jobs WHERE status <> 'DONE'");
  run("INSERT INTO {s}.jobs (id) VALUES (1); INSERT INTO {s}.steps VALUES (1, 1)");
  adopt(std::string("[{s}.jobs]\n") + worked);
  EXPECT_EQ(scalar("SELECT count(*) FROM {s}.open_jobs"), "1");
  expect_life("jobs", {"1"});
  EXPECT_EQ(scalar("SELECT count(*) FROM {s}.open_jobs"), "0");
}

class RowServerTablesTest : public RowTablesTest {};
INSTANTIATE_TEST_SUITE_P(Stores, RowServerTablesTest, ::testing::Values(StoreKind::postgres), support::store_name);

TEST_P(RowServerTablesTest, AUuidKeyWithRowSecurityAndATriggerOfItsOwn) {
  run("CREATE TABLE {s}.jobs (id uuid PRIMARY KEY, status text NOT NULL DEFAULT 'NEW', updated_at timestamptz NOT NULL "
      "DEFAULT '2020-01-01'); ALTER TABLE {s}.jobs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; "
      "CREATE POLICY everyone ON {s}.jobs USING (true) WITH CHECK (true); "
      "CREATE FUNCTION {s}.touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.updated_at := now(); RETURN NEW; "
      "END'; "
      "CREATE TRIGGER touch BEFORE UPDATE ON {s}.jobs FOR EACH ROW EXECUTE FUNCTION {s}.touch()");
  const std::string key = "11111111-2222-3333-4444-555555555555";
  run("INSERT INTO {s}.jobs (id) VALUES ('" + key + "')");
  adopt(std::string("[{s}.jobs]\n") + worked);
  EXPECT_EQ(scalar("SELECT updated_at < '2021-01-01' FROM {s}.jobs"), "t") << "apply changed a row";
  expect_life("jobs", {key});
  EXPECT_EQ(scalar("SELECT updated_at > '2021-01-01' FROM {s}.jobs"), "t");
}

TEST_P(RowServerTablesTest, APartitionedTableAndAKeyWithAnEnum) {
  run("CREATE TYPE {s}.region AS ENUM ('north', 'south'); CREATE TABLE {s}.jobs (area {s}.region, id bigint, status "
      "text "
      "NOT NULL DEFAULT 'NEW', PRIMARY KEY (area, id)) PARTITION BY LIST (area); "
      "CREATE TABLE {s}.jobs_n PARTITION OF {s}.jobs FOR VALUES IN ('north'); "
      "CREATE TABLE {s}.jobs_s PARTITION OF {s}.jobs DEFAULT; INSERT INTO {s}.jobs VALUES ('north', 1), ('south', 1)");
  adopt(std::string("[{s}.jobs]\n") + worked);
  EXPECT_EQ(open_rows().claim({.max = 5})->size(), 2U);
  run_behind_triggers("UPDATE {s}.jobs SET locked_until = NULL, locked_by = NULL, status = 'NEW'");
  expect_life("jobs", {"south", "1"});
}

TEST_P(RowServerTablesTest, NoWriteWaitsOverASecondWhileALargeTableIsAdopted) {
  run("CREATE TABLE {s}.jobs (id bigint PRIMARY KEY, status text NOT NULL DEFAULT 'NEW', note integer); "
      "INSERT INTO {s}.jobs SELECT i FROM generate_series(1, 200000) AS i");
  std::chrono::steady_clock::duration longest{};
  int writes = 0;
  {
    std::jthread writer([&](const std::stop_token& stop) {
      PgConnection session(url());
      for (int id = 1; !stop.stop_requested(); id = id % 200000 + 1) {
        const auto before = std::chrono::steady_clock::now();
        session.run(with_schema("UPDATE {s}.jobs SET note = 1 WHERE id = " + std::to_string(id)));
        longest = std::max(longest, std::chrono::steady_clock::now() - before);
        ++writes;
      }
    });
    adopt(std::string("[{s}.jobs]\n") + worked);
  }
  EXPECT_GT(writes, 10);
  EXPECT_LT(longest, 1s);
  expect_life("jobs", {"7"});
}

}  // namespace
}  // namespace leasehold

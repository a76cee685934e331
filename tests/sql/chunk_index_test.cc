// A set of a hundred thousand chunks: claims, saves and verdicts use their indexes, whatever the statistics say.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class ChunkIndexTest : public SqlTest {
 protected:
  ChunkIndexTest() : SqlTest({.recycled = false}) {}

  void settle_statistics() {
    alice_.run("SELECT pg_stat_force_next_flush()");
    observer_.run("SELECT pg_stat_clear_snapshot()");
  }
  /// Sequential scans so far, of the tables that grow.
  std::string sequential_scans() {
    settle_statistics();
    return observer_.scalar(
        "SELECT string_agg(relname || ' ' || seq_scan, ', ' ORDER BY relname) FROM pg_stat_user_tables WHERE "
        "schemaname = '" +
        store_.schema() + "_internal' AND relname IN ('chunk', 'chunk_set', 'lease', 'blocked', 'rate')");
  }
  /// How many entries of indexes an act that is then rolled back looks at.
  std::int64_t read_by(const std::string& act) {
    const auto so_far = [&] {
      settle_statistics();
      return std::stoll(observer_.scalar("SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = '" +
                                         store_.schema() + "_internal'"));
    };
    const auto before = so_far();
    alice_.run("BEGIN");
    alice_.run(here("SELECT leasehold_internal." + act));
    alice_.run("ROLLBACK");
    return so_far() - before;
  }
  /// As many again as a plan would make, in no time; every second of them completed, as in the middle of a sync, or
  /// all.
  void grow(int chunks, int completed_of_two = 1) {
    alice_.run(here(
        "INSERT INTO leasehold_internal.chunk (set_id, key, position, plan_no, planner, hash, spec, attempts, final, "
        "ended_as, synced_at, finished_at) SELECT s.id, 'more-' || i, 1000 + i, 1, '1', '', '1', 1, "
        "CASE WHEN d.done THEN 'completed' END, CASE WHEN d.done THEN 'completed' END, "
        "CASE WHEN d.done THEN leasehold_internal.now() END, CASE WHEN d.done THEN leasehold_internal.now() END "
        "FROM leasehold_internal.chunk_set AS s CROSS JOIN generate_series(1, " +
        std::to_string(chunks) + ") AS i CROSS JOIN LATERAL (SELECT i % 2 < " + std::to_string(completed_of_two) +
        " AS done) AS d WHERE s.name = 'big'"));
  }
  /// `act` about the chunk c, a hundred times, each in a claim of its own.
  void many_claimed(const std::string& act) {
    alice_.run(here(
        "DO $$ DECLARE c record; BEGIN FOR i IN 1..100 LOOP SELECT * INTO c FROM leasehold_internal.chunk_claim('big', "
        "p_request_id => gen_random_uuid()::text); PERFORM " +
        act + "; END LOOP; END $$"));
  }
};

TEST_F(ChunkIndexTest, NoActScansATable) {
  alice_.run(here("SELECT leasehold_internal.chunk_plan_range('big', 1, 1000, 1)"));
  // Wrong statistics: analysed while there was next to nothing, as autovacuum would on a quiet night.
  alice_.run(
      here("ANALYZE leasehold_internal.chunk, leasehold_internal.chunk_set, leasehold_internal.lease, "
           "leasehold_internal.blocked"));
  grow(99'000);
  const auto before = sequential_scans();
  many_claimed("leasehold_internal.chunk_heartbeat('big', c.key, c.token, p_cursor => '1', p_rows => 1)");
  many_claimed("leasehold_internal.chunk_settle('big', c.key, c.token, 'complete', p_rows => 1)");
  many_claimed("leasehold_internal.chunk_settle('big', c.key, c.token, 'fail', p_error => 'no luck')");
  many_claimed("leasehold_internal.chunk_settle('big', c.key, c.token, 'release')");
  many_claimed("leasehold_internal.chunk_settle('big', c.key, c.token, 'skip', p_error => 'why')");
  many_claimed("leasehold_internal.chunk_fence('big', c.key, c.token)");
  store_.advance(1h);
  for (int i = 0; i < 20; ++i) alice_.run(here("SELECT leasehold_internal.chunk_claim('big', p_max => 3)"));
  alice_.run(here("SELECT leasehold_internal.chunk_claim('big', '500-500')"));
  alice_.run(here("SELECT leasehold_internal.chunk_skip_open('big', '900-900', 'why')"));
  alice_.run(here("SELECT leasehold_internal.rate_take('api', interval '1 s')"));
  EXPECT_EQ(sequential_scans(), before);
}

TEST_F(ChunkIndexTest, AnActReadsNoMoreOfAGreatSetThanOfASmallOne) {
  alice_.run(here("SELECT leasehold_internal.chunk_plan_range('big', 1, 100, 1)"));
  const auto token =
      alice_.scalar(here("SELECT token FROM leasehold_internal.chunk_claim('big', p_ttl => interval '1 hour')"));
  const std::vector<std::string> acts = {"chunk_claim('big')", "chunk_claim('big', '50-50')",
                                         "chunk_heartbeat('big', '1-1', " + token + ", p_rows => 1)",
                                         "chunk_settle('big', '1-1', " + token + ", 'complete')"};
  std::vector<std::int64_t> of_few;
  for (const auto& act : acts) of_few.push_back(read_by(act));
  grow(100'000);
  for (std::size_t i = 0; i < acts.size(); ++i) EXPECT_LE(read_by(acts[i]), of_few[i] + 10) << acts[i];
}

TEST_F(ChunkIndexTest, AnOldSetIsClaimedAgainWithoutWalkingOverIt) {
  alice_.run(here("SELECT leasehold_internal.chunk_plan_range('big', 1, 1, 1)"));
  grow(100'000, 2);
  alice_.run(
      here("UPDATE leasehold_internal.chunk SET final = 'completed', synced_at = leasehold_internal.now() WHERE final "
           "IS NULL"));
  store_.advance(1h);
  EXPECT_LE(read_by("chunk_claim('big', p_older_than => interval '1 minute')"), 50);
}

TEST_F(ChunkIndexTest, ASaveTouchesNoIndex) {
  alice_.run(here("SELECT leasehold_internal.chunk_plan_range('big', 1, 1, 1)"));
  const auto token =
      alice_.scalar(here("SELECT token FROM leasehold_internal.chunk_claim('big', p_ttl => interval '1 hour')"));
  const auto not_hot = [&] {
    settle_statistics();
    return std::stoll(
        observer_.scalar("SELECT n_tup_upd - n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'chunk' AND "
                         "schemaname = '" +
                         store_.schema() + "_internal'"));
  };
  const auto before = not_hot();
  // Time goes on: an index on a moment would otherwise find that it has not changed.
  alice_.run(
      here("DO $$ BEGIN FOR i IN 1..100 LOOP UPDATE leasehold_internal.test_clock SET at = at + interval '1 second'; "
           "PERFORM leasehold_internal.chunk_heartbeat('big', '1-1', " +
           token + ", p_cursor => i::text, p_rows => i); COMMIT; END LOOP; END $$"));
  // Another transaction may keep the old versions, so that a page is full after some of them.
  EXPECT_LE(not_hot() - before, 10) << "saves that are not HOT bloat every index of the table";
}

}  // namespace
}  // namespace leasehold::support

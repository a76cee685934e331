// On lease tables statistics are always stale; the functions must use their indexes all the same.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class PlanTest : public SqlTest {
 protected:
  PlanTest() : SqlTest({.recycled = false}) {}

  /// Sequential scans so far, of the tables that grow.
  std::string sequential_scans() {
    alice_.run("SELECT pg_stat_force_next_flush()");
    observer_.run("SELECT pg_stat_clear_snapshot()");
    return observer_.scalar(
        "SELECT string_agg(relname || ' ' || seq_scan, ', ' ORDER BY relname) "
        "FROM pg_stat_user_tables WHERE schemaname = '" +
        store_.schema() + "_internal' AND relname IN ('lock', 'lease', 'waiter')");
  }
  void many(const std::string& sql) {
    alice_.run("DO $$ BEGIN FOR i IN 1..300 LOOP PERFORM " + here(sql) + "; END LOOP; END $$");
  }
};

TEST_F(PlanTest, NoActScansATable) {
  // Fresh tables with wrong statistics: analysed while empty, as autovacuum would on a quiet night.
  alice_.run(here("ANALYZE leasehold_internal.lock, leasehold_internal.lease, leasehold_internal.waiter"));
  const auto before = sequential_scans();
  many("leasehold_internal.lock_acquire('lock-' || i, 'alice', interval '30 seconds', 'request-' || i)");
  many("leasehold_internal.lock_acquire('lock-' || i, 'bob')");
  many("leasehold_internal.lock_heartbeat('lock-' || i, (leasehold_internal.lock_show('lock-' || i)).token)");
  many("leasehold_internal.lock_wait('lock-' || i, 'carol', 'place-' || i)");
  many("leasehold_internal.lock_release('lock-' || i, (leasehold_internal.lock_show('lock-' || i)).token)");
  many("leasehold_internal.lock_acquire('lock-' || i, 'carol', interval '30 seconds', 'place-' || i)");
  many("leasehold_internal.lock_leave('lock-' || i, 'place-' || i)");
  many("leasehold_internal.lock_revoke('lock-' || i, 'enough')");
  EXPECT_EQ(sequential_scans(), before);
}

TEST_F(PlanTest, AHeartbeatTouchesNoIndex) {
  const auto token = acquired("deploy", "1 hour");
  // Time goes on: an index on a moment would otherwise find that it has not changed.
  alice_.run(
      here("DO $$ BEGIN FOR i IN 1..100 LOOP UPDATE leasehold_internal.test_clock SET at = at + interval '1 second'; "
           "PERFORM leasehold_internal.lock_heartbeat('deploy', " +
           token + "); COMMIT; END LOOP; END $$"));
  alice_.run("SELECT pg_stat_force_next_flush()");
  observer_.run("SELECT pg_stat_clear_snapshot()");
  const auto not_hot = observer_.scalar(
      "SELECT n_tup_upd - n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'lease' AND "
      "schemaname = '" +
      store_.schema() + "_internal'");
  // Another transaction may keep the old versions, so that a page is full after some twenty heartbeats. With an
  // index on a column that they change it would be all of them.
  EXPECT_LE(std::stoi(not_hot), 10) << "heartbeats that are not HOT bloat every index of the table";
}

}  // namespace
}  // namespace leasehold::support

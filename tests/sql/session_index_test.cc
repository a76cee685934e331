// A hundred thousand sessions, items and claims: every act uses its indexes, whatever the statistics say, and
// heartbeats touch none.
#include <gtest/gtest.h>

#include "sql/index_fixture.h"

namespace leasehold::support {
namespace {

class SessionIndexTest : public IndexTest {
 protected:
  void SetUp() override {
    // Wrong statistics: analysed while there was next to nothing, as autovacuum would on a quiet night.
    work_a_little();
    alice_.run(
        here("ANALYZE leasehold_internal.session, leasehold_internal.item, leasehold_internal.item_conflict, "
             "leasehold_internal.claim, "
             "leasehold_internal.lease, leasehold_internal.event"));
  }
  /// Some sessions and items.
  void work_a_little() {
    alice_.run(here("SELECT leasehold_internal.session_open('s' || i) FROM generate_series(1, 20) AS i"));
    alice_.run(here("SELECT leasehold_internal.item_add('p' || i) FROM generate_series(1, 20) AS i"));
    alice_.run(
        here("SELECT leasehold_internal.item_add('k' || i, p_parent => 'p' || i) FROM generate_series(1, 20) AS i"));
    alice_.run(
        here("SELECT leasehold_internal.item_add('x' || i, p_conflicts => ARRAY['k' || i]) FROM generate_series(1, 20) "
             "AS i"));
  }
  std::string sequential_scans() { return sequential_scans_of("'session', 'item', 'claim', 'lease'"); }
  /// As many again as the functions would make, in no time: a session with an item each, and a past claim of it.
  void grow(int count) {
    const auto numbers = " FROM generate_series(1, " + std::to_string(count) + ") AS i";
    alice_.run(here(
        "INSERT INTO leasehold_internal.lease (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, "
        "acquired_at, heartbeat_at, expires_at) SELECT 'session', 'h' || i, '', '', 0, 0, '', '', "
        "interval '1 day', leasehold_internal.now(), leasehold_internal.now(), leasehold_internal.now() + interval '1 "
        "day'" +
        numbers));
    alice_.run(here(
        "INSERT INTO leasehold_internal.session (id, token, lease_id, label, codebase, track, metadata, exclusive, "
        "progress_at, progress) SELECT l.holder, 1, l.id, '', '', '', '{}', false, leasehold_internal.now(), '' "
        "FROM leasehold_internal.lease AS l WHERE l.holder LIKE 'h%'"));
    alice_.run(
        here("INSERT INTO leasehold_internal.item (key, token, created_at) SELECT 'more-' || i, 2, "
             "leasehold_internal.now()" +
             numbers));
    for (const std::string ended : {"leasehold_internal.now(), 'released', 1", "NULL, NULL, 2"}) {
      alice_.run(
          here("INSERT INTO leasehold_internal.claim (item, session_id, session_token, lease_id, exclusive, taken_at, "
               "ended_at, end_reason, token) SELECT 'more-' || substr(s.id, 2), s.id, 1, s.lease_id, false, "
               "leasehold_internal.now(), " +
               ended + " FROM leasehold_internal.session AS s WHERE s.id LIKE 'h%'"));
    }
  }
  std::string token_of(const std::string& id) {
    return alice_.scalar(here("SELECT token FROM leasehold_internal.session_list('" + id + "')"));
  }
  std::string taken(const std::string& item, const std::string& id) {
    return alice_.scalar(here("SELECT token FROM leasehold_internal.claim_take('" + item + "', '" + id + "')"));
  }
};

TEST_F(SessionIndexTest, NoActScansATableNorReadsMoreOfManyThanOfFew) {
  const auto own = token_of("s1");
  const auto held = taken("p1", "s1");
  const std::vector<std::string> acts = {"session_open('new')",
                                         "session_heartbeat('s1', " + own + ")",
                                         "session_heartbeat('s1', " + own + ", p_progress => 'x')",
                                         "session_park('s1', " + own + ", interval '1 hour')",
                                         "session_close('s1', " + own + ")",
                                         "session_revoke('s1', 'why')",
                                         "item_add('new', p_parent => 'p2', p_conflicts => '{k3}')",
                                         "item_done('p1', " + held + ")",
                                         "item_remove('x4')",
                                         "claim_take('p2', 's2')",
                                         "claim_take('k2', 's2')",
                                         "claim_take('x2', 's2')",
                                         "claim_take('k1', 's2')",
                                         "claim_release('p1', 's1', " + held + ")",
                                         "claim_switch('p1', " + held + ", 'k2')",
                                         "claim_hand_over('p1', 's2', " + held + ")",
                                         "claim_assign('p1', 's2')",
                                         "claim_revoke('p1', 'why')",
                                         "claim_fence('p1', " + held + ")",
                                         "session_list('s1')",
                                         "item_list('p1')",
                                         "claim_list('p1', p_ended => true)"};
  std::vector<std::int64_t> of_few;
  for (const auto& act : acts) of_few.push_back(read_by(act));
  grow(100'000);
  for (std::size_t i = 0; i < acts.size(); ++i) {
    const auto before = sequential_scans();
    EXPECT_LE(read_by(acts[i]), of_few[i] + 12) << acts[i];
    EXPECT_EQ(sequential_scans(), before) << acts[i];
  }
}

TEST_F(SessionIndexTest, ATakeoverReadsNoMoreOfManyThanOfFew) {
  for (int i = 1; i <= 4; ++i) taken("p" + std::to_string(i), "s" + std::to_string(i));
  store_.advance(301s);
  alice_.run(here("SELECT leasehold_internal.session_open('new')"));
  const auto of_few = read_by("claim_take('p1', 'new')");
  grow(100'000);
  const auto before = sequential_scans();
  EXPECT_LE(read_by("claim_take('p1', 'new')"), of_few + 12);
  EXPECT_LE(read_by("session_open('s2')"), of_few + 12);
  EXPECT_EQ(sequential_scans(), before);
}

TEST_F(SessionIndexTest, AHeartbeatTouchesNoIndex) {
  const auto own = token_of("s1");
  const auto not_hot = [&] {
    settle_statistics();
    return std::stoll(observer_.scalar(
        "SELECT sum(n_tup_upd - n_tup_hot_upd) FROM pg_stat_user_tables WHERE relname IN ('session', 'lease') AND "
        "schemaname = '" +
        store_.schema() + "_internal'"));
  };
  const auto before = not_hot();
  // Time goes on: an index on a moment would otherwise find that it has not changed.
  alice_.run(
      here("DO $$ BEGIN FOR i IN 1..100 LOOP UPDATE leasehold_internal.test_clock SET at = at + interval '1 second'; "
           "PERFORM leasehold_internal.session_heartbeat('s1', " +
           own + ", p_progress => CASE WHEN i % 2 = 0 THEN 'step ' || i END); COMMIT; END LOOP; END $$"));
  // Another transaction may keep the old versions, so that a page is full after some of them.
  EXPECT_LE(not_hot() - before, 15) << "heartbeats that are not HOT bloat every index of the table";
}

}  // namespace
}  // namespace leasehold::support

// Tens of thousands of locks and past shares: every act of the lock family uses its indexes, whatever the statistics
// say, and looks at no more of many than of few.
#include <gtest/gtest.h>

#include "sql/index_fixture.h"

namespace leasehold::support {
namespace {

class LockFamilyIndexTest : public IndexTest {
 protected:
  void SetUp() override {
    // Wrong statistics: analysed while there was next to nothing, as autovacuum would on a quiet night.
    share_ =
        alice_.scalar(here("SELECT token FROM leasehold_internal.lock_share('pool', 'ann', '1 day', p_capacity => 9)"));
    alice_.run(here("SELECT leasehold_internal.lock_share('pool', 'ben', interval '1 day', p_capacity => 9)"));
    both_ =
        alice_.scalar(here("SELECT token FROM leasehold_internal.lock_acquire_all(ARRAY['a', 'b'], 'cid', '1 day')"));
    alice_.run(here("SELECT leasehold_internal.lock_wait('pool', 'dan', 'place of dan', interval '1 minute')"));
    alice_.run(
        here("ANALYZE leasehold_internal.lock, leasehold_internal.lock_share, leasehold_internal.waiter, "
             "leasehold_internal.lease"));
  }
  std::string sequential_scans() { return sequential_scans_of("'lock', 'lock_share', 'waiter', 'lease'"); }
  /// Past shares of the same lock, other locks, and places in their lines.
  void grow(int count) {
    const auto numbers = " FROM generate_series(1, " + std::to_string(count) + ") AS i";
    alice_.run(here(
        "INSERT INTO leasehold_internal.lease (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, "
        "acquired_at, heartbeat_at, expires_at, ended_at, end_reason) SELECT 'lock', 'past' || i, '', '', 0, 0, "
        "'', '', interval '1 day', leasehold_internal.now(), leasehold_internal.now(), leasehold_internal.now(), "
        "leasehold_internal.now(), "
        "'released'" +
        numbers));
    alice_.run(here(
        "INSERT INTO leasehold_internal.lock_share (name, token, lease_id, permits, free_at) SELECT 'pool', "
        "row_number() OVER (), l.id, 1, '-infinity' FROM leasehold_internal.lease AS l WHERE l.holder LIKE 'past%'"));
    alice_.run(
        here("INSERT INTO leasehold_internal.lock (name, token, lease_id) SELECT 'more-' || l.id, 1, l.id FROM "
             "leasehold_internal.lease "
             "AS l WHERE l.holder LIKE 'past%'"));
    alice_.run(here(
        "INSERT INTO leasehold_internal.waiter (name, request_id, lease_id) SELECT 'more-' || l.id, 'r', l.id FROM "
        "leasehold_internal.lease AS l WHERE l.holder LIKE 'past%'"));
  }

  std::string share_;
  std::string both_;
};

TEST_F(LockFamilyIndexTest, NoActScansATableNorReadsMoreOfManyThanOfFew) {
  const std::vector<std::string> acts = {"lock_share('new', 'eve')",
                                         "lock_share('pool', 'eve', p_capacity => 9, p_request => 'place of dan')",
                                         "lock_share('pool', 'eve', p_capacity => 8)",
                                         "lock_share('pool', 'eve', p_permits => 9, p_capacity => 9)",
                                         "lock_acquire('pool', 'eve')",
                                         "lock_acquire_all(ARRAY['x', 'y'], 'eve')",
                                         "lock_acquire_all(ARRAY['a', 'y'], 'eve')",
                                         "lock_heartbeat('pool', " + share_ + ")",
                                         "lock_heartbeat('pool', 12345)",
                                         "lock_heartbeat('b', " + both_ + ")",
                                         "lock_release('pool', " + share_ + ")",
                                         "lock_release('b', " + both_ + ")",
                                         "lock_revoke('pool', 'why')",
                                         "lock_revoke('a', 'why')",
                                         "lock_wait('pool', 'eve', 'r')",
                                         "lock_wait_all(ARRAY['pool', 'a'], 'eve', 'r')",
                                         "lock_leave_all(ARRAY['pool', 'a'], 'place of dan')",
                                         "fence('pool', " + share_ + ")",
                                         "lock_show('pool')",
                                         "lock_holders('pool')"};
  std::vector<std::int64_t> of_few;
  for (const auto& act : acts) of_few.push_back(read_by(act));
  grow(20'000);
  for (std::size_t i = 0; i < acts.size(); ++i) {
    const auto before = sequential_scans();
    EXPECT_LE(read_by(acts[i]), of_few[i] + 12) << acts[i];
    EXPECT_EQ(sequential_scans(), before) << acts[i];
  }
}

TEST_F(LockFamilyIndexTest, ATakeoverReadsNoMoreOfManyThanOfFew) {
  store_.advance(25h);
  const std::vector<std::string> acts = {"lock_share('pool', 'eve', p_capacity => 9)", "lock_acquire('pool', 'eve')",
                                         "lock_acquire('a', 'eve')", "lock_acquire_all(ARRAY['b', 'pool'], 'eve')"};
  std::vector<std::int64_t> of_few;
  for (const auto& act : acts) of_few.push_back(read_by(act));
  grow(20'000);
  for (std::size_t i = 0; i < acts.size(); ++i) {
    const auto before = sequential_scans();
    EXPECT_LE(read_by(acts[i]), of_few[i] + 12) << acts[i];
    EXPECT_EQ(sequential_scans(), before) << acts[i];
  }
}

TEST_F(LockFamilyIndexTest, AStepOfPruningLooksAtNoMoreThanItsBatch) {
  grow(20'000);
  for (const std::string act :
       {"lock_prune(interval '0', '', 10)", "lease_prune(interval '0', 0, 10)", "event_prune(interval '0', 0, 10)"}) {
    const auto before = sequential_scans();
    EXPECT_LE(read_by(act), 200) << act;
    EXPECT_EQ(sequential_scans(), before) << act;
  }
}

}  // namespace
}  // namespace leasehold::support

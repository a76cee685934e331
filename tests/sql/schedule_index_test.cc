// A hundred thousand schedules with their history: every act uses its indexes, whatever the statistics say, and
// heartbeats touch none.
#include <gtest/gtest.h>

#include "sql/index_fixture.h"

namespace leasehold::support {
namespace {

class ScheduleIndexTest : public IndexTest {
 protected:
  void SetUp() override {
    // Wrong statistics: analysed while there was next to nothing, as autovacuum would on a quiet night.
    alice_.run(here(
        "SELECT leasehold_internal.schedule_set('s' || i, interval '10 min', ttl => interval '1 day', queue => 'mail', "
        "next_run_at => leasehold_internal.now()) "
        "FROM generate_series(1, 20) AS i"));
    alice_.run(
        here("SELECT leasehold_internal.schedule_set('c' || i, cron => '0 9 * * *') FROM generate_series(1, 20) AS i"));
    for (const auto* name : {"s1", "s2"}) {
      tokens_.push_back(
          alice_.scalar(here(std::string("SELECT token FROM leasehold_internal.schedule_acquire('") + name + "')")));
    }
    alice_.run(
        here("ANALYZE leasehold_internal.schedule, leasehold_internal.schedule_task, leasehold_internal.schedule_run, "
             "leasehold_internal.lease"));
  }
  std::string sequential_scans() { return sequential_scans_of("'schedule', 'schedule_task', 'schedule_run', 'lease'"); }
  /// As many again as the functions would make, in no time: each with a run of yesterday and the lease it had, and none
  /// of them due.
  void grow(int count) {
    const auto numbers = " FROM generate_series(1, " + std::to_string(count) + ") AS i";
    alice_.run(here(
        "INSERT INTO leasehold_internal.lease (kind, holder, host, boot_id, pid, process_start, tty, instance, ttl, "
        "acquired_at, heartbeat_at, expires_at, ended_at, end_reason) SELECT 'schedule', 'h' || i, '', '', 0, 0, "
        "'', '', interval '1 day', leasehold_internal.now(), leasehold_internal.now(), leasehold_internal.now(), "
        "leasehold_internal.now(), "
        "'completed'" +
        numbers));
    alice_.run(here(
        "INSERT INTO leasehold_internal.schedule (name, version, every_min, every_max, jitter, ttl, misfire, "
        "misfire_after, created_at, next_run_at, next_cause, token) SELECT 'more-' || i, 1, '1 day', '1 day', '0', "
        "'5 min', 'once', '5 min', leasehold_internal.now(), leasehold_internal.now() + interval '1 day' + i * "
        "interval '1 ms', "
        "'scheduled', 1" +
        numbers));
    alice_.run(
        here("INSERT INTO leasehold_internal.schedule_task (schedule_id) SELECT id FROM leasehold_internal.schedule "
             "WHERE name LIKE "
             "'more-%'"));
    alice_.run(here(
        "INSERT INTO leasehold_internal.schedule_run (schedule_id, occurrence, cause, token, started_at, finished_at, "
        "outcome) SELECT id, leasehold_internal.now() - interval '1 day', 'scheduled', 1, leasehold_internal.now(), "
        "leasehold_internal.now(), 'ok' FROM leasehold_internal.schedule WHERE name LIKE 'more-%'"));
  }

  std::vector<std::string> tokens_;  ///< of s1 and s2
};

TEST_F(ScheduleIndexTest, NoActScansATableNorReadsMoreOfManyThanOfFew) {
  const std::vector<std::string> acts = {"schedule_set('new', interval '1 h')",
                                         "schedule_set('s3', interval '1 h')",
                                         "schedule_acquire('s3')",
                                         "schedule_acquire('s1')",
                                         "schedule_acquire('c1')",
                                         "schedule_acquire('c1', at_once => true)",
                                         "schedule_heartbeat('s1', " + tokens_[0] + ")",
                                         "schedule_settle('s1', " + tokens_[0] + ")",
                                         "schedule_release('s1', " + tokens_[0] + ")",
                                         "schedule_fence('s1', " + tokens_[0] + ")",
                                         "schedule_trigger('s1')",
                                         "schedule_pause('s1')",
                                         "schedule_resume('s1')",
                                         "schedule_rename('s3', 't3')",
                                         "schedule_remove('s3')",
                                         "schedule_fire('s3')",
                                         "schedule_due()",
                                         "schedule_due(5, leasehold_internal.now() - interval '1 s', 's5')",
                                         "schedule_list('s1')",
                                         "schedule_history('s1')"};
  std::vector<std::int64_t> of_few;
  for (const auto& act : acts) of_few.push_back(read_by(act));
  grow(100'000);
  for (std::size_t i = 0; i < acts.size(); ++i) {
    const auto before = sequential_scans();
    EXPECT_LE(read_by(acts[i]), of_few[i] + 12) << acts[i];
    EXPECT_EQ(sequential_scans(), before) << acts[i];
  }
}

TEST_F(ScheduleIndexTest, ATakeoverReadsNoMoreOfManyThanOfFew) {
  store_.advance(25h);
  const std::vector<std::string> acts = {"schedule_acquire('s1')", "schedule_remove('s2')", "schedule_due()"};
  std::vector<std::int64_t> of_few;
  for (const auto& act : acts) of_few.push_back(read_by(act));
  grow(100'000);
  for (std::size_t i = 0; i < acts.size(); ++i) {
    const auto before = sequential_scans();
    EXPECT_LE(read_by(acts[i]), of_few[i] + 12) << acts[i];
    EXPECT_EQ(sequential_scans(), before) << acts[i];
  }
}

TEST_F(ScheduleIndexTest, AHeartbeatTouchesNoIndex) {
  const auto not_hot = [&] {
    settle_statistics();
    return std::stoll(observer_.scalar(
        "SELECT sum(n_tup_upd - n_tup_hot_upd) FROM pg_stat_user_tables WHERE relname IN ('schedule', 'schedule_run', "
        "'lease') AND schemaname = '" +
        store_.schema() + "_internal'"));
  };
  const auto before = not_hot();
  // Time goes on: an index on a moment would otherwise find that it has not changed.
  alice_.run(
      here("DO $$ BEGIN FOR i IN 1..100 LOOP UPDATE leasehold_internal.test_clock SET at = at + interval '1 second'; "
           "PERFORM leasehold_internal.schedule_heartbeat('s1', " +
           tokens_[0] + "); COMMIT; END LOOP; END $$"));
  // Another transaction may keep the old versions, so that a page is full after some of them.
  EXPECT_LE(not_hot() - before, 15) << "heartbeats that are not HOT bloat every index of the table";
}

}  // namespace
}  // namespace leasehold::support

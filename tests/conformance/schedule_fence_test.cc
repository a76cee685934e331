// Promise 14 for a run: while a user's own transaction has fenced its token, no caller takes it over or ends it.
#include <gtest/gtest.h>

#include "leasehold/postgres.h"
#include "leasehold/sqlite.h"
#include "support/process.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleFenceTest : public ScheduleStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    set_schedule("refresh", every_ten_minutes());
    if (GetParam() == StoreKind::sqlite) {
      file_ = std::make_unique<SqliteFile>(under_test().path());
    } else {
      postgres_.reset(PQconnectdb(under_test().database_url().c_str()));
    }
  }
  void TearDown() override {
    file_.reset();
    postgres_.reset();
  }

  void run_sql(const std::string& sql) {
    if (file_) return file_->run(sql);
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(postgres_.get(), sql.c_str()), &PQclear);
    ASSERT_EQ(PQresultStatus(result.get()), PGRES_COMMAND_OK) << sql << ": " << PQerrorMessage(postgres_.get());
  }
  void begin() { run_sql(file_ ? "BEGIN IMMEDIATE" : "BEGIN"); }
  Result<void> fence_here(const std::string& name, Token token) {
    return file_ ? fence_schedule(file_->handle(), name, token)
                 : fence_schedule(postgres_.get(), name, token, under_test().schema());
  }
  /// In a transaction that does nothing else.
  Result<void> fence(const std::string& name, Token token) {
    begin();
    auto fenced = fence_here(name, token);
    run_sql("ROLLBACK");
    return fenced;
  }
  Result<void> fence(const ScheduleRun& run) { return fence(run.grant.key, run.grant.token); }
  /// A caller that gave up is gone from here before it is from the server.
  bool nobody_waits_for_a_lock() {
    return file_ ||
           under_test().scalar("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ '" +
                               under_test().schema() + "'") == "0";
  }

 private:
  std::unique_ptr<SqliteFile> file_;
  std::unique_ptr<PGconn, decltype(&PQfinish)> postgres_{nullptr, &PQfinish};
};
LEASEHOLD_ON_BOTH_STORES(ScheduleFenceTest);

TEST_P(ScheduleFenceTest, Promise14_TheCurrentTokenPassesAndNoOther) {
  set_schedule("other", every_ten_minutes());
  const auto mine = acquire("refresh", "ann");
  EXPECT_TRUE(ok(fence(mine)));
  EXPECT_TRUE(fails(fence_here("refresh", mine.grant.token), Errc::invalid_argument))
      << "outside of a transaction it would promise nothing";
  EXPECT_TRUE(lost(fence("refresh", Token{1}), LostReason::superseded));
  EXPECT_TRUE(fails(fence("other", mine.grant.token), Errc::lost));
  EXPECT_FALSE(fence("nothing", mine.grant.token).ok());
  advance(30s);
  EXPECT_TRUE(ok(fence(mine))) << "expired, but not recorded as lost";
  const auto next = acquire("refresh", "bob");
  EXPECT_TRUE(lost(fence(mine), LostReason::superseded));
  EXPECT_TRUE(ok(fence(next)));
}

TEST_P(ScheduleFenceTest, Promise14_TheFenceOfAnEndedGrantShowsHowItEnded) {
  const auto finished = acquire("refresh");
  must(settle(finished));
  EXPECT_TRUE(lost(fence(finished), LostReason::finished));
  const auto released = acquire_now("refresh");
  must(release(released));
  EXPECT_TRUE(lost(fence(released), LostReason::finished));
  const auto expired = acquire_now("refresh");
  advance(30s);
  must(store().recover());
  EXPECT_TRUE(lost(fence(expired), LostReason::expired));
}

TEST_P(ScheduleFenceTest, Promise14_TakeoverAndEndWaitForTheTransaction) {
  const auto mine = acquire("refresh", "ann");
  advance(30s);
  const auto hurried = open({.call_timeout = 300ms});
  const auto schedules = hurried.schedules();
  begin();
  ASSERT_TRUE(ok(fence_here("refresh", mine.grant.token)));
  // PostgreSQL sees that the holder is still writing; a SQLite file has one writer at a time.
  const auto refused = schedules.acquire("refresh", {}, by("bob"));
  ASSERT_FALSE(refused.ok()) << "taken over under a fence";
  EXPECT_TRUE(refused.error().code == Errc::busy || refused.error().code == Errc::unavailable)
      << describe(refused.error());
  EXPECT_FALSE(schedules.settle("refresh", mine.grant.token).ok());
  EXPECT_FALSE(schedules.release("refresh", mine.grant.token).ok());
  EXPECT_FALSE(schedules.remove("refresh").ok());
  EXPECT_EQ(outcomes("refresh"), Words{"expired"});
  ASSERT_TRUE(eventually([&] { return nobody_waits_for_a_lock(); })) << "a caller that gave up could still be served";
  run_sql("COMMIT");
  EXPECT_EQ(name_of(acquire("refresh", "bob").lost_holder), "ann");
}

}  // namespace
}  // namespace leasehold::support

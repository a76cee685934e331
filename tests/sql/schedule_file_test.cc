// Schedules in a SQLite file: as another program with the same file sees them, and the plans by which a store that
// cannot read cron moves on.
#include <gtest/gtest.h>

#include "core/schedule_plan.h"
#include "storage/query.h"
#include "storage/statements.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    must(schedules().set("refresh", due_now(every_ten_minutes())));
    must(schedules().set("report", daily()));
  }
  [[nodiscard]] Schedules schedules() const { return store_.schedules(); }
  std::string look(const std::string& columns, const std::string& from) {
    const auto rows = file_.rows("SELECT " + columns + " FROM leasehold_" + from);
    std::string text;
    for (const auto& cell : rows.at(0)) {
      text += (text.empty() ? "" : " ") + cell.value_or("-");
    }
    return text;
  }
  int run_past_the_library(const std::string& occurrence, const std::string& token, const std::string& outcome) {
    return file_.attempt(
        "INSERT INTO leasehold_schedule_run (schedule_id, occurrence, cause, token, outcome) SELECT id, " + occurrence +
        ", 'scheduled', " + token + ", " + outcome + " FROM leasehold_schedule WHERE name = 'refresh'");
  }
  sql::ScheduleAnswer ask(const sql::ScheduleAcquire& statement) {
    return must(storage::query_one(*backend_, statement, BootClock::now() + 10s));
  }
  /// An acquire with a plan for the first occurrence, or without one.
  static sql::ScheduleAcquire acquire_with(std::optional<std::int64_t> version) {
    sql::ScheduleAcquire statement{};
    statement.name = "report";
    statement.holder = "ann";
    if (!version) return statement;
    statement.version = version;
    statement.taken = at("2026-03-02T09:00:00Z");
    statement.next_occurrence = at("2026-03-03T09:00:00Z");
    statement.missed = 0;
    return statement;
  }

  TestStore test_store_{StoreKind::sqlite};
  Store store_ = test_store_.open();
  std::shared_ptr<storage::Backend> backend_ = test_store_.open_backend();
  SqliteFile file_{test_store_.path()};
};

TEST_F(ScheduleFileTest, TheViewsShowTheRunsAndTheirHolders) {
  const auto run = must(schedules().acquire("refresh", {}, by("ann")));
  EXPECT_EQ(look("every_min, cron, next_cause, holder, host, token", "schedules WHERE name = 'refresh'"),
            "600000000 - scheduled ann host-of-ann " + std::to_string(run.grant.token.value));
  EXPECT_EQ(look("cron, zone, holder", "schedules WHERE name = 'report'"), "0 9 * * * UTC -");
  EXPECT_EQ(look("cause, outcome, holder, expires_at IS NOT NULL", "schedule_runs"), "scheduled - ann 1");
  must(schedules().settle("refresh", run.grant.token, {.counts = "7"}));
  EXPECT_EQ(look("cause, outcome, holder, counts, expires_at", "schedule_runs"), "scheduled completed ann 7 -");
}

TEST_F(ScheduleFileTest, TheIndexesStopWritesPastTheLibrary) {
  const auto run = must(schedules().acquire("refresh", {}, by("ann")));
  const auto taken = std::to_string(run.occurrence.time_since_epoch().count());
  EXPECT_EQ(run_past_the_library("1", "99", "NULL"), SQLITE_CONSTRAINT) << "one run at a time";
  EXPECT_EQ(run_past_the_library(taken, "99", "'ok'"), SQLITE_CONSTRAINT) << "an occurrence is taken once";
  EXPECT_EQ(run_past_the_library("1", std::to_string(run.grant.token.value), "'ok'"), SQLITE_CONSTRAINT)
      << "a token is given once";
  EXPECT_EQ(run_past_the_library("1", "99", "'ok'"), SQLITE_OK);
  EXPECT_TRUE(ok(schedules().settle("refresh", run.grant.token)));
}

TEST_F(ScheduleFileTest, APlanCountsForTheScheduleAsItWasSeen) {
  must(schedules().set("report", daily(Misfire::all)));
  test_store_.advance(at("2026-03-04T12:00:00Z") - test_store_.now());
  const auto asked = ask(acquire_with(std::nullopt));
  EXPECT_EQ(asked.outcome.word(), "plan");
  const auto faster = must(schedules().acquire("report", {}, by("bob")));
  EXPECT_EQ(faster.occurrence, at("2026-03-02T09:00:00Z"));
  must(schedules().settle("report", faster.grant.token));
  const auto before = test_store_.dump();
  EXPECT_EQ(ask(acquire_with(asked.version)).outcome.word(), "plan") << "another one is due by now";
  EXPECT_EQ(test_store_.dump(), before);
}

TEST_F(ScheduleFileTest, APlanCountsOnce) {
  test_store_.advance(at("2026-03-02T09:00:00Z") - test_store_.now());
  const auto asked = ask(acquire_with(std::nullopt));
  const auto granted = ask(acquire_with(asked.version));
  ASSERT_EQ(granted.outcome.word(), "granted");
  EXPECT_EQ(granted.occurrence, at("2026-03-02T09:00:00Z"));
  must(schedules().settle("report", Token{granted.token.value()}));
  EXPECT_EQ(ask(acquire_with(asked.version)).outcome.word(), "not_due");
  test_store_.advance(24h);
  EXPECT_EQ(ask(acquire_with(asked.version)).outcome.word(), "plan") << "another one is due";
}

TEST_F(ScheduleFileTest, APlanForAMomentYetToComeDoesNotCount) {
  test_store_.advance(at("2026-03-02T09:00:00Z") - test_store_.now());
  const auto asked = ask(acquire_with(std::nullopt));
  test_store_.advance(48h);
  auto early = acquire_with(asked.version);
  early.taken = at("2026-03-05T09:00:00Z");
  EXPECT_EQ(ask(early).outcome.word(), "plan");
}

TEST_F(ScheduleFileTest, DueSchedulesAreFoundByTheirIndex) {
  const auto& text = backend_->dialect().statements[static_cast<std::size_t>(sql::ScheduleDue::statement().index)];
  std::string plan;
  for (const auto& row : file_.rows("EXPLAIN QUERY PLAN " + std::string(text))) plan += row.back().value_or("") + "\n";
  EXPECT_NE(plan.find("SEARCH s USING INDEX leasehold_schedule_due"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("SCAN s\n"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("SCAN s USING"), std::string::npos) << plan;
}

}  // namespace
}  // namespace leasehold::support

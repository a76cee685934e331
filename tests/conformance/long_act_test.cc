// Acts over many rows go in steps, each a transaction of its own: others write in between, and nothing looks finished
// before it is.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>

#include "store/store.h"
#include "support/chunk_fixture.h"
#include "support/fault_backend.h"
#include "support/job_helpers.h"
#include "support/lock_helpers.h"

namespace leasehold::support {
namespace {

class LongActTest : public ChunkStoreTest {
 protected:
  static constexpr int many = 2500;
  static constexpr int step = 2000;

  void SetUp() override {
    ChunkStoreTest::SetUp();
    watched_ = std::make_shared<FaultBackend>(under_test().open_backend());
    acting_ = store_over(watched_, {.call_timeout = 5s});
  }
  void TearDown() override {
    watched_->close();
    ChunkStoreTest::TearDown();
  }

  [[nodiscard]] const Store& acting() const { return *acting_; }
  static std::vector<PlannedChunk> numbers(int count) { return must(plan_range(1, count, 1)); }
  Result<PlanOutcome> plan_many(const PlanOptions& options = {}) {
    return acting().chunks().plan("orders", numbers(many), options);
  }
  /// The result of `act` on the watched store, with another act before each of its steps.
  template <typename Act>
  int between_the_steps(const std::function<void()>& something, Act&& act) {
    int steps = 0;
    watched_->listen([&](std::string_view) {
      ++steps;
      something();
    });
    act();
    watched_->listen({});
    return steps;
  }
  /// Before each step a heartbeat of another holder is committed, and no step removes more than it may.
  template <typename Act>
  void expect_bounded_steps(const std::string& table, Act&& act) {
    const auto grant = take(locks(), "deploy", {}, by("ann"));
    auto left = rows_in(table);
    const auto look = [&] {
      EXPECT_TRUE(ok(locks().heartbeat("deploy", grant.token)));
      const auto now_left = rows_in(table);
      EXPECT_LE(left - now_left, step) << "in one transaction";
      left = now_left;
    };
    EXPECT_GE(between_the_steps(look, act), 3);
    look();
    EXPECT_EQ(left, 0);
  }
  int rows_in(const std::string& table) {
    return std::stoi(under_test().scalar("SELECT count(*) FROM " + under_test().table(table)));
  }
  /// A schedule that has run often.
  void write_history(const std::string& name) {
    must(store().schedules().set(name, {}));
    const bool file = GetParam() == StoreKind::sqlite;
    const auto numbers =
        file ? std::string("(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ") +
                   std::to_string(many) + ") SELECT i FROM n)"
             : "generate_series(1, " + std::to_string(many) + ") AS n (i)";
    const auto* moment = file ? "i * 1000000" : "timestamptz 'epoch' + i * interval '1 second'";
    under_test().run("INSERT INTO " + under_test().table("schedule_run") +
                     " (schedule_id, occurrence, cause, token, outcome, finished_at) SELECT s.id, " + moment +
                     ", 'scheduled', i, 'ok', " + moment + " FROM " + under_test().table("schedule") +
                     " AS s CROSS JOIN " + numbers);
  }
  std::string runs_left() { return std::to_string(rows_in("schedule_run")); }
  void load_all_so_far() { under_test().run("UPDATE " + under_test().table("chunk") + " SET final = 'completed'"); }
  std::string chunks_left() { return under_test().scalar("SELECT count(*) FROM " + under_test().table("chunk")); }

  std::shared_ptr<FaultBackend> watched_;
  std::optional<Store> acting_;
};
LEASEHOLD_ON_BOTH_STORES(LongActTest);

TEST_P(LongActTest, HeartbeatsGetInBetweenTheStepsOfALargePlan) {
  const auto grant = take(locks(), "deploy", {}, by("ann"));
  const auto steps = between_the_steps([&] { EXPECT_TRUE(ok(locks().heartbeat("deploy", grant.token))); },
                                       [&] {
                                         const auto outcome = must(plan_many());
                                         EXPECT_EQ(outcome.added, many);
                                         EXPECT_EQ(outcome.total, many);
                                         EXPECT_EQ(outcome.state, ChunkSetState::planned);
                                       });
  EXPECT_GE(steps, 5) << "two more to add, three to find chunks that are no longer planned, the end";
}

TEST_P(LongActTest, ASetIsNotFinalBeforeItsPlanIsWhole) {
  const auto job = must(store().jobs().enqueue("sync", {.payload = "1"})).id;
  bool tied = false;
  between_the_steps(
      [&] {
        load_all_so_far();
        if (!std::exchange(tied, true)) must(chunks().tie_job("orders", job));
        EXPECT_EQ(must(chunks().progress("orders")).state, ChunkSetState::running);
        EXPECT_EQ(must(store().jobs().show(job)).state, JobState::blocked);
        const auto nothing = try_claim("ann");
        ASSERT_TRUE(fails(nothing, Errc::empty));
        EXPECT_TRUE(nothing.error().retry_at) << "there will be more";
      },
      [&] { EXPECT_EQ(must(plan_many()).state, ChunkSetState::complete); });
  EXPECT_TRUE(tied);
  EXPECT_EQ(must(store().jobs().show(job)).state, JobState::completed) << "with the last step";
}

TEST_P(LongActTest, APlanThatStoppedInTheMiddleIsCompletedByPlanningAgain) {
  watched_->fail_next(Fault::fail_before_send, 1, "chunk_plan_add");
  EXPECT_TRUE(fails(plan_many(), Errc::unavailable));
  load_all_so_far();
  EXPECT_NE(must(chunks().progress("orders")).state, ChunkSetState::complete);
  const auto outcome = must(plan_many());
  EXPECT_EQ(outcome.kept, 1000);
  EXPECT_EQ(outcome.added, many - 1000);
  EXPECT_EQ(outcome.total, many);
}

TEST_P(LongActTest, ALaterPlannerVersionStopsAnEarlierPlan) {
  bool planned = false;
  between_the_steps(
      [&] {
        if (!std::exchange(planned, true)) must(chunks().plan("orders", numbers(3), {.planner = "2"}));
      },
      [&] { EXPECT_TRUE(fails(plan_many({.planner = "1"}), Errc::race)); });
  const auto set = must(chunks().progress("orders"));
  EXPECT_EQ(set.planner, "2");
  EXPECT_EQ(set.total, 3) << "what the earlier one had begun to plan is gone";
}

TEST_P(LongActTest, TwoPlansOfOneVersionDoNotDisturbEachOther) {
  bool planned = false;
  between_the_steps(
      [&] {
        if (!std::exchange(planned, true)) must(chunks().plan("orders", numbers(many)));
      },
      [&] { EXPECT_EQ(must(plan_many()).total, many); });
  EXPECT_EQ(must(chunks().progress("orders")).total, many);
}

TEST_P(LongActTest, AResetGoesInStepsAndCountsAll) {
  must(plan_many());
  load_all_so_far();
  const auto reset = [&](ChunkReset::Which which) {
    return must(acting().chunks().reset("orders", {.which = which, .keys = {}})).reset;
  };
  EXPECT_EQ(reset(ChunkReset::Which::all), many);
  EXPECT_EQ(watched_->calls("chunk_reset"), 3);
  under_test().run("UPDATE " + under_test().table("chunk") + " SET final = 'exhausted'");
  EXPECT_EQ(reset(ChunkReset::Which::failed), many);
  EXPECT_EQ(watched_->calls("chunk_reset"), 6);
  EXPECT_EQ(must(chunks().progress("orders")).available, many);
}

TEST_P(LongActTest, ALargeSetIsGoneAtOnceAndItsChunksFollow) {
  must(plan_many());
  expect_bounded_steps("chunk", [&] { EXPECT_EQ(must(acting().chunks().remove("orders")), many); });
  EXPECT_EQ(chunks_left(), "0");
}

TEST_P(LongActTest, RemovingASetAgainFinishesWhatStopped) {
  must(plan_many());
  watched_->fail_next(Fault::fail_before_send, 1, "chunk_sweep");
  EXPECT_EQ(must(acting().chunks().remove("orders")), many);
  EXPECT_EQ(chunks_left(), std::to_string(many - step));
  EXPECT_TRUE(fails(try_claim("ann"), Errc::not_found)) << "nothing of it can be had";
  EXPECT_TRUE(fails(acting().chunks().remove("orders"), Errc::not_found));
  EXPECT_EQ(chunks_left(), "0");
}

TEST_P(LongActTest, PruneSweepsWhatIsLeftOfARemovedSet) {
  must(plan_many());
  plan_numbers(chunks(), "others", 3);
  watched_->fail_next(Fault::fail_before_send, 1, "chunk_sweep");
  EXPECT_EQ(must(acting().chunks().remove("orders")), many);
  EXPECT_TRUE(fails(chunks().progress("orders"), Errc::not_found));
  must(plan_many());
  must(store().prune(1h));
  EXPECT_EQ(chunks_left(), std::to_string(many + 3)) << "of living sets none";
}

TEST_P(LongActTest, ALongHistoryGoesInSteps) {
  write_history("refresh");
  expect_bounded_steps("schedule_run", [&] { EXPECT_TRUE(ok(acting().schedules().remove("refresh"))); });
  EXPECT_EQ(runs_left(), "0");
}

TEST_P(LongActTest, RemovingAScheduleAgainFinishesWhatStopped) {
  write_history("refresh");
  watched_->fail_next(Fault::fail_before_send, 1, "schedule_sweep");
  EXPECT_TRUE(ok(acting().schedules().remove("refresh")));
  EXPECT_EQ(runs_left(), std::to_string(many - step));
  EXPECT_TRUE(fails(store().schedules().acquire("refresh", {.now = true}), Errc::not_found));
  EXPECT_TRUE(fails(store().schedules().history("refresh", {.max = 1}), Errc::not_found));
  EXPECT_TRUE(fails(acting().schedules().remove("refresh"), Errc::not_found));
  EXPECT_EQ(runs_left(), "0");
}

TEST_P(LongActTest, PruneSweepsWhatIsLeftOfARemovedSchedule) {
  write_history("refresh");
  const auto before = must(store().schedules().acquire("refresh", {.now = true})).grant.token;
  must(store().schedules().settle("refresh", before));
  watched_->fail_next(Fault::fail_before_send, 1, "schedule_sweep");
  EXPECT_TRUE(ok(acting().schedules().remove("refresh")));
  must(store().schedules().set("refresh", {}));
  advance(1s);
  const auto after = must(store().schedules().acquire("refresh", {.now = true})).grant.token;
  EXPECT_LT(before, after) << "made again, it never gives a lower token";
  must(store().prune(1h));
  EXPECT_EQ(must(store().schedules().history("refresh", {.max = 10})).size(), 1U);
  EXPECT_EQ(runs_left(), "1") << "of the living schedule";
}

}  // namespace
}  // namespace leasehold::support

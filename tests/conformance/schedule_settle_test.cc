// The verdict on a run, and when the next one is. Promises 4, 5 and 15.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleSettleTest : public ScheduleStoreTest {
 protected:
  static constexpr RunResult failed{.ok = false, .error = "no route"};
};
LEASEHOLD_ON_BOTH_STORES(ScheduleSettleTest);

TEST_P(ScheduleSettleTest, ASuccessFreesTheScheduleUntilItsNextRun) {
  set_schedule("refresh", every_ten_minutes());
  const auto run = acquire("refresh");
  advance(20s);
  const auto done = must(settle(run, {.counts = R"({"rows":7})"}));
  EXPECT_EQ(done.next_run_at, now() + 10min);
  EXPECT_EQ(done.next_in, Duration(10min));
  EXPECT_FALSE(done.replayed);
  EXPECT_EQ(state("refresh"), ScheduleState::waiting);
  EXPECT_FALSE(info("refresh").held_by);
  EXPECT_TRUE(must(store().leases()).empty());
  const auto last = info("refresh").last.value();
  EXPECT_EQ(line_of(last), "2026-03-01T09:30:00Z scheduled completed");
  EXPECT_EQ(last.counts, R"({"rows":7})");
  EXPECT_EQ(last.took(), Duration(20s));
  advance(10min);
  EXPECT_EQ(acquire("refresh").cause, "scheduled");
}

TEST_P(ScheduleSettleTest, AFailureBacksOff) {
  set_schedule("refresh", with_back_off(every_ten_minutes(), 20min));
  EXPECT_EQ(run_once("refresh", failed).next_in, Duration(20min));
  EXPECT_EQ(info("refresh").next_cause, "retry");
  EXPECT_EQ(info("refresh").last->error, "no route");
  advance(20min);
  EXPECT_EQ(acquire("refresh").cause, "retry");
}

TEST_P(ScheduleSettleTest, AFailureWithoutABackOffIsFollowedAsASuccessIs) {
  set_schedule("refresh", every_ten_minutes());
  EXPECT_EQ(run_once("refresh", failed).next_in, Duration(10min));
  EXPECT_EQ(info("refresh").next_cause, "scheduled");
  set_schedule("report", with_cron("* * * * *"));
  go_to("2026-03-01T09:31:00Z");
  EXPECT_EQ(run_once("report", failed).next_in, Duration(1min));
  EXPECT_EQ(info("report").next_cause, "scheduled");
}

TEST_P(ScheduleSettleTest, RetriesNeverMoveTheCalendar) {
  set_schedule("report", with_back_off(daily(), 1h));
  go_to("2026-03-02T09:00:00Z");
  EXPECT_EQ(run_once("report", failed).next_run_at, at("2026-03-02T10:00:00Z"));
  for (int tries = 0; tries < 22; ++tries) {
    advance(1h);
    const auto run = acquire("report");
    EXPECT_EQ(run.cause, "retry");
    EXPECT_EQ(run.occurrence, now());
    EXPECT_EQ(info("report").next_occurrence, at("2026-03-03T09:00:00Z"));
    must(settle(run, failed));
  }
  advance(1h);
  EXPECT_EQ(now(), at("2026-03-03T08:00:00Z"));
  EXPECT_EQ(run_once("report").next_run_at, at("2026-03-03T09:00:00Z")) << "a retry that went well";
  advance(1h);
  const auto run = acquire("report");
  EXPECT_EQ(run.cause + " " + to_string(run.occurrence), "scheduled 2026-03-03T09:00:00Z");
  EXPECT_EQ(run.skipped, 0);
}

TEST_P(ScheduleSettleTest, ARetryThatWouldComeAfterTheNextOccurrenceIsNone) {
  for (const auto pause : {Duration(30s), Duration(5min)}) {
    const auto name = "every minute " + std::to_string(pause.count());
    set_schedule(name, with_back_off(with_cron("* * * * *"), pause));
    advance(1min);
    const bool before_the_next = pause < Duration(1min);
    EXPECT_EQ(run_once(name, failed).next_in, before_the_next ? pause : Duration(1min));
    EXPECT_EQ(info(name).next_cause, before_the_next ? "retry" : "scheduled");
  }
}

TEST_P(ScheduleSettleTest, AReleasedRunIsDueAgainAtOnce) {
  set_schedule("refresh", with_back_off(every_ten_minutes(), 20min));
  set_schedule("report", daily());
  go_to("2026-03-02T09:00:00Z");
  for (const std::string name : {"refresh", "report"}) {
    const auto run = acquire(name);
    advance(5s);
    EXPECT_TRUE(ok(release(run)));
    EXPECT_EQ(state(name), ScheduleState::due);
    EXPECT_EQ(history(name)[0].outcome, RunOutcome::released);
    const auto next = acquire(name, "bob");
    EXPECT_EQ(next.cause, "retry");
    EXPECT_EQ(next.occurrence, now());
    EXPECT_FALSE(next.lost) << "given back is not lost";
    must(settle(next));
  }
  EXPECT_EQ(next_run("report"), at("2026-03-03T09:00:00Z"));
}

TEST_P(ScheduleSettleTest, Promise15_TheSameVerdictAgainGetsTheFirstAnswer) {
  set_schedule("refresh", with_back_off(every_ten_minutes(), 20min));
  const auto good = acquire("refresh");
  must(settle(good));
  const auto before = dump();
  const auto again = must(settle(good));
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.next_run_at, now() + 10min);
  EXPECT_EQ(dump(), before);
  const auto bad = acquire_now("refresh");
  must(settle(bad, failed));
  EXPECT_TRUE(must(settle(bad, {.ok = false, .error = "another"})).replayed);
  EXPECT_EQ(info("refresh").last->error, "no route") << "the first verdict stays";
  const auto released = acquire_now("refresh");
  must(release(released));
  EXPECT_TRUE(ok(release(released)));
  acquire("refresh", "bob");
  const auto while_bob_runs = dump();
  EXPECT_TRUE(must(settle(good)).replayed) << "even if another caller has it by now";
  EXPECT_TRUE(ok(release(released)));
  EXPECT_EQ(dump(), while_bob_runs);
}

TEST_P(ScheduleSettleTest, Promise15_AnotherVerdictIsLost) {
  set_schedule("refresh", every_ten_minutes());
  const auto good = acquire("refresh");
  must(settle(good));
  const auto before = dump();
  EXPECT_TRUE(lost(settle(good, failed), LostReason::finished));
  EXPECT_TRUE(lost(release(good), LostReason::finished));
  EXPECT_TRUE(lost(beat(good), LostReason::finished));
  EXPECT_EQ(dump(), before);
  const auto released = acquire_now("refresh");
  must(release(released));
  EXPECT_TRUE(lost(settle(released), LostReason::finished));
  EXPECT_TRUE(lost(settle(good, failed), LostReason::superseded)) << "there was a later one";
}

TEST_P(ScheduleSettleTest, Promise05_AVerdictAfterExpiryIsAcceptedUntilItIsNoticed) {
  set_schedule("finished", with_back_off(every_ten_minutes(), 20min));
  set_schedule("failed", with_back_off(every_ten_minutes(), 20min));
  set_schedule("released", with_back_off(every_ten_minutes(), 20min));
  const auto finished_late = acquire("finished");
  const auto failed_late = acquire("failed");
  const auto released_late = acquire("released");
  advance(1h);
  EXPECT_EQ(state("finished"), ScheduleState::expired);
  EXPECT_EQ(must(settle(finished_late)).next_in, Duration(10min));
  EXPECT_EQ(must(settle(failed_late, failed)).next_in, Duration(20min));
  EXPECT_TRUE(ok(release(released_late)));
  EXPECT_EQ(outcomes("finished"), Words{"completed"});
  EXPECT_EQ(outcomes("failed"), Words{"failed"});
  EXPECT_EQ(outcomes("released"), Words{"released"});
}

TEST_P(ScheduleSettleTest, Promise04_ATokenThatIsNotCurrentMovesNothing) {
  set_schedule("refresh", every_ten_minutes());
  set_schedule("other", every_ten_minutes());
  acquire("refresh");
  advance(1us);
  const auto other = acquire("other");
  for (const auto token :
       {Token{0}, Token{-1}, Token{1}, Token{std::numeric_limits<std::int64_t>::max()}, other.grant.token}) {
    everything_is_lost({.grant = {.key = "refresh", .token = token}}, LostReason::superseded);
  }
}

TEST_P(ScheduleSettleTest, HistoryShowsCountsAndErrorsAsReported) {
  const std::string odd = "it's \"odd\"\r\n\ttwo lines; DROP TABLE \\ % $1 \xF0\x9F\x9A\x80 \xC3\xA4";
  const std::string counts = R"({"text":"it's \"odd\"\n🚀","rows":[1,2,3.50,null],"rows":0})";
  const std::string longest(std::size_t{64} * 1024, 'x');
  const std::string longest_with_letters = "\xC3\xA4" + longest.substr(2);
  const std::string many_counts = "[" + std::string(std::size_t{1024} * 1024 - 3, ' ') + "1]";
  set_schedule("refresh", every_ten_minutes());
  for (const auto& error : {odd, longest, longest_with_letters}) {
    for (const auto& json : {counts, many_counts}) {
      must(settle(acquire_now("refresh"), {.ok = false, .error = error, .counts = json}));
      EXPECT_TRUE(history("refresh")[0].error == error) << error.size() << " bytes";
      EXPECT_TRUE(history("refresh")[0].counts == json) << json.size() << " bytes";
      EXPECT_TRUE(info("refresh").last->error == error);
      EXPECT_TRUE(info("refresh").last->counts == json);
    }
  }
  must(settle(acquire_now("refresh")));
  EXPECT_EQ(history("refresh")[0].error + history("refresh")[0].counts, "");
}

TEST_P(ScheduleSettleTest, ARunEndsWhateverTheProgramReportedLast) {
  using namespace std::string_literals;
  set_schedule("refresh", every_ten_minutes());
  const std::string too_long(std::size_t{64} * 1024 + 1, 'x');
  for (const auto& [said, kept] : {std::pair{too_long, too_long.substr(1)},
                                   {"\xFF"s, "\xEF\xBF\xBD"s},
                                   {"a\0b"s,
                                    "a\xEF\xBF\xBD"
                                    "b"s}}) {
    must(settle(acquire_now("refresh"), {.ok = false, .error = said}));
    EXPECT_TRUE(history("refresh")[0].error == kept) << said.size() << " bytes";
  }
}

}  // namespace
}  // namespace leasehold::support

// The acts of a scheduler on a due schedule, and its use of a handler's verdict.
#include <gtest/gtest.h>

#include "base/text.h"
#include "model/bounds.h"
#include "runtime/scheduler/crew.h"
#include "runtime/scheduler/task.h"

namespace leasehold::scheduler {
namespace {

RunVerdict succeed(const ScheduleRun&, RunContext&) { return RunVerdict::complete(); }
RunVerdict obey(const ScheduleRun&, const std::vector<std::string>&, RunContext&) { return RunVerdict::complete(); }

TEST(SchedulerDutiesTest, AHandlerIsForItsScheduleOnly) {
  const Duties duties{.handlers = {{"refresh", succeed}}, .commands = {}};
  EXPECT_EQ(duties.of({.name = "refresh"}), Duty::run);
  EXPECT_EQ(duties.of({.name = "refresh", .has_command = true}), Duty::run);
  EXPECT_EQ(duties.of({.name = "sweep"}), Duty::none);
  EXPECT_EQ(duties.of({.name = "sweep", .has_command = true}), Duty::none);
}

TEST(SchedulerDutiesTest, ACommandRunnerRunsSchedulesWithACommand) {
  const Duties duties{.handlers = {}, .commands = obey};
  EXPECT_EQ(duties.of({.name = "sweep", .has_command = true}), Duty::run);
  EXPECT_EQ(duties.of({.name = "sweep"}), Duty::none);
}

TEST(SchedulerDutiesTest, OneWithAQueueIsFiredAndNeverRun) {
  Duties duties{.handlers = {{"mail", succeed}}, .commands = obey};
  EXPECT_EQ(duties.of({.name = "mail", .enqueues = true}), Duty::fire);
  duties.enqueue = false;
  EXPECT_EQ(duties.of({.name = "mail", .enqueues = true}), Duty::none);
}

TEST(SchedulerVerdictsTest, AnErrorTextIsMadeStorable) {
  const auto verdict = storable(RunVerdict::fail("broken \xff byte", "{}"));
  EXPECT_EQ(verdict.error, "broken \xef\xbf\xbd byte");
  EXPECT_EQ(verdict.counts, "{}");
  EXPECT_LE(storable(RunVerdict::fail(std::string(1 << 20, 'x'))).error.size(), bounds::error_bytes);
}

TEST(SchedulerVerdictsTest, OnlyAFailureHasAnError) {
  EXPECT_EQ(storable({.kind = RunVerdict::Kind::complete, .error = "none"}).error, "");
  EXPECT_EQ(storable({.kind = RunVerdict::Kind::release, .error = "none"}).error, "");
}

TEST(SchedulerVerdictsTest, ARefusedVerdictBecomesAFailureWithTheReason) {
  const Error refusal{.code = Errc::invalid_argument, .message = "the counts must be JSON: \"{\""};
  const auto instead = instead_of(RunVerdict::complete("{"), refusal);
  EXPECT_EQ(instead.kind, RunVerdict::Kind::fail);
  EXPECT_EQ(instead.error, "the verdict was not accepted: the counts must be JSON: \"{\"");
  EXPECT_EQ(instead.counts, "");
}

TEST(SchedulerVerdictsTest, AHandlersOwnWordsAreKept) {
  const Error refusal{.code = Errc::invalid_argument, .message = "the counts must be JSON"};
  EXPECT_EQ(instead_of(RunVerdict::fail("no answer", "{"), refusal).error,
            "no answer (the verdict was not accepted: the counts must be JSON)");
  const auto longest = instead_of(RunVerdict::fail(std::string(1 << 20, 'x')), refusal).error;
  EXPECT_LE(longest.size(), bounds::error_bytes);
  EXPECT_TRUE(longest.ends_with("the counts must be JSON)"));
}

}  // namespace
}  // namespace leasehold::scheduler

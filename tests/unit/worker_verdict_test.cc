// What becomes of a job when its handler has spoken.
#include <gtest/gtest.h>

#include "support/fake_work_source.h"
#include "support/running_worker.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

TEST(WorkerVerdictTest, EveryJobIsCompletedOnce) {
  FakeWorkSource source(10s);
  auto ids = source.add("mail", 500);
  RunningWorker worker(source, {{"mail", [](const Job&, JobContext&) { return Verdict::complete(); }}},
                       {.concurrency = 4, .prefetch = 100});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.completed.size() == 500; }));
  const auto summary = worker.summary();
  auto completed = source.seen().completed;
  std::sort(completed.begin(), completed.end());
  EXPECT_EQ(completed, ids);
  EXPECT_EQ(summary.claimed, 500);
  EXPECT_EQ(summary.completed, 500);
  EXPECT_EQ(source.seen().closed, source.seen().opened) << "the lease is given back";
}

TEST(WorkerVerdictTest, ALoneCompletionGoesAtOnce) {
  FakeWorkSource source(10s);
  RunningWorker worker(source, {{"mail", [](const Job&, JobContext&) { return Verdict::complete(); }}},
                       {.concurrency = 4});
  for (std::size_t i = 1; i <= 5; ++i) {
    source.add("mail", 1);
    ASSERT_TRUE(source.await([&](const auto& seen) { return seen.completed.size() == i; }));
  }
  EXPECT_EQ(source.seen().complete_batches, std::vector<std::size_t>(5, 1));
}

TEST(WorkerVerdictTest, CompletionsThatGatherTravelTogether) {
  FakeWorkSource source(10s);
  source.hold_completes(true);
  source.add("mail", 200);
  std::atomic<int> handled{0};
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job&, JobContext&) {
                           ++handled;
                           return Verdict::complete();
                         }}},
                       {.concurrency = 4, .prefetch = 200});
  ASSERT_TRUE(source.await([&](const auto&) { return handled == 200; }));
  source.hold_completes(false);
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.completed.size() == 200; }));
  EXPECT_LE(source.seen().complete_batches.size(), 6U) << "one under way, one for the rest, and a few stragglers";
}

TEST(WorkerVerdictTest, EachVerdictDoesWhatItSays) {
  FakeWorkSource source(10s);
  const auto ids = source.add("mail", 6);
  const std::vector<Verdict> verdicts = {
      Verdict::complete("done"),        Verdict::fail("no"), Verdict::fail_for_good("never"),
      Verdict::retry_in(3s, "not now"), Verdict::release(),  Verdict::snooze(7s)};
  RunningWorker worker(
      source,
      {{"mail", [&](const Job& job, JobContext&) { return verdicts[static_cast<std::size_t>(job.id - ids[0])]; }}},
      {.concurrency = 6, .until = WorkUntil::empty});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  const auto seen = source.seen();
  EXPECT_EQ(seen.completed, std::vector<JobId>{ids[0]});
  EXPECT_EQ(seen.failed.at(ids[1]), "no");
  EXPECT_EQ(seen.failed.at(ids[2]), "never (for good)");
  EXPECT_EQ(seen.failed.at(ids[3]), "not now (later)");
  EXPECT_EQ(seen.released, std::vector<JobId>{ids[4]});
  EXPECT_EQ(seen.snoozed.at(ids[5]), 7s);
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(summary->failed, 3);
  EXPECT_EQ(summary->released, 1);
  EXPECT_EQ(summary->snoozed, 1);
}

TEST(WorkerVerdictTest, AHandlerThatThrowsHasFailed) {
  FakeWorkSource source(10s);
  const auto ids = source.add("mail", 2);
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job& job, JobContext&) -> Verdict {
                           if (job.id == ids[0]) throw std::runtime_error("the printer burns");
                           throw 42;
                         }}},
                       {.until = WorkUntil::empty});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->failed, 2);
  EXPECT_EQ(source.seen().failed.at(ids[0]), "the printer burns");
  EXPECT_NE(source.seen().failed.at(ids[1]), "");
}

TEST(WorkerVerdictTest, AVerdictTheStoreRefusesIsAFailureAndSpoilsNoOthers) {
  FakeWorkSource source(10s);
  source.hold_completes(true);
  const auto ids = source.add("mail", 3);
  RunningWorker worker(
      source,
      {{"mail",
        [&](const Job& job, JobContext&) { return Verdict::complete(std::string(job.id == ids[1] ? 2000 : 1, 'x')); }}},
      {.concurrency = 3, .until = WorkUntil::empty});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.complete_calls > 0; }));
  source.hold_completes(false);
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 2);
  EXPECT_EQ(summary->failed, 1);
  EXPECT_NE(source.seen().failed.at(ids[1]).find("too large"), std::string::npos);
}

TEST(WorkerVerdictTest, TheLatestProgressIsSent) {
  FakeWorkSource source(10s);
  const auto ids = source.add("mail", 1);
  Gate sent;
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job&, JobContext& context) {
                           for (int i = 1; i <= 100; ++i) context.progress({.message = std::to_string(i)});
                           return sent.wait() ? Verdict::complete() : Verdict::fail("it was never sent");
                         }}},
                       {.until = WorkUntil::empty});
  ASSERT_TRUE(source.await(
      [&](const auto& seen) { return seen.progress.contains(ids[0]) && seen.progress.at(ids[0]) == "100"; }));
  EXPECT_LE(source.seen().heartbeats.at(ids[0]), 2) << "the first at once, the rest together";
  sent.open();
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
}

}  // namespace
}  // namespace leasehold::support

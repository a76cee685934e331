// Jobs::bulk: an act on every job that matches, in batches.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobBulkTest : public StoreTest {
 protected:
  JobId bury(const std::string& queue, const NewJob& job = {}) {
    const auto id = add(jobs(), queue, job);
    const auto held = claim_one(jobs(), queue, "alice");
    must(jobs().settle({held.id, held.token, Verdict::fail_finally("dead")}));
    return id;
  }
  JobsChanged cancel(const JobFilter& filter) {
    return must(jobs().bulk({.action = JobAction::cancel, .filter = filter}));
  }
  JobsChanged retry(const JobFilter& filter) {
    return must(jobs().bulk({.action = JobAction::retry, .filter = filter}));
  }
  JobsChanged remove(const JobFilter& filter) {
    return must(jobs().bulk({.action = JobAction::remove, .filter = filter}));
  }
};
LEASEHOLD_ON_BOTH_STORES(JobBulkTest);

TEST_P(JobBulkTest, CancelsWhatWaitsAndAsksWhatRunsToStop) {
  const auto running = add(jobs(), "q");
  const auto held = claim_one(jobs(), "q", "alice");
  const auto ready = add(jobs(), "q");
  const auto later = add(jobs(), "q", {.delay = 1h});
  const auto blocked = add(jobs(), "q", {.depends_on = {ready}});
  const auto other = add(jobs(), "other");
  const auto done = cancel({.queue = "q"});
  EXPECT_EQ(done.matched, 4);
  EXPECT_EQ(done.changed, 4);
  EXPECT_EQ(done.skipped, 0);
  EXPECT_FALSE(done.next);
  for (const auto id : {ready, later, blocked}) EXPECT_EQ(state_of(jobs(), id), JobState::cancelled);
  EXPECT_EQ(state_of(jobs(), other), JobState::available);
  EXPECT_TRUE(must(jobs().heartbeat(running, held.token)).cancel_requested);
}

TEST_P(JobBulkTest, APreviewCountsAndChangesNothing) {
  add_many(jobs(), "q", 3);
  bury("dead");
  const auto before = dump();
  for (const auto action : {JobAction::cancel, JobAction::retry, JobAction::remove}) {
    const auto counted = must(jobs().bulk({.action = action, .preview = true}));
    EXPECT_EQ(counted.matched, action == JobAction::cancel ? 3 : action == JobAction::retry ? 1 : 4);
    EXPECT_EQ(counted.changed, 0);
  }
  EXPECT_EQ(dump(), before);
}

TEST_P(JobBulkTest, EachCallIsABatchAndNextContinues) {
  for (const auto action : {JobAction::cancel, JobAction::remove}) {
    add_many(jobs(), "q", 25);
    JobBulk bulk{.action = action, .filter = {.queue = "q", .state = JobState::available, .max = 10}};
    std::vector<std::int64_t> batches;
    for (bool more = true; more;) {
      const auto done = must(jobs().bulk(bulk));
      batches.push_back(done.changed);
      more = done.next.has_value();
      bulk.filter.page = done.next.value_or("");
    }
    EXPECT_EQ(batches, (std::vector<std::int64_t>{10, 10, 5})) << to_string(action);
    EXPECT_EQ(must(queues().show("q")).available, 0);
  }
}

TEST_P(JobBulkTest, TheBatchesOfARetryLeaveNoneOut) {
  add_many(jobs(), "q", 5);
  ASSERT_EQ(must(jobs().bulk({.action = JobAction::cancel, .filter = {.queue = "q"}})).changed, 5);
  JobBulk bulk{.action = JobAction::retry, .filter = {.queue = "q", .state = JobState::cancelled, .max = 2}};
  std::vector<std::int64_t> batches;
  for (bool more = true; more;) {
    const auto done = must(jobs().bulk(bulk));
    batches.push_back(done.changed);
    more = done.next.has_value();
    bulk.filter.page = done.next.value_or("");
  }
  EXPECT_EQ(batches, (std::vector<std::int64_t>{2, 2, 1}));
}

TEST_P(JobBulkTest, LeavesJobsAloneThatComeInAfterTheStart) {
  for (const auto action : {JobAction::cancel, JobAction::retry}) {
    const auto make = [&] { return action == JobAction::retry ? bury("q") : add(jobs(), "q"); };
    for (int i = 0; i < 4; ++i) make();
    JobBulk bulk{.action = action, .filter = {.queue = "q", .max = 2}};
    const auto first = must(jobs().bulk(bulk));
    ASSERT_TRUE(first.next);
    const auto late = action == JobAction::retry ? bury("other") : make();
    const auto state = state_of(jobs(), late);
    bulk.filter.queue.clear();
    bulk.filter.page = *first.next;
    const auto second = must(jobs().bulk(bulk));
    EXPECT_EQ(first.changed + second.changed, 4);
    EXPECT_FALSE(second.next);
    EXPECT_EQ(state_of(jobs(), late), state) << to_string(action);
    must(queues().purge("q"));
  }
}

TEST_P(JobBulkTest, RetryTakesFailedJobsUnlessAStateIsNamed) {
  const auto failed = bury("q");
  const auto cancelled = add(jobs(), "q");
  must(jobs().cancel(cancelled));
  const auto later = add(jobs(), "q", {.delay = 1h});
  EXPECT_EQ(retry({}).changed, 1);
  EXPECT_EQ(state_of(jobs(), failed), JobState::available);
  EXPECT_EQ(state_of(jobs(), cancelled), JobState::cancelled);
  EXPECT_EQ(retry({.state = JobState::cancelled}).changed, 1);
  EXPECT_EQ(retry({.state = JobState::deferred}).changed, 1);
  for (const auto id : {cancelled, later}) EXPECT_EQ(state_of(jobs(), id), JobState::available);
}

TEST_P(JobBulkTest, RetryStartsAJobAndThoseThatDependOnIt) {
  const auto first = add(jobs(), "q");
  const auto second = add(jobs(), "q", {.depends_on = {first}});
  const auto third = add(jobs(), "q", {.depends_on = {second}});
  must(jobs().cancel(first));
  ASSERT_EQ(state_of(jobs(), third), JobState::cancelled) << "with the first";
  const auto done = retry({.state = JobState::cancelled});
  EXPECT_EQ(done.changed, 3);
  EXPECT_EQ(state_of(jobs(), first), JobState::available);
  EXPECT_EQ(state_of(jobs(), second), JobState::blocked);
  EXPECT_EQ(state_of(jobs(), third), JobState::blocked);
}

TEST_P(JobBulkTest, SkipsWhatCannotBeRetried) {
  const auto first = bury("q", {.dedupe_key = "k"});
  const auto twin = bury("q", {.dedupe_key = "k"});
  const auto done = retry({.queue = "q"});
  EXPECT_EQ(done.matched, 2);
  EXPECT_EQ(done.changed, 1);
  EXPECT_EQ(done.skipped, 1);
  EXPECT_EQ(state_of(jobs(), first), JobState::available) << "the oldest has the key";
  EXPECT_EQ(state_of(jobs(), twin), JobState::failed);
}

TEST_P(JobBulkTest, RemovesWhatDoesNotRunInAnyState) {
  add(jobs(), "done", {.metadata = "{}", .tags = {"t"}});
  must(jobs().complete(1, claim_one(jobs(), "done", "alice").token, "result"));
  bury("q", {.dedupe_key = "k"});
  const auto ready = add(jobs(), "q");
  add(jobs(), "q", {.delay = 1h});
  add(jobs(), "q", {.depends_on = {ready}});
  add(jobs(), "run");
  const auto held = claim_one(jobs(), "run", "bob");
  const auto done = remove({});
  EXPECT_EQ(done.matched, 5);
  EXPECT_EQ(done.changed, 5);
  EXPECT_EQ(must(jobs().list()).size(), 1U);
  EXPECT_TRUE(ok(jobs().complete(held.id, held.token)));
  EXPECT_EQ(remove({}).changed, 1);
  EXPECT_EQ(must(jobs().list()).size(), 0U);
}

TEST_P(JobBulkTest, WalksThroughJobsOfOtherQueuesInBoundedSteps) {
  const auto oldest = add(jobs(), "old");
  must(jobs().complete(oldest, claim_one(jobs(), "old", "alice").token));
  for (int i = 0; i < 11; ++i) add_many(jobs(), "q", 1000);
  const auto first = remove({.queue = "old", .state = JobState::completed});
  EXPECT_EQ(first.matched, 0);
  ASSERT_TRUE(first.next);
  const auto second = remove({.queue = "old", .state = JobState::completed, .page = *first.next});
  EXPECT_EQ(second.changed, 1);
  EXPECT_FALSE(second.next);
}

TEST_P(JobBulkTest, AFilterLimitsTheAct) {
  const auto tagged = add(jobs(), "q", {.tags = {"news"}});
  const auto grouped = add(jobs(), "q", {.group = "ann"});
  const auto batched = add(jobs(), "q", {.batch = "import"});
  advance(10min);
  const auto late = add(jobs(), "q");
  EXPECT_EQ(cancel({.tag = "news"}).changed, 1);
  EXPECT_EQ(state_of(jobs(), tagged), JobState::cancelled);
  EXPECT_EQ(cancel({.group = "ann"}).changed, 1);
  EXPECT_EQ(state_of(jobs(), grouped), JobState::cancelled);
  EXPECT_EQ(cancel({.enqueued_after = now()}).changed, 1);
  EXPECT_EQ(state_of(jobs(), late), JobState::cancelled);
  EXPECT_EQ(state_of(jobs(), batched), JobState::available);
  EXPECT_EQ(cancel({.batch = "import"}).changed, 1);
  EXPECT_EQ(must(jobs().batch("import")).cancelled, 1);
  EXPECT_EQ(retry({.state = JobState::cancelled, .batch = "import"}).changed, 1);
  EXPECT_EQ(must(jobs().batch("import")).unfinished, 1);
  EXPECT_EQ(remove({.batch = "import"}).changed, 1);
  EXPECT_EQ(must(jobs().batch("import")).unfinished, 0);
}

TEST_P(JobBulkTest, RefusesWhatAnActionCannotDo) {
  const auto refused = [&](const JobBulk& bulk) { return jobs().bulk(bulk).error().code; };
  EXPECT_EQ(refused({.action = JobAction::cancel, .filter = {.state = JobState::completed}}), Errc::invalid_argument);
  EXPECT_EQ(refused({.action = JobAction::retry, .filter = {.state = JobState::running}}), Errc::invalid_argument);
  EXPECT_EQ(refused({.action = JobAction::remove, .filter = {.state = JobState::running}}), Errc::invalid_argument);
  EXPECT_EQ(refused({.filter = {.max = bounds::max_bulk + 1}}), Errc::invalid_argument);
  EXPECT_EQ(refused({.filter = {.page = "next"}}), Errc::invalid_argument);
  EXPECT_EQ(refused({.filter = {.page = "7"}}), Errc::invalid_argument);
}

}  // namespace
}  // namespace leasehold::support

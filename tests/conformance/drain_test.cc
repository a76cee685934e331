// testing.h with a store that it did not make.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "leasehold/testing.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class DrainTest : public StoreTest {};
LEASEHOLD_ON_BOTH_STORES(DrainTest);

TEST_P(DrainTest, JobsRunInOrderAndLaterOnesAfterAnAdvance) {
  std::vector<std::string> order;
  Worker worker(store());
  worker.handle("mail", [&](const Job& job, JobContext& context) {
    context.progress({.message = job.payload});
    order.push_back(job.payload);
    if (job.payload == "ann") add(jobs(), "mail", {.payload = "copy of ann"});
    return job.payload == "nobody" && job.attempt == 1 ? Verdict::fail("refused") : Verdict::complete();
  });
  add(jobs(), "mail", {.payload = "ann"});
  add(jobs(), "mail", {.payload = "later", .delay = 10min});
  add(jobs(), "mail", {.payload = "nobody", .priority = 1, .backoff = {.base = 1min, .exponential = false}});
  const auto first = must(drain(worker));
  EXPECT_EQ(order, (std::vector<std::string>{"nobody", "ann", "copy of ann"}));
  EXPECT_EQ(first.completed, 2);
  EXPECT_EQ(first.failed, 1);
  advance(2min);
  EXPECT_EQ(must(drain(worker)).completed, 1);
  advance(10min);
  EXPECT_EQ(must(drain(worker)).completed, 1);
  EXPECT_EQ(order.back(), "later");
}

TEST_P(DrainTest, AHandlerThatTakesTooLongHasFailed) {
  Worker worker(store());
  worker.handle("mail", [&](const Job&, JobContext&) {
    advance(2min);
    return Verdict::complete();
  });
  const auto slow = add(jobs(), "mail", {.timeout = 2min, .max_failures = 1});
  const auto quick = add(jobs(), "mail", {.timeout = 3min});
  const auto summary = must(drain(worker));
  EXPECT_EQ(summary.failed, 1);
  EXPECT_EQ(summary.completed, 1);
  EXPECT_EQ(must(jobs().show(slow)).error, "timed out after 2m");
  EXPECT_EQ(state_of(jobs(), quick), JobState::completed);
}

TEST_P(DrainTest, EnqueuedJobsAreFoundWithTheirPayloads) {
  const auto ann = add(jobs(), "mail", {.payload = R"({"to":"ann"})", .priority = 5});
  add(jobs(), "mail", {.payload = R"({"to":"bo"})", .delay = 1min});
  const auto mail = must(enqueued(store(), "mail"));
  ASSERT_EQ(mail.size(), 2U);
  EXPECT_EQ(mail[1].state, JobState::deferred);
  const auto found = find_enqueued(store(), "mail", [](const EnqueuedJob& job) { return job.priority == 5; });
  ASSERT_TRUE(ok(found));
  EXPECT_EQ(found->id, ann);
  EXPECT_EQ(to_string(*found), "job " + std::to_string(ann) + R"( of mail: available, priority 5: {"to":"ann"})");
}

}  // namespace
}  // namespace leasehold::support

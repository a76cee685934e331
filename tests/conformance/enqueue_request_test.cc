// Enqueues with a request id: the same id again returns the first answer again.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <thread>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class EnqueueRequestTest : public StoreTest {
 protected:
  static NewJob job(const std::string& request_id) { return {.payload = "x", .request_id = request_id}; }
  Enqueued add(const NewJob& job) { return must(jobs().enqueue("mail", job)); }
  std::size_t count() { return must(jobs().list({.queue = "mail"})).size(); }
};
LEASEHOLD_ON_BOTH_STORES(EnqueueRequestTest);

TEST_P(EnqueueRequestTest, TheSameIdReturnsTheFirstAnswer) {
  const auto first = add(job("r-1"));
  EXPECT_TRUE(first.created);
  const auto again = add({.payload = "another", .priority = 5, .request_id = "r-1"});
  EXPECT_EQ(again.id, first.id);
  EXPECT_TRUE(again.created);
  EXPECT_EQ(again.state, JobState::available);
  EXPECT_EQ(count(), 1U);
  EXPECT_EQ(must(jobs().show(first.id)).priority, 0) << "nothing was changed";
  EXPECT_NE(add(job("r-2")).id, first.id);
  EXPECT_NE(add(job("")).id, add(job("")).id);
}

TEST_P(EnqueueRequestTest, TheAnswerStaysWhateverBecameOfTheJob) {
  const auto first = add({.payload = "x", .delay = 10min, .request_id = "r-1"});
  EXPECT_EQ(first.state, JobState::deferred);
  advance(10min);
  EXPECT_EQ(add(job("r-1")).state, JobState::deferred) << "as the first call was answered";
  ASSERT_TRUE(ok(jobs().cancel(first.id)));
  ASSERT_TRUE(ok(jobs().remove(first.id)));
  EXPECT_EQ(add(job("r-1")).id, first.id) << "the job is gone, and is not enqueued again";
  EXPECT_EQ(count(), 0U);
}

TEST_P(EnqueueRequestTest, ADuplicateIsRepeatedAsADuplicate) {
  const auto first = add({.payload = "x", .dedupe_key = "k"});
  const auto duplicate = add({.payload = "x", .dedupe_key = "k", .request_id = "r-1"});
  EXPECT_FALSE(duplicate.created);
  const auto again = add({.payload = "x", .dedupe_key = "other", .request_id = "r-1"});
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(count(), 1U);
}

TEST_P(EnqueueRequestTest, ARefusedEnqueueDoesNotUseUpItsId) {
  EXPECT_TRUE(fails(jobs().enqueue("mail", NewJob{.depends_on = {999}, .request_id = "r-1"}), Errc::invalid_argument));
  EXPECT_TRUE(add(job("r-1")).created);
  EXPECT_EQ(count(), 1U);
}

TEST_P(EnqueueRequestTest, TheIdIsForgottenAfterADay) {
  const auto first = add(job("r-1"));
  advance(defaults::request_kept - 1us);
  EXPECT_EQ(add(job("r-1")).id, first.id);
  advance(1us);
  const auto later = add(job("r-1"));
  EXPECT_NE(later.id, first.id);
  EXPECT_EQ(add(job("r-1")).id, later.id) << "and then it is the later job's";
}

TEST_P(EnqueueRequestTest, PruneRemovesForgottenIds) {
  add(job("r-1"));
  EXPECT_EQ(must(store().prune(0s)).requests, 0);
  advance(defaults::request_kept);
  EXPECT_EQ(must(store().prune_preview(0s)).requests, 1);
  EXPECT_EQ(must(store().prune(0s)).requests, 1);
}

TEST_P(EnqueueRequestTest, ManyJobsTogetherEachHaveTheirOwn) {
  const std::vector<NewJob> three{job("a"), job("b"), job("c")};
  const auto first = must(jobs().enqueue("mail", three));
  const std::vector<NewJob> others{job("b"), job("d"), job("c")};
  const auto again = must(jobs().enqueue("mail", others));
  EXPECT_EQ(again.at(0).id, first.at(1).id);
  EXPECT_EQ(again.at(2).id, first.at(2).id);
  EXPECT_EQ(count(), 4U);
}

TEST_P(EnqueueRequestTest, Of16ThreadsWithOneIdOneEnqueues) {
  std::vector<Store> stores;
  for (int i = 0; i < 4; ++i) stores.push_back(open());
  std::mutex mutex;
  std::set<JobId> ids;
  std::barrier start(16);
  {
    std::vector<std::jthread> racers;
    for (std::size_t i = 0; i < 16; ++i) {
      racers.emplace_back([&, i] {
        start.arrive_and_wait();
        const auto enqueued = stores[i % 4].jobs().enqueue("mail", job("r-1"));
        const std::lock_guard lock(mutex);
        ids.insert(enqueued ? enqueued->id : 0);
      });
    }
  }
  EXPECT_EQ(ids.size(), 1U);
  EXPECT_EQ(ids.count(0), 0U);
  EXPECT_EQ(count(), 1U);
}

TEST_P(EnqueueRequestTest, AnIdIsAName) {
  EXPECT_TRUE(fails(jobs().enqueue("mail", job("a\nb")), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().enqueue("mail", job(std::string(513, 'x'))), Errc::invalid_argument));
}

}  // namespace
}  // namespace leasehold::support

// A job with nothing special takes a shorter way into its queue: it must be the same job there.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <mutex>
#include <thread>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobEnqueueTest : public StoreTest {
 protected:
  /// All that the store has of a job, but for its number.
  std::vector<TextRow> rows_of(JobId id) {
    auto rows = under_test().rows("SELECT * FROM " + under_test().table("job") + " WHERE id = " + std::to_string(id));
    for (auto& row : rows) row.erase(row.begin());
    for (auto& row : under_test().rows("SELECT queue, priority, last_token, attempt, solo, job_group FROM " +
                                       under_test().table("ready") + " WHERE job_id = " + std::to_string(id))) {
      rows.push_back(std::move(row));
    }
    return rows;
  }
};
LEASEHOLD_ON_BOTH_STORES(JobEnqueueTest);

TEST_P(JobEnqueueTest, EveryWayGivesTheSameJob) {
  const NewJob job{.payload = "x", .priority = 7};
  // A moment that has come is no delay, and not what the short way is for.
  const NewJob due{.payload = "x", .priority = 7, .run_at = now()};
  const auto expected = rows_of(add(jobs(), "q", due));
  ASSERT_EQ(expected.size(), 2U);
  EXPECT_EQ(rows_of(add(jobs(), "q", job)), expected);
  const std::array mixed = {due, job};
  for (const auto& enqueued : must(jobs().enqueue("q", mixed))) EXPECT_EQ(rows_of(enqueued.id), expected);
}

TEST_P(JobEnqueueTest, AJobWithoutSettingsHasTheDefaultsOfNewJob) {
  const auto enqueued = must(jobs().enqueue("q", NewJob{.payload = "x"}));
  EXPECT_TRUE(enqueued.created);
  EXPECT_EQ(enqueued.state, JobState::available);
  const auto info = must(jobs().show(enqueued.id));
  EXPECT_EQ(info.queue, "q");
  EXPECT_EQ(info.state, JobState::available);
  EXPECT_EQ(info.priority, NewJob{}.priority);
  EXPECT_EQ(info.max_failures, NewJob{}.max_failures);
  EXPECT_EQ(info.max_crashes, NewJob{}.max_crashes);
  EXPECT_EQ(info.created_at, now());
  EXPECT_EQ(info.attempts, 0);
  EXPECT_EQ(info.due_at, std::nullopt);
  EXPECT_EQ(info.dedupe_key, "");
  EXPECT_EQ(info.group, "");
  EXPECT_TRUE(info.tags.empty());
  EXPECT_TRUE(info.waits_for.empty());
  EXPECT_EQ(must(jobs().payload(enqueued.id)), "x");
}

TEST_P(JobEnqueueTest, NoSettingIsLost) {
  const auto defaults = rows_of(add(jobs(), "q", {.payload = "x"}));
  const auto first = add(jobs(), "q");
  const std::vector<NewJob> special = {{.payload = "x", .delay = 1s},
                                       {.payload = "x", .run_at = now() + 1s},
                                       {.payload = "x", .dedupe_key = "k"},
                                       {.payload = "x", .group = "k"},
                                       {.payload = "x", .max_failures = 11},
                                       {.payload = "x", .max_crashes = 4},
                                       {.payload = "x", .backoff = {.base = 6s}},
                                       {.payload = "x", .backoff = {.max = 2h}},
                                       {.payload = "x", .backoff = {.exponential = false}},
                                       {.payload = "x", .tags = {"t"}},
                                       {.payload = "x", .depends_on = {first}}};
  for (std::size_t i = 0; i < special.size(); ++i) {
    EXPECT_NE(rows_of(add(jobs(), "q", special[i])), defaults) << "the setting number " << i;
  }
}

TEST_P(JobEnqueueTest, CallersAtOnceEachHaveTheirOwnJob) {
  constexpr int callers = 16;
  constexpr int jobs_each = 10;
  std::mutex mutex;
  std::map<JobId, std::pair<std::string, int>> given;
  std::vector<std::jthread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      for (int i = 0; i < jobs_each; ++i) {
        const auto payload = std::to_string(caller) + "." + std::to_string(i);
        const auto id = add(jobs(), "q" + std::to_string(caller % 3), {.payload = payload, .priority = i});
        const std::lock_guard lock(mutex);
        given[id] = {payload, i};
      }
    });
  }
  threads.clear();
  ASSERT_EQ(given.size(), static_cast<std::size_t>(callers * jobs_each));
  for (const auto& [id, job] : given) {
    const auto& [payload, priority] = job;
    const auto info = must(jobs().show(id));
    EXPECT_EQ(must(jobs().payload(id)), payload);
    EXPECT_EQ(info.priority, priority);
    EXPECT_EQ(info.queue, "q" + std::to_string(std::stoi(payload) % 3));
    EXPECT_EQ(info.state, JobState::available);
  }
}

}  // namespace
}  // namespace leasehold::support

// How operators find jobs: lists by state, group, key and time, and the search for a text.
#include <gtest/gtest.h>

#include <set>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

using Ids = std::vector<JobId>;

class JobSelectTest : public StoreTest {
 protected:
  Ids listed(const JobFilter& filter) {
    Ids ids;
    for (const auto& job : must(jobs().list(filter))) ids.push_back(job.id);
    return ids;
  }
  Ids found(const std::string& text, const JobFilter& filter = {}) {
    Ids ids;
    for (const auto& job : must(jobs().search(text, filter)).items) ids.push_back(job.id);
    return ids;
  }
  /// A job in each state that this fixture tells apart, all enqueued now.
  std::vector<std::pair<JobState, JobId>> one_of_each() {
    const auto running = add(jobs(), "run");
    claim_one(jobs(), "run", "alice", 10h);
    const auto failed = add(jobs(), "dead");
    must(jobs().settle({failed, claim_one(jobs(), "dead", "alice").token, Verdict::fail_finally("no luck")}));
    const auto completed = add(jobs(), "done");
    must(jobs().complete(completed, claim_one(jobs(), "done", "alice").token));
    const auto cancelled = add(jobs(), "q");
    must(jobs().cancel(cancelled));
    const auto available = add(jobs(), "q");
    return {{JobState::running, running},
            {JobState::failed, failed},
            {JobState::completed, completed},
            {JobState::cancelled, cancelled},
            {JobState::available, available},
            {JobState::deferred, add(jobs(), "q", {.delay = 10h})},
            {JobState::blocked, add(jobs(), "q", {.depends_on = {available}})}};
  }
};
LEASEHOLD_ON_BOTH_STORES(JobSelectTest);

TEST_P(JobSelectTest, ATimeFilterHoldsForEveryState) {
  one_of_each();
  advance(10min);
  const auto begin = now();
  const auto wanted = one_of_each();
  advance(10min);
  const auto end = now();
  one_of_each();
  for (const auto& [state, id] : wanted) {
    EXPECT_EQ(listed({.state = state, .enqueued_after = begin, .enqueued_before = end}), Ids{id}) << to_string(state);
  }
  EXPECT_EQ(listed({.enqueued_after = begin, .enqueued_before = end}).size(), wanted.size());
  EXPECT_EQ(listed({.enqueued_after = end}).size(), wanted.size());
  EXPECT_EQ(listed({.enqueued_before = begin}).size(), wanted.size());
  EXPECT_EQ(listed({.enqueued_after = end + 1s}), Ids{});
  EXPECT_EQ(listed({.enqueued_before = test_start}), Ids{});
}

TEST_P(JobSelectTest, ATimeIncludesItsFirstMomentAndExcludesItsLast) {
  const auto early = add(jobs(), "q");
  advance(1s);
  const auto moment = now();
  const auto late = add(jobs(), "q");
  EXPECT_EQ(listed({.enqueued_after = moment}), Ids{late});
  EXPECT_EQ(listed({.enqueued_before = moment}), Ids{early});
}

TEST_P(JobSelectTest, JobsOfATimeComeInPages) {
  Ids all;
  for (int minute = 0; minute < 20; ++minute) {
    all.insert(all.begin(), add(jobs(), "q"));
    advance(1min);
  }
  JobFilter filter{.enqueued_after = test_start + 5min, .enqueued_before = test_start + 15min, .max = 4};
  Ids seen;
  for (bool more = true; more;) {
    const auto page = must(jobs().list(filter));
    for (const auto& job : page) seen.push_back(job.id);
    more = page.next.has_value();
    filter.page = page.next.value_or("");
  }
  EXPECT_EQ(seen, Ids(all.begin() + 5, all.begin() + 15));
}

TEST_P(JobSelectTest, GroupAndKeyAreFilters) {
  add(jobs(), "q", {.group = "ann"});
  const auto ben = add(jobs(), "q", {.group = "ben"});
  const auto keyed = add(jobs(), "q", {.dedupe_key = "order-7"});
  const auto later = add(jobs(), "q", {.delay = 1h, .group = "ben"});
  EXPECT_EQ(listed({.group = "ben"}), (Ids{later, ben}));
  EXPECT_EQ(listed({.state = JobState::available, .group = "ben"}), Ids{ben});
  EXPECT_EQ(listed({.dedupe_key = "order-7"}), Ids{keyed});
  EXPECT_EQ(listed({.queue = "other", .dedupe_key = "order-7"}), Ids{});
}

TEST_P(JobSelectTest, ASearchLooksAtPayloadErrorsTagsAndMetadata) {
  const auto payload = add(jobs(), "q", {.payload = R"({"to":"Ann@Example.com"})"});
  const auto tag = add(jobs(), "q", {.tags = {"for-ann@example.com"}});
  const auto metadata = add(jobs(), "q", {.metadata = R"({"owner":"ann@example.com"})"});
  const auto error = add(jobs(), "fails");
  must(jobs().settle({error, claim_one(jobs(), "fails", "bob").token, Verdict::fail_finally("no ANN@example.com")}));
  add(jobs(), "q", {.payload = "somebody else"});
  EXPECT_EQ(found("ann@example.com"), (Ids{error, metadata, tag, payload}));
  EXPECT_EQ(found("ANN@EXAMPLE", {.queue = "q"}), (Ids{metadata, tag, payload}));
  EXPECT_EQ(found("ann@example.com", {.state = JobState::failed}), Ids{error});
  EXPECT_EQ(found("ann@example.com", {.state = JobState::available}), (Ids{metadata, tag, payload}));
  EXPECT_EQ(found("nobody"), Ids{});
}

TEST_P(JobSelectTest, ASearchFindsTextInBytesThatAreNone) {
  const auto id = add(jobs(), "q", {.payload = std::string("\xFF\xFE needle \x00 x", 13)});
  EXPECT_EQ(found("needle"), Ids{id});
}

TEST_P(JobSelectTest, ASearchReportsHowFarItHasRead) {
  add_many(jobs(), "q", 700);
  advance(1h);
  const auto needle = add(jobs(), "q", {.payload = "needle"});
  const auto all = must(jobs().search("needle"));
  ASSERT_EQ(all.items.size(), 1U);
  EXPECT_EQ(all.items[0].id, needle);
  EXPECT_EQ(all.scanned, 701);
  EXPECT_TRUE(all.complete);
  EXPECT_FALSE(all.next);
  EXPECT_EQ(all.oldest_scanned_at, test_start);
  const auto recent = must(jobs().search("needle", {.enqueued_after = now() - 1min}));
  EXPECT_EQ(recent.scanned, 1);
  EXPECT_EQ(recent.oldest_scanned_at, now());
  EXPECT_EQ(must(jobs().search("x", {.queue = "none", .state = JobState::failed})).scanned, 0);
}

TEST_P(JobSelectTest, ASearchStopsAfterItsBoundAndGoesOnWhereItStopped) {
  const auto oldest = add(jobs(), "q", {.payload = "needle"});
  for (int i = 0; i < 11; ++i) add_many(jobs(), "q", 1000);
  const auto first = must(jobs().search("needle"));
  EXPECT_TRUE(first.items.empty());
  EXPECT_EQ(first.scanned, bounds::max_jobs_searched);
  EXPECT_FALSE(first.complete);
  ASSERT_TRUE(first.next);
  const auto second = must(jobs().search("needle", {.page = *first.next}));
  ASSERT_EQ(second.items.size(), 1U);
  EXPECT_EQ(second.items[0].id, oldest);
  EXPECT_EQ(second.scanned, 1001);
  EXPECT_TRUE(second.complete);
}

TEST_P(JobSelectTest, APageOfASearchMissesNothing) {
  std::set<JobId> wanted;
  for (int i = 0; i < 7; ++i) wanted.insert(add(jobs(), "q", {.payload = "needle"}));
  for (const auto state : {std::optional<JobState>(), std::optional(JobState::available)}) {
    std::set<JobId> seen;
    JobFilter filter{.state = state, .max = 3};
    for (bool more = true; more;) {
      const auto page = must(jobs().search("needle", filter));
      EXPECT_LE(page.items.size(), 3U);
      for (const auto& job : page.items) EXPECT_TRUE(seen.insert(job.id).second) << "shown twice";
      more = page.next.has_value();
      filter.page = page.next.value_or("");
    }
    EXPECT_EQ(seen, wanted);
  }
}

TEST_P(JobSelectTest, ASearchNeedsAText) {
  EXPECT_TRUE(fails(jobs().search(""), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().search("x", {.page = "first"}), Errc::invalid_argument));
}

}  // namespace
}  // namespace leasehold::support

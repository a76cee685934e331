// Jobs that expire: not started in time, they lapse. Nothing sweeps them.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobLapseTest : public StoreTest {
 protected:
  JobInfo look(JobId id) { return must(jobs().show(id)); }

  bool nothing_to_claim() { return fails(jobs().claim("q", claiming(), by("bob")), Errc::empty); }

  std::vector<JobId> listed(JobState state) {
    std::vector<JobId> ids;
    for (const auto& job : must(jobs().list({.queue = "q", .state = state})).items) ids.push_back(job.id);
    return ids;
  }
};
LEASEHOLD_ON_BOTH_STORES(JobLapseTest);

TEST_P(JobLapseTest, Promise01_AJobThatWasNotStartedInTimeHasLapsed) {
  const auto id = add(jobs(), "q", {.expires_in = 10min});
  advance(10min - 1us);
  EXPECT_EQ(look(id).state, JobState::available);
  advance(1us);
  EXPECT_EQ(look(id).state, JobState::lapsed) << "before any claim has recorded it";
  EXPECT_EQ(listed(JobState::lapsed), std::vector<JobId>{id});
  EXPECT_TRUE(listed(JobState::available).empty());
  EXPECT_EQ(must(store().queues().show("q")).available, 0);
  EXPECT_TRUE(nothing_to_claim());
  EXPECT_EQ(look(id).state, JobState::lapsed);
  EXPECT_EQ(listed(JobState::lapsed), std::vector<JobId>{id});
  EXPECT_EQ(outcomes_of(jobs(), id), std::vector<std::string>{"lapsed"});
  EXPECT_EQ(must(store().events({.key = std::to_string(id)})).front().what, "lapsed");
  EXPECT_EQ(must(jobs().wait(id, 0s)).state, JobState::lapsed);
}

TEST_P(JobLapseTest, AJobThatStartedInTimeMayEndLater) {
  const auto id = add(jobs(), "q", {.expires_in = 1min});
  const auto job = claim_one(jobs(), "q", "alice", 10min);
  advance(5min);
  EXPECT_TRUE(nothing_to_claim());
  EXPECT_EQ(look(id).state, JobState::running);
  EXPECT_TRUE(ok(jobs().complete(id, job.token)));
}

TEST_P(JobLapseTest, ItIsNotStartedAgainEither) {
  const auto failed = add(jobs(), "q", {.expires_in = 1min, .backoff = {.base = 2min}});
  const auto job = claim_one(jobs(), "q", "alice");
  EXPECT_TRUE(ok(jobs().fail(failed, job.token, "no luck")));
  const auto crashed = add(jobs(), "q", {.expires_in = 1min});
  claim_one(jobs(), "q", "alice", 30s);
  advance(1min);
  EXPECT_TRUE(nothing_to_claim());
  EXPECT_EQ(look(failed).state, JobState::lapsed);
  EXPECT_EQ(look(failed).error, "no luck");
  EXPECT_TRUE(nothing_to_claim());
  EXPECT_EQ(look(crashed).state, JobState::lapsed);
  EXPECT_EQ(look(crashed).crashes, 1);
}

TEST_P(JobLapseTest, AMomentInThePastLapsesAtOnce) {
  const auto now = look(add(jobs(), "other")).store_now;
  const auto one = must(jobs().enqueue("q", {.dedupe_key = "k", .expires_at = now - 1s}));
  EXPECT_EQ(one.state, JobState::lapsed);
  EXPECT_EQ(look(one.id).state, JobState::lapsed);
  EXPECT_TRUE(must(jobs().enqueue("q", {.dedupe_key = "k"})).created) << "its key is free";
  const std::vector<NewJob> many(3, NewJob{.expires_in = 0s});
  for (const auto& job : must(jobs().enqueue("p", many))) EXPECT_EQ(look(job.id).state, JobState::lapsed);
  EXPECT_TRUE(fails(jobs().claim("p", claiming(), by("bob")), Errc::empty));
}

TEST_P(JobLapseTest, ItsDedupeKeyIsFreeAtThatMoment) {
  const auto first = must(jobs().enqueue("q", {.dedupe_key = "k", .expires_in = 1min}));
  EXPECT_FALSE(must(jobs().enqueue("q", {.dedupe_key = "k"})).created);
  advance(1min);
  EXPECT_TRUE(must(jobs().enqueue("q", {.dedupe_key = "k"})).created);
  EXPECT_EQ(look(first.id).state, JobState::lapsed);
}

TEST_P(JobLapseTest, DependentsFollowAsAfterACancel) {
  const auto first = add(jobs(), "q", {.expires_in = 1min});
  const auto cancelled = add(jobs(), "q", {.depends_on = {first}});
  const auto runs = add(jobs(), "q", {.depends_on = {first}, .if_failed = IfFailed::run});
  const auto waits = add(jobs(), "q", {.depends_on = {first}, .if_failed = IfFailed::wait});
  advance(1min);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, runs);
  EXPECT_EQ(look(cancelled).state, JobState::cancelled);
  EXPECT_EQ(look(waits).state, JobState::blocked);
  EXPECT_EQ(must(store().events({.key = std::to_string(cancelled)})).front().detail,
            "job " + std::to_string(first) + " lapsed");
}

TEST_P(JobLapseTest, AWorkerOfAnotherQueueRecordsItForTheJobsThatWait) {
  const auto first = add(jobs(), "quiet", {.expires_in = 1min, .batch = "b"});
  const auto runs = add(jobs(), "q", {.depends_on = {first}, .if_failed = IfFailed::run});
  const auto cancelled = add(jobs(), "q", {.depends_on = {first}});
  const auto end = add(jobs(), "q", {.on_batch_end = "b"});
  EXPECT_TRUE(nothing_to_claim());
  advance(1min);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, runs) << "no worker asks for the queue of the first job";
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, end);
  EXPECT_EQ(look(cancelled).state, JobState::cancelled);
  EXPECT_EQ(must(jobs().batch("b")).unfinished, 0);
  EXPECT_EQ(outcomes_of(jobs(), first), std::vector<std::string>{"lapsed"});
}

TEST_P(JobLapseTest, ARefusedClaimRecordsItToo) {
  for (const std::string why : {"paused", "full", "rate"}) {
    const auto first = add(jobs(), why, {.expires_in = 1min});
    const auto waits = add(jobs(), "q", {.depends_on = {first}, .if_failed = IfFailed::run});
    if (why == "paused") {
      must(store().queues().pause(why));
    } else if (why == "full") {
      must(store().queues().set(why, {.max_running = 1}));
      add(jobs(), why, {.priority = 1});
      static_cast<void>(claim_one(jobs(), why, "alice", 10min));
    } else {
      must(store().queues().set(why, {.rate_count = 1, .rate_period = 1h}));
      add(jobs(), why, {.priority = 1});
      static_cast<void>(claim_one(jobs(), why, "alice", 10min));
    }
    advance(1min);
    EXPECT_FALSE(jobs().claim(why, claiming(), by("bob")).ok()) << why;
    EXPECT_EQ(outcomes_of(jobs(), first), std::vector<std::string>{"lapsed"}) << why;
    EXPECT_EQ(look(waits).state, JobState::available) << why;
  }
}

TEST_P(JobLapseTest, AMassOfThemInAnotherQueueEndsInSteps) {
  const auto all = must(jobs().enqueue("quiet", std::vector<NewJob>(250, NewJob{.expires_in = 1min})));
  advance(1min);
  const auto recorded = [&] {
    return std::count_if(all.begin(), all.end(), [&](const auto& job) { return !outcomes_of(jobs(), job.id).empty(); });
  };
  for (const int expected : {100, 200, 250}) {
    EXPECT_TRUE(nothing_to_claim());
    EXPECT_EQ(recorded(), expected);
  }
}

TEST_P(JobLapseTest, ABlockedOrDeferredJobLapsesToo) {
  const auto first = add(jobs(), "other");
  const auto blocked = add(jobs(), "q", {.expires_in = 1min, .depends_on = {first}});
  const auto deferred = add(jobs(), "q", {.delay = 1h, .expires_in = 1min});
  EXPECT_EQ(look(deferred).state, JobState::deferred);
  advance(1min);
  EXPECT_EQ(look(blocked).state, JobState::lapsed);
  EXPECT_EQ(look(deferred).state, JobState::lapsed);
  const auto counts = must(store().queues().show("q"));
  EXPECT_EQ(counts.blocked, 0);
  EXPECT_EQ(counts.deferred, 0);
  EXPECT_TRUE(nothing_to_claim());
  EXPECT_EQ(outcomes_of(jobs(), blocked), std::vector<std::string>{"lapsed"});
  EXPECT_EQ(outcomes_of(jobs(), deferred), std::vector<std::string>{"lapsed"});
}

TEST_P(JobLapseTest, ARetryIsAFreshLife) {
  const auto id = add(jobs(), "q", {.expires_in = 1min});
  const auto unrecorded = add(jobs(), "q", {.expires_in = 2min});
  advance(1min);
  EXPECT_TRUE(ok(jobs().retry(id)));
  EXPECT_EQ(look(id).state, JobState::available);
  EXPECT_EQ(look(id).expires_at, std::nullopt);
  advance(1h);
  EXPECT_TRUE(ok(jobs().retry(unrecorded))) << "no claim has recorded that it lapsed";
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, id);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, unrecorded);
}

TEST_P(JobLapseTest, ARetryInTimeKeepsTheMoment) {
  const auto id = add(jobs(), "q", {.expires_in = 1h});
  EXPECT_TRUE(ok(jobs().cancel(id)));
  EXPECT_TRUE(ok(jobs().retry(id)));
  EXPECT_TRUE(look(id).expires_at.has_value());
  advance(1h);
  EXPECT_EQ(look(id).state, JobState::lapsed);
}

TEST_P(JobLapseTest, ACancelAndARedriveLeaveItAlone) {
  const auto id = add(jobs(), "q", {.expires_in = 1min});
  advance(1min);
  EXPECT_EQ(must(jobs().cancel(id)), JobState::lapsed);
  EXPECT_EQ(look(id).state, JobState::lapsed);
  EXPECT_EQ(must(jobs().redrive("q")), 0);
  EXPECT_TRUE(ok(jobs().remove(id)));
  EXPECT_TRUE(fails(jobs().show(id), Errc::not_found));
}

TEST_P(JobLapseTest, AMassOfThemEndsInSteps) {
  std::vector<NewJob> fresh(400, NewJob{.expires_in = 1min});
  const auto all = must(jobs().enqueue("q", fresh));
  const auto live = add(jobs(), "q");
  advance(1min);
  EXPECT_EQ(must(store().queues().show("q")).available, 1);
  int claims = 1;
  for (auto grant = jobs().claim("q", claiming(), by("bob"));; grant = jobs().claim("q", claiming(), by("bob"))) {
    if (grant) {
      EXPECT_EQ(grant->jobs.front().id, live);
      break;
    }
    ASSERT_EQ(grant.error().code, Errc::busy);
    ASSERT_LE(++claims, 6);
  }
  EXPECT_EQ(listed(JobState::lapsed).size(), static_cast<std::size_t>(defaults::job_list_max));
}

TEST_P(JobLapseTest, RecoverRecordsThem) {
  const auto id = add(jobs(), "q", {.expires_in = 1min});
  const auto dependent = add(jobs(), "other", {.depends_on = {id}});
  EXPECT_EQ(must(store().recover()).lapsed, 0);
  advance(1min);
  EXPECT_EQ(must(store().recovery_stats()).stale_now.lapsed, 1);
  const auto recovered = must(store().recover());
  EXPECT_EQ(recovered.lapsed, 1);
  EXPECT_FALSE(recovered.is_nothing());
  EXPECT_EQ(outcomes_of(jobs(), id), std::vector<std::string>{"lapsed"});
  EXPECT_EQ(look(dependent).state, JobState::cancelled);
  EXPECT_EQ(must(store().recovery_stats()).stale_now.lapsed, 0);
  EXPECT_TRUE(must(store().recover()).is_nothing());
}

TEST_P(JobLapseTest, AQueueCountsThem) {
  add(jobs(), "q", {.expires_in = 1min});
  add(jobs(), "q", {.delay = 1h, .expires_in = 1min});
  add(jobs(), "q", {.expires_in = 2min});
  const auto lapsed = [this] { return must(store().queues().show("q")).lapsed; };
  EXPECT_EQ(lapsed(), 0);
  advance(1min);
  EXPECT_EQ(lapsed(), 2) << "before a claim has recorded it";
  static_cast<void>(claim_one(jobs(), "q", "bob"));
  EXPECT_EQ(lapsed(), 2);
  EXPECT_EQ(must(store().queues().show("q")).failed, 0);
}

TEST_P(JobLapseTest, AWaitingClaimComesWhenAJobLapses) {
  add(jobs(), "q", {.delay = 1h, .expires_in = 1min});
  const auto refusal = jobs().claim("q", claiming(), by("bob"));
  ASSERT_TRUE(fails(refusal, Errc::empty));
  EXPECT_LE(refusal.error().retry_in.value(), Duration(1min));
}

TEST_P(JobLapseTest, AReplacementMovesTheMomentOrRemovesIt) {
  const auto put = [this](const std::string& key, std::optional<Duration> expires_in) {
    return must(jobs().enqueue(
                    "q",
                    NewJob{
                        .delay = 2h, .dedupe_key = key, .dedupe_mode = DedupeMode::replace, .expires_in = expires_in}))
        .id;
  };
  const auto never = put("never", 10min), later = put("later", 10min), sooner = put("sooner", 10min);
  const auto first = put("first", {});
  EXPECT_EQ(put("never", {}), never);
  EXPECT_EQ(put("later", 20min), later);
  EXPECT_EQ(put("sooner", 5min), sooner);
  EXPECT_EQ(put("first", 5min), first);
  EXPECT_FALSE(look(never).expires_at);
  advance(5min);
  EXPECT_TRUE(nothing_to_claim());
  EXPECT_EQ(listed(JobState::lapsed), (std::vector<JobId>{first, sooner}));
  advance(5min);
  EXPECT_TRUE(nothing_to_claim());
  EXPECT_EQ(listed(JobState::deferred), (std::vector<JobId>{later, never}));
  advance(10min);
  EXPECT_TRUE(nothing_to_claim());
  EXPECT_EQ(look(later).state, JobState::lapsed);
  advance(2h);
  EXPECT_EQ(claim_one(jobs(), "q", "alice").id, never);
}

TEST_P(JobLapseTest, ADebounceKeepsTheMoment) {
  const auto id = must(jobs().enqueue("q", {.delay = 1min, .dedupe_key = "k", .expires_in = 3min})).id;
  for (int i = 0; i < 2; ++i) {
    advance(1min);
    const auto again =
        must(jobs().enqueue("q", {.delay = 2min, .dedupe_key = "k", .dedupe_mode = DedupeMode::debounce}));
    EXPECT_EQ(again.id, id);
    EXPECT_TRUE(again.updated);
  }
  advance(1min);
  EXPECT_TRUE(nothing_to_claim());
  EXPECT_EQ(look(id).state, JobState::lapsed);
}

}  // namespace
}  // namespace leasehold::support

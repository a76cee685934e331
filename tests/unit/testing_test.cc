// testing.h, as users' tests meet it.
#include "leasehold/testing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "leasehold/leasehold.h"
#include "leasehold/worker.h"
#include "support/job_helpers.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using support::fails;
using support::lost;
using support::must;
using support::ok;

Verdict complete(const Job&, JobContext&) { return Verdict::complete(); }

void must(const Result<void>& result) { result.value(); }

template <typename T>
std::string printed(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::size_t threads_of_this_process() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

class TestingTest : public ::testing::Test {
 protected:
  JobId add(const std::string& queue, const NewJob& job = {}) { return must(store_.jobs().enqueue(queue, job)).id; }
  JobState state_of(JobId id) { return must(store_.jobs().show(id)).state; }
  WorkSummary drained(Worker& worker) { return must(drain(worker)); }

  TestStore store_;
};

// The clock.

TEST_F(TestingTest, TheClockStandsStillUntilTheTestMovesIt) {
  EXPECT_EQ(store_.now(), test_start);
  std::this_thread::sleep_for(2ms);
  EXPECT_EQ(must(store_.status()).store_now, test_start);
  store_.advance(31s);
  EXPECT_EQ(store_.now(), test_start + 31s);
  EXPECT_EQ(must(store_.status()).store_now, store_.now());
}

TEST_F(TestingTest, ATestChoosesWhereTheClockStarts) {
  const Timestamp start = test_start + 24h * 365 * 20;
  const TestStore later(start);
  EXPECT_EQ(must(later.status()).store_now, start);
  later.advance_to(start + 90min);
  EXPECT_EQ(must(later.status()).store_now, start + 90min);
}

TEST_F(TestingTest, EveryStoreIsEmptyAndItsOwn) {
  const TestStore other;
  add("mail");
  store_.advance(1h);
  EXPECT_TRUE(must(enqueued(other)).empty());
  EXPECT_EQ(other.now(), test_start);
}

TEST_F(TestingTest, CopiesAndHandlesOutliveTheTestStore) {
  auto gone = std::make_unique<TestStore>();
  const TestStore copy = *gone;
  const Store store = *gone;
  const auto jobs = gone->jobs();
  gone.reset();
  copy.advance(1min);
  EXPECT_EQ(must(store.status()).store_now, test_start + 1min);
  EXPECT_TRUE(ok(jobs.enqueue("mail", NewJob{})));
}

using TestingDeathTest = TestingTest;

TEST_F(TestingDeathTest, TheClockNeverMovesBack) {
  EXPECT_DEATH(store_.advance(-1s), "moves forward only, not by -1s");
  EXPECT_DEATH(store_.advance_to(store_.now() - 1min), "moves forward only");
}

// Leases that expire.

TEST_F(TestingTest, AnExpiredLockCanBeTaken) {
  const auto grant = must(store_.locks().acquire("deploy", {.ttl = 1h}));
  ASSERT_TRUE(
      fails(store_.locks().acquire("deploy", {}, {.holder = Holder{.name = "bo", .instance = "b"}}), Errc::held));
  ASSERT_TRUE(ok(store_.expire(grant)));
  EXPECT_TRUE(lost(store_.locks().heartbeat("deploy", grant.token), LostReason::expired));
  EXPECT_TRUE(ok(store_.locks().acquire("deploy", {}, {.holder = Holder{.name = "bo", .instance = "b"}})));
  EXPECT_EQ(store_.now(), test_start);
}

TEST_F(TestingTest, AHeldLockStopsItsWorkAtOnce) {
  auto held = must(store_.locks().hold("deploy", {.ttl = 1h}));
  ASSERT_TRUE(ok(store_.expire(held)));
  for (const auto give_up = BootClock::now() + 5s; !held.stop_token().stop_requested() && BootClock::now() < give_up;) {
    std::this_thread::sleep_for(1ms);
  }
  ASSERT_TRUE(held.lost());
  EXPECT_EQ(held.lost()->lost_reason, LostReason::expired);
}

TEST_F(TestingTest, OnlyTheNamedLeaseExpires) {
  const auto mine = must(store_.locks().acquire("mine", {}));
  must(store_.locks().acquire("yours", {}));
  ASSERT_TRUE(ok(store_.expire("lock", "yours")));
  EXPECT_TRUE(ok(store_.locks().heartbeat("mine", mine.token)));
  EXPECT_EQ(must(store_.locks().show("yours")).state, LeaseState::expired);
}

TEST_F(TestingTest, AnExpiredJobCostsACrashAndRunsAgain) {
  const auto id = add("mail");
  const auto grant = must(store_.jobs().claim("mail"));
  ASSERT_TRUE(ok(store_.expire(grant.jobs.front())));
  EXPECT_EQ(state_of(id), JobState::expired);
  const auto again = must(store_.jobs().claim("mail"));
  EXPECT_EQ(again.jobs.front().id, id);
  EXPECT_EQ(must(store_.jobs().show(id)).crashes, 1);
}

TEST_F(TestingTest, AGrantOfManyJobsExpiresAsAWhole) {
  const std::vector<JobId> ids = {add("mail"), add("mail")};
  const auto grant = must(store_.jobs().claim("mail", {.max = 2}));
  ASSERT_TRUE(ok(store_.expire(grant)));
  for (const auto id : ids) EXPECT_EQ(state_of(id), JobState::expired);
}

TEST_F(TestingTest, AnExpiredSessionIsStale) {
  const auto session = must(store_.sessions().open({.label = "refactor"}));
  ASSERT_TRUE(ok(store_.expire("session", session.key)));
  EXPECT_EQ(must(store_.sessions().show(session.key)).state, SessionState::stale);
}

TEST_F(TestingTest, AnIdleWorkersLeaseExpires) {
  const auto lease = must(store_.jobs().open_lease(30s));
  ASSERT_TRUE(ok(store_.expire(lease)));
  EXPECT_TRUE(lost(store_.jobs().extend(lease), LostReason::expired));
}

TEST_F(TestingTest, WhatIsNotHeldCannotExpire) {
  EXPECT_TRUE(fails(store_.expire("lock", "it's free"), Errc::not_found));
  const auto grant = must(store_.locks().acquire("deploy", {}));
  must(store_.locks().release("deploy", grant.token));
  EXPECT_TRUE(fails(store_.expire(grant), Errc::not_found));
}

// Draining.

TEST_F(TestingTest, ADrainRunsEveryJobThatIsDueInOrder) {
  std::vector<std::string> order;
  Worker worker(store_, {.concurrency = 8});
  worker.handle("mail", [&](const Job& job, JobContext&) {
    order.push_back(job.payload);
    return Verdict::complete();
  });
  add("mail", {.payload = "second"});
  add("mail", {.payload = "third"});
  add("mail", {.payload = "first", .priority = 5});
  const auto summary = drained(worker);
  EXPECT_EQ(order, (std::vector<std::string>{"first", "second", "third"}));
  EXPECT_EQ(printed(summary), "claimed 3: completed 3");
  EXPECT_EQ(summary.refusal->code, Errc::empty);
  EXPECT_EQ(printed(drained(worker)), "claimed 0");
}

TEST_F(TestingTest, HandlersRunOnTheCallingThreadAndNoThreadIsLeft) {
  // The first drain of a process may start threads that serve all of it.
  Worker worker(store_);
  std::vector<std::thread::id> ran_on;
  worker.handle("mail", [&](const Job&, JobContext&) {
    ran_on.push_back(std::this_thread::get_id());
    return Verdict::complete();
  });
  drained(worker);
  const auto before = threads_of_this_process();
  add("mail");
  drained(worker);
  EXPECT_EQ(ran_on, std::vector{std::this_thread::get_id()});
  EXPECT_EQ(threads_of_this_process(), before);
}

TEST_F(TestingTest, AJobThatAHandlerEnqueuesIsRunToo) {
  Worker worker(store_);
  worker.handle("parent", [&](const Job&, JobContext&) {
    add("child");
    return Verdict::complete();
  });
  worker.handle("child", complete);
  add("parent");
  EXPECT_EQ(drained(worker).completed, 2);
}

TEST_F(TestingTest, LaterJobsAndRetriesRunAfterAnAdvance) {
  const auto later = add("mail", {.payload = "later", .delay = 10min});
  bool server_is_down = true;
  Worker worker(store_);
  worker.handle("mail", [&](const Job&, JobContext&) {
    return server_is_down ? Verdict::fail("the mail server is down") : Verdict::complete();
  });
  const auto first = add("mail", {.backoff = {.base = 1min, .exponential = false}});
  EXPECT_EQ(printed(drained(worker)), "claimed 1: failed 1");
  EXPECT_EQ(state_of(first), JobState::deferred);
  server_is_down = false;
  EXPECT_EQ(drained(worker).claimed, 0);
  store_.advance(2min);
  EXPECT_EQ(drained(worker).completed, 1);
  EXPECT_EQ(state_of(later), JobState::deferred);
  store_.advance(8min);
  EXPECT_EQ(drained(worker).completed, 1);
}

TEST_F(TestingTest, AnExceptionIsAFailure) {
  Worker worker(store_);
  worker.handle("mail", [](const Job&, JobContext&) -> Verdict { throw std::runtime_error("no such letter"); });
  const auto id = add("mail");
  EXPECT_EQ(drained(worker).failed, 1);
  EXPECT_EQ(must(store_.jobs().show(id)).error, "no such letter");
}

TEST_F(TestingTest, AHandlerLearnsOfACancelWhenItReportsProgress) {
  Worker worker(store_);
  std::optional<StopReason> why;
  worker.handle("mail", [&](const Job& job, JobContext& context) {
    must(store_.jobs().cancel(job.id));
    EXPECT_FALSE(context.stop_requested());
    context.progress({.percent = 50, .message = "half"});
    why = context.stop_reason();
    return Verdict::release();
  });
  const auto id = add("mail");
  EXPECT_EQ(drained(worker).cancelled, 1);
  EXPECT_EQ(why, StopReason::cancelled);
  EXPECT_EQ(state_of(id), JobState::cancelled);
}

TEST_F(TestingTest, AHandlerLearnsThatItsLeaseIsLost) {
  Worker worker(store_);
  std::optional<StopReason> why;
  worker.handle("mail", [&](const Job& job, JobContext& context) {
    if (job.attempt > 1) return Verdict::complete();
    must(store_.expire(job));
    context.progress({});
    why = context.stop_reason();
    return Verdict::complete();
  });
  add("mail");
  const auto summary = drained(worker);
  EXPECT_EQ(why, StopReason::lost);
  EXPECT_EQ(printed(summary), "claimed 2: completed 1, lost 1");
}

TEST_F(TestingTest, AHandlerThatTakesTooLongHasFailedWhateverItReturns) {
  Worker worker(store_, {.timeout = 10min});
  worker.handle("mail", [&](const Job& job, JobContext&) {
    // Also with a lease that has expired meanwhile: a worker's heartbeats would have extended it.
    store_.advance(job.payload == "slow" ? 10min : 10min - 1us);
    return Verdict::complete();
  });
  const auto slow = add("mail", {.payload = "slow", .priority = 1, .max_failures = 1});
  const auto quick = add("mail", {.payload = "quick"});
  EXPECT_EQ(printed(drained(worker)), "claimed 2: completed 1, failed 1");
  EXPECT_EQ(must(store_.jobs().show(slow)).error, "timed out after 10m");
  EXPECT_EQ(must(store_.jobs().show(slow)).failures, 1);
  EXPECT_EQ(state_of(quick), JobState::completed);
}

TEST_F(TestingTest, AHandlerLearnsOfItsTimeLimitWhenItReportsProgressOrSaves) {
  Worker worker(store_);
  std::vector<std::optional<StopReason>> whys;
  const auto note = [&](JobContext& context) {
    whys.push_back(context.stop_reason());
    return Verdict::complete();
  };
  worker.handle("progress", [&](const Job&, JobContext& context) {
    store_.advance(1min);
    context.progress({.message = "half"});
    return note(context);
  });
  worker.handle("save", [&](const Job&, JobContext& context) {
    store_.advance(10s);
    EXPECT_TRUE(lost(context.save("1"), LostReason::timed_out));
    return note(context);
  });
  add("progress", {.timeout = 1min, .max_failures = 1});
  add("save", {.timeout = 10s, .max_failures = 1});
  EXPECT_EQ(printed(drained(worker)), "claimed 2: failed 2");
  EXPECT_EQ(whys, (std::vector<std::optional<StopReason>>(2, StopReason::timed_out)));
}

TEST_F(TestingTest, ProgressIsThereAtOnce) {
  Worker worker(store_);
  worker.handle("mail", [&](const Job& job, JobContext& context) {
    context.progress({.percent = 50, .message = "half"});
    EXPECT_EQ(must(store_.jobs().show(job.id)).message, "half");
    return Verdict::complete();
  });
  add("mail");
  EXPECT_EQ(drained(worker).completed, 1);
}

TEST_F(TestingTest, APausedQueueIsLeftAlone) {
  must(store_.queues().pause("mail", "the provider is down"));
  Worker worker(store_);
  worker.handle("mail", complete);
  add("mail");
  EXPECT_EQ(drained(worker).refusal->code, Errc::paused);
  must(store_.queues().resume("mail"));
  EXPECT_EQ(drained(worker).completed, 1);
}

TEST_F(TestingTest, ADrainWithoutEndSaysSo) {
  Worker worker(store_);
  worker.handle("mail", [](const Job&, JobContext&) { return Verdict::release(); });
  add("mail");
  const auto summary = drain(worker);
  ASSERT_TRUE(fails(summary, Errc::busy));
  EXPECT_NE(summary.error().message.find("does a handler of mail enqueue, release or retry"), std::string::npos);
}

TEST_F(TestingTest, AWorkerWithoutAHandlerIsRefused) {
  Worker worker(store_);
  EXPECT_TRUE(fails(drain(worker), Errc::invalid_argument));
}

// Enqueued jobs.

TEST_F(TestingTest, UnfinishedJobsAreListedAsTheyWereEnqueued) {
  const auto first = add("mail", {.payload = "a"});
  const auto second = add("mail", {.payload = "b", .delay = 1h});
  add("other");
  const auto done = must(store_.jobs().claim("other"));
  must(store_.jobs().complete(done.jobs.front().id, done.token));
  const auto mail = must(enqueued(store_, "mail"));
  ASSERT_EQ(mail.size(), 2U);
  EXPECT_EQ(mail[0].id, first);
  EXPECT_EQ(mail[0].payload, "a");
  EXPECT_EQ(mail[1].id, second);
  EXPECT_EQ(mail[1].due_at, store_.now() + 1h);
  EXPECT_TRUE(must(enqueued(store_, "other")).empty());
  EXPECT_EQ(must(enqueued(store_)).size(), 2U);
}

TEST_F(TestingTest, MoreJobsThanAPageAreListed) {
  const std::vector<NewJob> many(1500, NewJob{.payload = "x"});
  must(store_.jobs().enqueue("mail", many));
  EXPECT_EQ(must(enqueued(store_, "mail")).size(), 1500U);
}

TEST_F(TestingTest, AJobIsFoundByWhatItCarries) {
  add("mail", {.payload = "ann"});
  const auto bo = add("mail", {.payload = "bo"});
  EXPECT_EQ(must(find_enqueued(store_, "mail", [](const auto& job) { return job.payload == "bo"; })).id, bo);
}

TEST_F(TestingTest, AMissingJobIsReportedWithThoseThatAreThere) {
  const auto nothing = [](const EnqueuedJob&) { return false; };
  EXPECT_EQ(find_enqueued(store_, "mail", nothing).error().message, "queue mail has no unfinished job");
  add("mail", {.payload = "ann", .priority = 5});
  add("mail", {.payload = "bo", .delay = 1min, .dedupe_key = "bo"});
  const auto missing = find_enqueued(store_, "mail", nothing);
  ASSERT_TRUE(fails(missing, Errc::not_found));
  EXPECT_EQ(missing.error().message,
            "no job of queue mail matches; it has"
            "\n  job 1 of mail: available, priority 5: ann"
            "\n  job 2 of mail: deferred until 2026-01-01T00:01:00Z, dedupe key bo: bo");
}

// The example at the top of testing.h, word for word.

void sign_up(const Store& store, const std::string& name) {
  store.jobs().enqueue("mail", {.payload = R"({"to":")" + name + R"("})"}).value();
}

Verdict send_mail(const Job& job, JobContext& /*context*/) {
  return job.attempt == 1 ? Verdict::fail("the mail server is down") : Verdict::complete();
}

TEST(TestingExampleTest, AMailIsSentAgain) {
  TestStore store;
  sign_up(store, "ann");
  const auto mail = enqueued(store, "mail");
  ASSERT_EQ(mail->size(), 1U);
  EXPECT_EQ(mail->front().payload, R"({"to":"ann"})");

  Worker worker(store);
  worker.handle("mail", send_mail);
  EXPECT_EQ(drain(worker)->failed, 1);
  store.advance(1min);
  EXPECT_EQ(drain(worker)->completed, 1);
}

}  // namespace
}  // namespace leasehold

// Real workers that die, freeze and wake up again: no job is lost, none completes twice, every late write is refused.
//
// The worker below dies by its own hand, at the point that FAILPOINT names: nothing but kill -9 is as sudden, and only
// the worker itself can be killed exactly there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <thread>

#include "store/store.h"
#include "support/fault_backend.h"
#include "support/job_helpers.h"
#include "support/pgbouncer.h"
#include "support/postgres_server.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

std::string word(const Error& error) {
  return error.lost_reason ? std::string("lost ") + to_string(*error.lost_reason) : to_string(error.code);
}

/// Dies here, if the test chose this place.
void failpoint(const std::string& name) {
  if (env("FAILPOINT") == name) ::kill(::getpid(), SIGKILL);
}

/// Counts as another host: only the lease shows that this worker has died.
JobClaimOptions as_worker(int max) {
  auto options = claiming(max, 500ms);
  options.wait = 10s;
  return options;
}

/// Claims once and completes job by job.
LEASEHOLD_ROLE(doomed_worker) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  const auto jobs = store->jobs();
  failpoint("before claim");
  const auto grant = jobs.claim("q", as_worker(std::stoi(env("MOST"))), by("child"));
  if (!grant) return 1;
  failpoint("after claim");
  for (const auto& job : grant->jobs) {
    if (!jobs.heartbeat(job.id, job.token, {.percent = 10, .stage = "testing"})) return 1;
    failpoint("after heartbeat");
    failpoint("before complete");
    if (!jobs.complete(job.id, job.token)) return 1;
    failpoint("after complete");
  }
  return 0;
}

struct Death {
  const char* name;
  const char* failpoint;
  int max;
  int done;  ///< what it had completed before
};

void PrintTo(const Death& death, std::ostream* out) { *out << death.name; }

class JobCrashTest : public ::testing::TestWithParam<std::tuple<StoreKind, Death>> {
 protected:
  static const Death& death() { return std::get<1>(GetParam()); }

  /// Until nothing is left of them.
  void work_off(int jobs) {
    for (int done = 0; done < jobs;) {
      auto options = claiming(10, 30s);
      options.wait = 20s;
      const auto grant = claim(jobs_, "q", options, by("parent"));
      for (const auto& job : grant.jobs) must(jobs_.complete(job.id, job.token));
      done += static_cast<int>(grant.jobs.size());
    }
  }

  TestStore store_{std::get<0>(GetParam()), {.real_time = true}};
  Store opened_ = store_.open();
  Jobs jobs_ = opened_.jobs();
};

/// "": every one of these jobs has completed, and only once.
std::string wrongly_finished(TestStore& store) {
  std::string wrong;
  for (const auto& row :
       store.rows("SELECT j.id, count(s.job_id) FROM " + store.table("job") + " AS j LEFT JOIN " +
                  store.table("settled") + " AS s ON s.job_id = j.id AND s.outcome = 'completed' GROUP BY j.id")) {
    if (row[1] != "1") wrong += "job " + row[0].value_or("?") + " completed " + row[1].value_or("?") + " times; ";
  }
  return wrong;
}

TEST_P(JobCrashTest, JobsOfAKilledWorkerAreFinishedByOthers) {
  constexpr int count = 4;
  const auto ids = add_many(jobs_, "q", count);
  auto worker = Process::self(
      "doomed_worker",
      {{"STORE_URL", store_.url()}, {"FAILPOINT", death().failpoint}, {"MOST", std::to_string(death().max)}});
  ASSERT_EQ(worker.finish(20s).signal, SIGKILL);
  Token last_token;
  for (const auto id : ids) last_token = std::max(last_token, must(jobs_.show(id)).token);
  EXPECT_EQ(static_cast<int>(must(jobs_.list({.state = JobState::completed})).size()), death().done);
  work_off(count - death().done);
  EXPECT_EQ(wrongly_finished(store_), "");
  for (const auto id : ids) EXPECT_EQ(outcomes_of(jobs_, id).back(), "completed");
  EXPECT_TRUE(fails(jobs_.claim("q", claiming(), by("parent")), Errc::empty));
  // The dead one's token opens nothing any more, whatever it would have said.
  const auto before = store_.dump();
  for (const auto id : ids) {
    if (must(jobs_.show(id)).token == last_token) continue;
    EXPECT_TRUE(fails(jobs_.heartbeat(id, last_token), Errc::lost));
    EXPECT_TRUE(fails(jobs_.fail(id, last_token), Errc::lost));
    EXPECT_TRUE(fails(jobs_.release(id, last_token), Errc::lost));
  }
  EXPECT_EQ(store_.dump(), before);
}

TEST_P(JobCrashTest, NothingIsLeftOverInTheTables) {
  add_many(jobs_, "q", 4);
  Process::self("doomed_worker",
                {{"STORE_URL", store_.url()}, {"FAILPOINT", death().failpoint}, {"MOST", std::to_string(death().max)}})
      .finish(20s);
  work_off(4 - death().done);
  // A grant whose last job completed just before the end is removed by the next call that finds it.
  ASSERT_TRUE(eventually([&] {
    must(opened_.recover());
    return store_.scalar("SELECT count(*) FROM " + store_.table("job_grant")) == "0";
  }));
  EXPECT_EQ(store_.scalar("SELECT count(*) FROM " + store_.table("lease") + " WHERE ended_at IS NULL"), "0");
  EXPECT_EQ(store_.scalar("SELECT count(*) FROM " + store_.table("ready")), "0");
  EXPECT_EQ(store_.scalar("SELECT count(*) FROM " + store_.table("progress")), "0");
}

std::string death_name(const ::testing::TestParamInfo<std::tuple<StoreKind, Death>>& info) {
  return word_of(std::get<0>(info.param)) + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Deaths, JobCrashTest,
                         ::testing::Combine(::testing::Values(StoreKind::sqlite, StoreKind::postgres),
                                            ::testing::Values(Death{"BeforeClaim", "before claim", 1, 0},
                                                              Death{"AfterClaim", "after claim", 1, 0},
                                                              Death{"AfterClaimOfMany", "after claim", 3, 0},
                                                              Death{"AfterHeartbeat", "after heartbeat", 1, 0},
                                                              Death{"BeforeComplete", "before complete", 3, 0},
                                                              Death{"AfterComplete", "after complete", 1, 1},
                                                              Death{"AfterCompleteOfMany", "after complete", 3, 1})),
                         death_name);

/// Claims, reports it, and is stopped; once it continues, it tries every act of a late holder.
LEASEHOLD_ROLE(sleepy_worker) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  const auto jobs = store->jobs();
  const auto grant = jobs.claim("q", as_worker(1), by("child"));
  if (!grant) return 1;
  const auto& job = grant->jobs.front();
  std::cout << "claimed" << std::endl;
  ::raise(SIGSTOP);
  const auto beat = jobs.heartbeat(job.id, job.token);
  const auto completed = jobs.complete(job.id, job.token, "late");
  const auto failed = jobs.fail(job.id, job.token);
  const auto released = jobs.release(job.id, job.token);
  std::cout << (beat ? "extended" : word(beat.error())) << std::endl;
  for (const auto* settled : {&completed, &failed, &released}) {
    std::cout << (*settled ? "settled" : word(settled->error())) << std::endl;
  }
  return 0;
}

class JobFreezeTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  TestStore store_{GetParam(), {.real_time = true}};
  Store opened_ = store_.open();
  Jobs jobs_ = opened_.jobs();
};
LEASEHOLD_ON_BOTH_STORES(JobFreezeTest);

TEST_P(JobFreezeTest, AFrozenWorkerThatWakesUpLateChangesNothing) {
  const auto id = add(jobs_, "q", {.payload = "precious"});
  auto worker = Process::self("sleepy_worker", {{"STORE_URL", store_.url()}});
  ASSERT_EQ(worker.read_line(10s), "claimed");
  auto options = claiming(1, 30s);
  options.wait = 20s;
  const auto job = claim(jobs_, "q", options, by("parent")).jobs.at(0);
  EXPECT_EQ(job.id, id);
  EXPECT_EQ(job.payload, "precious");
  EXPECT_EQ(job.attempt, 2);
  worker.signal(SIGCONT);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(worker.read_line(10s), "lost expired");
  EXPECT_EQ(worker.finish(10s).exit_code, 0);
  EXPECT_TRUE(ok(jobs_.complete(id, job.token, "in time"))) << "the new holder noticed nothing";
  EXPECT_EQ(must(jobs_.result(id)), "in time");
  EXPECT_EQ(outcomes_of(jobs_, id), (std::vector<std::string>{"expired", "completed"}));
}

/// Works until it is killed.
LEASEHOLD_ROLE(tireless_worker) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  const auto jobs = store->jobs();
  std::cout << "working" << std::endl;
  for (;;) {
    auto options = as_worker(3);
    options.wait = 100ms;
    const auto grant = jobs.claim("q", options, by("child"));
    if (!grant) continue;
    for (const auto& job : grant->jobs) static_cast<void>(jobs.complete(job.id, job.token));
  }
}

TEST_P(JobFreezeTest, KillingWorkersAtAnyMomentLosesNothing) {
  constexpr int count = 300;
  add_many(jobs_, "q", count);
  const auto completed = [&] {
    return std::stoi(store_.scalar("SELECT count(*) FROM " + store_.table("settled") + " WHERE outcome = 'completed'"));
  };
  for (int round = 1; round <= 3; ++round) {
    std::vector<Process> workers;
    for (int i = 0; i < 3; ++i) workers.push_back(Process::self("tireless_worker", {{"STORE_URL", store_.url()}}));
    for (auto& worker : workers) ASSERT_EQ(worker.read_line(10s), "working");
    ASSERT_TRUE(eventually([&] { return completed() >= round * 50; }, 30s));
    for (auto& worker : workers) worker.signal(SIGKILL);
  }
  auto survivor = Process::self("tireless_worker", {{"STORE_URL", store_.url()}});
  EXPECT_TRUE(eventually([&] { return completed() >= count; }, 60s));
  EXPECT_EQ(wrongly_finished(store_), "");
}

TEST_P(JobFreezeTest, AnUntidiedGrantIsNoCrash) {
  TestStore store(GetParam());
  const auto faults = std::make_shared<FaultBackend>(store.open_backend());
  const auto dying = store_over(faults, {}).jobs();
  const auto ids = add_many(dying, "q", 3);
  const auto grant = claim(dying, "q", claiming(3, 30s), by("child"));
  // As if it died between the commit of its last verdict and the tidying up.
  faults->fail_next(Fault::fail_before_send, 1, "job_tidy");
  for (const auto& job : grant.jobs) must(dying.complete(job.id, job.token));
  store.advance(31s);
  const auto opened = store.open();
  EXPECT_TRUE(fails(opened.jobs().claim("q", claiming(), by("parent")), Errc::empty));
  const auto recovered = must(opened.recover());
  EXPECT_EQ(recovered.jobs + recovered.failed, 0);
  for (const auto id : ids) EXPECT_EQ(outcomes_of(opened.jobs(), id), std::vector<std::string>{"completed"});
  EXPECT_EQ(store.scalar("SELECT count(*) FROM " + store.table("job_grant")), "0");
  EXPECT_EQ(store.scalar("SELECT count(*) FROM " + store.table("lease") + " WHERE ended_at IS NULL"), "0");
}

/// Claims and completes until everything is done, whatever the network does meanwhile; what surprised it.
std::vector<std::string> work_through(const Jobs& jobs, const std::string& name, const std::stop_token& stop) {
  std::vector<std::string> surprises;
  const auto note = [&](const Error& error) {
    const bool expected = error.code == Errc::unavailable || error.code == Errc::in_doubt || error.code == Errc::busy ||
                          error.code == Errc::empty ||
                          (error.code == Errc::lost && error.lost_reason == LostReason::expired);
    if (!expected) surprises.push_back(name + ": " + describe(error));
  };
  while (!stop.stop_requested()) {
    auto options = claiming(2, 1s);
    options.wait = 100ms;
    const auto grant = jobs.claim("q", options, by(name));
    if (!grant) note(grant.error());
    if (!grant) continue;
    for (const auto& job : grant->jobs) {
      const auto settled = jobs.complete(job.id, job.token);
      if (!settled) note(settled.error());
    }
  }
  return surprises;
}

struct Crew {
  std::vector<std::vector<std::string>> surprises{4};
  std::vector<std::jthread> threads;

  explicit Crew(const std::vector<Store>& stores) {
    for (std::size_t i = 0; i < surprises.size(); ++i) {
      threads.emplace_back([this, i, jobs = stores[i % stores.size()].jobs()](const std::stop_token& stop) {
        surprises[i] = work_through(jobs, "worker-" + std::to_string(i), stop);
      });
    }
  }
  std::vector<std::string> finish() {
    threads.clear();
    std::vector<std::string> all;
    for (const auto& some : surprises) all.insert(all.end(), some.begin(), some.end());
    return all;
  }
};

constexpr const char* finished_wrongly =
    "SELECT count(*) FROM (SELECT j.id FROM leasehold_internal.job AS j LEFT JOIN leasehold_internal.settled AS s ON "
    "s.job_id = j.id AND "
    "s.outcome = 'completed' GROUP BY j.id HAVING count(s.job_id) <> 1) AS wrong";

TEST(JobRestartTest, WorkGoesOnAfterPostgresCrashed) {
  PostgresServer server;
  const auto store = must(Store::open(server.url(), {.migrate = MigrateOnOpen::yes, .call_timeout = 2s}));
  const auto jobs = store.jobs();
  constexpr int count = 600;
  add_many(jobs, "q", count);
  const auto completed = [&] {
    const auto info = store.queues().show("q");
    return info ? count - info->available - info->running - info->expired : -1;
  };
  Crew crew({store});
  for (int crash = 1; crash <= 2; ++crash) {
    ASSERT_TRUE(eventually([&] { return completed() >= crash * 100; }, 30s));
    server.kill9();
    server.restart();
    ASSERT_TRUE(eventually([&] { return store.status().ok(); }, 30s));
  }
  EXPECT_TRUE(eventually([&] { return completed() == count; }, 60s));
  EXPECT_EQ(crew.finish(), std::vector<std::string>{});
  EXPECT_EQ(PgConnection(server.url()).scalar(finished_wrongly), "0");
}

TEST(JobPgBouncerTest, WorkIsDoneThroughAPoolerInTransactionMode) {
  TestStore direct(StoreKind::postgres, {.real_time = true});
  const PgBouncer bouncer(direct.database_url());
  std::vector<Store> stores;
  for (int i = 0; i < 2; ++i) stores.push_back(must(Store::open(bouncer.url() + "?schema=" + direct.schema())));
  const auto jobs = stores[0].jobs();
  constexpr int count = 200;
  add_many(jobs, "q", count);
  Crew crew(stores);
  EXPECT_TRUE(eventually([&] { return wrongly_finished(direct).empty(); }, 60s));
  EXPECT_EQ(crew.finish(), std::vector<std::string>{});
  const auto id = add(jobs, "q");
  const auto lease = must(jobs.open_lease(30s, by("worker")));
  const auto job = must(jobs.claim("q", {}, {.lease = lease})).jobs.at(0);
  EXPECT_EQ(job.id, id);
  EXPECT_TRUE(ok(jobs.extend(lease)));
  EXPECT_TRUE(ok(jobs.heartbeat(job.id, job.token, {.percent = 50})));
  EXPECT_TRUE(ok(jobs.snooze(job.id, job.token, 1h)));
  EXPECT_TRUE(ok(jobs.cancel(id)));
  EXPECT_TRUE(ok(jobs.retry(id)));
  EXPECT_TRUE(ok(jobs.close(lease)));
  EXPECT_TRUE(ok(stores[1].recover()));
}

}  // namespace
}  // namespace leasehold::support

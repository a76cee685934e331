// Many at once: one winner, nothing twice, nothing lost. Threads of several stores over one database.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobRaceTest : public StoreTest {
 protected:
  /// `act(number, its own store)` in so many threads at once.
  void race(int threads, const std::function<void(int, Store&)>& act) {
    std::vector<Store> stores;
    for (int i = 0; i < 4; ++i) stores.push_back(open());
    std::barrier start(threads);
    std::vector<std::jthread> racers;
    for (int i = 0; i < threads; ++i) {
      racers.emplace_back([&, i] {
        start.arrive_and_wait();
        act(i, stores[static_cast<std::size_t>(i) % stores.size()]);
      });
    }
  }
};
LEASEHOLD_ON_BOTH_STORES(JobRaceTest);

TEST_P(JobRaceTest, AThousandClaimersOnOneJobOneWinner) {
  add(jobs(), "q");
  std::atomic<int> winners = 0;
  std::atomic<int> wrong = 0;
  race(50, [&](int number, Store& store) {
    for (int i = 0; i < 20; ++i) {
      const auto grant = store.jobs().claim("q", claiming(), by("claimer-" + std::to_string(number)));
      if (grant) ++winners;
      if (!grant && grant.error().code != Errc::empty && grant.error().code != Errc::busy) ++wrong;
    }
  });
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(wrong, 0);
}

TEST_P(JobRaceTest, EveryJobIsWorkedOnOnce) {
  constexpr int count = 400;
  add_many(jobs(), "q", count);
  std::mutex mutex;
  std::map<JobId, int> worked;
  race(8, [&](int number, Store& store) {
    int quiet = 0;
    while (quiet < 3) {
      const auto grant = store.jobs().claim("q", claiming(1 + number % 3), by("worker-" + std::to_string(number)));
      if (!grant) {
        ++quiet;
        continue;
      }
      for (const auto& job : grant->jobs) {
        ASSERT_TRUE(ok(store.jobs().complete(job.id, job.token)));
        const std::lock_guard lock(mutex);
        ++worked[job.id];
      }
    }
  });
  EXPECT_EQ(worked.size(), static_cast<std::size_t>(count));
  for (const auto& [id, times] : worked) EXPECT_EQ(times, 1) << id;
  EXPECT_EQ(must(queues().show("q")).available, 0);
}

/// The fate of each job, as the callers that took part report it.
class Outcomes {
 public:
  void add(const std::vector<JobId>& ids) {
    const std::lock_guard lock(mutex_);
    for (const auto id : ids) added_.insert(id);
  }
  void note(JobId id, const std::string& outcome) {
    const std::lock_guard lock(mutex_);
    reported_[id].push_back(outcome);
  }
  std::map<JobId, std::vector<std::string>> reported() {
    const std::lock_guard lock(mutex_);
    return reported_;
  }
  std::set<JobId> added() {
    const std::lock_guard lock(mutex_);
    return added_;
  }

 private:
  std::mutex mutex_;
  std::set<JobId> added_;
  std::map<JobId, std::vector<std::string>> reported_;
};

/// Claims and completes until nothing is there any more and nothing comes; not for ever, since a job out of reach would
/// keep it busy.
void work_off(const Jobs& jobs, const std::string& name, int max, const std::atomic<int>& producers,
              Outcomes& outcomes) {
  const auto end = BootClock::now() + 30s;
  for (int quiet = 0; quiet < 3 && BootClock::now() < end;) {
    const bool last = producers == 0;
    const auto grant = jobs.claim("q", claiming(max), by(name));
    if (!grant) {
      ASSERT_TRUE(grant.error().code == Errc::empty || grant.error().code == Errc::busy) << describe(grant.error());
      if (last && grant.error().code == Errc::empty) ++quiet;
      continue;
    }
    for (const auto& job : grant->jobs) {
      ASSERT_TRUE(ok(jobs.complete(job.id, job.token)));
      outcomes.note(job.id, "completed");
    }
  }
}

TEST_P(JobRaceTest, Promise15_EveryJobHasOneOutcomeUnderClaimsEnqueuesAndCancels) {
  constexpr int producers_at_once = 2;
  constexpr int rounds = 25;
  Outcomes outcomes;
  std::atomic<int> producers = producers_at_once;
  race(8, [&](int number, Store& store) {
    const auto jobs = store.jobs();
    const auto name = "racer-" + std::to_string(number);
    if (number >= producers_at_once) {
      // Of one job, and of more than a bundle.
      constexpr int wanted[] = {1, 1, 1, 2, 5, 30};
      return work_off(jobs, name, wanted[number - producers_at_once], producers, outcomes);
    }
    for (int round = 0; round < rounds; ++round) {
      const auto ids = add_many(jobs, "q", 2 + (round + number) % 9);
      outcomes.add(ids);
      outcomes.add({add(jobs, "q")});
      outcomes.add({add(jobs, "q", {.depends_on = {ids.back()}})});
      const auto unwanted = ids[(ids.size() - 1) / 2];
      const auto state = jobs.cancel(unwanted);
      if (state && *state == JobState::cancelled) outcomes.note(unwanted, "cancelled");
    }
    --producers;
  });
  const auto reported = outcomes.reported();
  for (const auto id : outcomes.added()) {
    ASSERT_TRUE(reported.contains(id)) << id << " is " << to_string(state_of(jobs(), id));
    EXPECT_EQ(reported.at(id).size(), 1u) << id;
    EXPECT_EQ(outcomes_of(jobs(), id), reported.at(id)) << id;
  }
  EXPECT_EQ(reported.size(), outcomes.added().size());
  const auto queue = must(queues().show("q"));
  EXPECT_EQ(queue.available + queue.running + queue.blocked, 0);
}

TEST_P(JobRaceTest, Promise13_OneRequestSentByManyAtOnceIsGrantedOnce) {
  constexpr int rounds = 20;
  add_many(jobs(), "q", rounds * 20);
  std::int64_t granted = 0;
  for (int round = 0; round < rounds; ++round) {
    auto options = claiming(5);
    options.request_id = "request-" + std::to_string(round);
    std::mutex mutex;
    std::vector<Result<JobGrant>> answers;
    race(4, [&](int, Store& store) {
      auto answer = store.jobs().claim("q", options, by("alice"));
      const std::lock_guard lock(mutex);
      answers.push_back(std::move(answer));
    });
    for (const auto& answer : answers) {
      ASSERT_TRUE(ok(answer));
      EXPECT_EQ(ids_of(*answer), ids_of(*answers.front()));
      EXPECT_EQ(answer->token, answers.front()->token);
    }
    // Not always five: the one that is granted skips jobs that the others have just locked.
    granted += static_cast<std::int64_t>(answers.front()->jobs.size());
    ASSERT_EQ(must(queues().show("q")).running, granted) << "no more were taken";
    ASSERT_EQ(must(queues().show("q")).available, 20 * rounds - granted) << "none was lost";
  }
}

TEST_P(JobRaceTest, ALimitIsNeverOvershot) {
  ASSERT_TRUE(ok(queues().set("q", {.max_running = 2})));
  add_many(jobs(), "q", 30);
  std::atomic<int> running = 0;
  std::atomic<int> max = 0;
  std::atomic<int> done = 0;
  race(8, [&](int number, Store& store) {
    for (int i = 0; i < 200 && done < 30; ++i) {
      const auto grant = store.jobs().claim("q", claiming(), by("worker-" + std::to_string(number)));
      if (!grant) continue;
      const int now_running = ++running;
      for (int seen = max; now_running > seen && !max.compare_exchange_weak(seen, now_running);) {
      }
      --running;
      ASSERT_TRUE(ok(store.jobs().complete(grant->jobs[0].id, grant->token)));
      ++done;
    }
  });
  EXPECT_LE(max, 2);
  EXPECT_GT(done, 0);
}

TEST_P(JobRaceTest, ConcurrentRecoveryReturnsEveryJobOnce) {
  add_many(jobs(), "q", 60);
  for (int i = 0; i < 60; ++i) claim_one(jobs(), "q", "dead-" + std::to_string(i), 30s);
  advance(31s);
  std::atomic<std::int64_t> recovered = 0;
  race(6, [&](int, Store& store) { recovered += must(store.recover()).jobs; });
  EXPECT_EQ(recovered, 60);
  EXPECT_EQ(must(queues().show("q")).available, 60);
}

TEST_P(JobRaceTest, OneDedupeKeyOneJob) {
  std::atomic<int> created = 0;
  race(16, [&](int, Store& store) {
    for (int i = 0; i < 10; ++i) {
      if (must(store.jobs().enqueue("q", {.dedupe_key = "the-one"})).created) ++created;
    }
  });
  EXPECT_EQ(created, 1);
  EXPECT_EQ(must(queues().show("q")).available, 1);
}

TEST_P(JobRaceTest, AWaitingClaimWakesForANewJob) {
  std::optional<Result<JobGrant>> answer;
  auto other = open();
  std::jthread waiter([&] {
    auto options = claiming();
    options.wait = 20s;
    answer = other.jobs().claim("q", options, by("alice"));
  });
  add(jobs(), "q");
  waiter.join();
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(ok(*answer));
}

// A call locks the counters of its batches in the order of their names, whatever the order of its verdicts.
TEST_P(JobRaceTest, VerdictsOnMixedBatchesNeitherDeadlockNorMiscount) {
  constexpr int count = 600;
  std::vector<NewJob> fresh;
  for (int i = 0; i < count; ++i) fresh.push_back({.batch = std::string(1, static_cast<char>('a' + i % 3))});
  ASSERT_TRUE(ok(jobs().enqueue("q", fresh)));
  std::vector<JobId> ends;
  for (const auto* batch : {"a", "b", "c"}) ends.push_back(add(jobs(), "end", {.on_batch_end = batch}));
  std::atomic<int> settled = 0;
  race(2, [&](int number, Store& store) {
    const auto end = BootClock::now() + 30s;
    while (settled < count && BootClock::now() < end) {
      const auto grant = store.jobs().claim("q", claiming(10), by("worker-" + std::to_string(number)));
      if (!grant) continue;
      std::vector<Settlement> verdicts;
      for (const auto& job : grant->jobs) {
        verdicts.push_back({job.id, job.token, job.id % 7 == 0 ? Verdict::fail_finally("no") : Verdict::complete()});
      }
      if (number == 1) std::reverse(verdicts.begin(), verdicts.end());
      for (const auto& answer : must(store.jobs().settle(verdicts))) {
        EXPECT_TRUE(ok(answer));
        ++settled;
      }
    }
  });
  ASSERT_EQ(settled, count);
  for (const auto* batch : {"a", "b", "c"}) {
    const auto info = must(jobs().batch(batch));
    EXPECT_EQ(info.completed + info.failed, count / 3) << batch;
    EXPECT_EQ(info.unfinished, 0) << batch;
    EXPECT_TRUE(info.ended_at) << batch;
  }
  for (const auto id : ends) EXPECT_EQ(state_of(jobs(), id), JobState::available);
}

}  // namespace
}  // namespace leasehold::support

// Totals of a store: they equal what happened, and nothing lowers them.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "support/chunk_helpers.h"
#include "support/pg.h"
#include "support/schedule_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

using Numbers = std::map<std::string, std::int64_t>;

std::string words_of(const StoreCount& count) {
  std::string text;
  for (const auto& word :
       {count.kind, count.queue, count.set, count.schedule, count.state, count.cause, count.reason, count.outcome}) {
    if (!word.empty()) text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

Numbers numbers_of(const std::vector<StoreCount>& counts) {
  Numbers numbers;
  for (const auto& count : counts) numbers[words_of(count)] += count.count;
  return numbers;
}

/// All totals: "grants lock", "attempts mail completed" ...
Numbers totals_of(const StoreMetrics& metrics) {
  Numbers all;
  const auto add = [&all](const std::string& what, const std::vector<StoreCount>& counts) {
    for (const auto& [words, number] : numbers_of(counts)) {
      if (number != 0) all[what + " " + words] += number;
    }
  };
  add("grants", metrics.grants);
  add("takeovers", metrics.takeovers);
  add("ended", metrics.ended);
  add("attempts", metrics.attempts);
  add("finished", metrics.finished);
  add("schedule", metrics.schedule_runs);
  for (const auto& times : metrics.waits) all["waits " + times.queue] = times.count;
  for (const auto& times : metrics.runs) all["runs " + times.queue] = times.count;
  return all;
}

class MetricsTest : public StoreTest {
 protected:
  /// The totals up to now; on SQLite, up to the microsecond before.
  StoreMetrics metrics() {
    advance(1ms);
    return must(store().metrics());
  }
  Numbers totals() { return totals_of(metrics()); }

  /// An attempt of a new job, which ends in 5 seconds.
  JobGrant start_job(const std::string& queue, const NewJob& job = {}) {
    add(jobs(), queue, job);
    advance(2s);
    return must(jobs().claim(queue, claiming(), by("ann")));
  }
  void complete_job(const std::string& queue) {
    const auto grant = start_job(queue);
    advance(5s);
    must(jobs().complete(grant.jobs.at(0).id, grant.token));
  }
  void fail_job(const std::string& queue) {
    const auto grant = start_job(queue, {.payload = "", .max_failures = 1});
    must(jobs().fail(grant.jobs.at(0).id, grant.token, "broken"));
  }
  /// The first holder goes silent; the second completes it.
  void take_job_over(const std::string& queue) {
    start_job(queue);
    advance(31s);
    const auto grant = must(jobs().claim(queue, claiming(), by("bob")));
    must(jobs().complete(grant.jobs.at(0).id, grant.token));
  }
  void use_locks() {
    const auto first = take(locks(), "deploy", {.ttl = 30s}, by("ann"));
    must(locks().release("deploy", first.token));
    take(locks(), "deploy", {.ttl = 30s}, by("ann"));
    advance(31s);
    take(locks(), "deploy", {.ttl = 30s}, by("bob"));
    must(locks().revoke("deploy", "enough"));
    take(locks(), "other", {.ttl = 30s}, by("ann"));
    advance(31s);
    must(store().recover());
  }
  void use_sessions() {
    must(store().items().add("SD-1"));
    must(store().items().add("SD-2"));
    const auto ann = must(store().sessions().open({.id = "ann", .ttl = 30s}, by("ann")));
    const auto claim = must(store().claims().take("SD-1", "ann", {}, by("ann")));
    must_do(store().claims().release("SD-1", "ann", claim.token));
    must(store().claims().take("SD-1", "ann", {}, by("ann")));
    must(store().claims().take("SD-2", "ann", {}, by("ann")));
    advance(31s);
    const auto bob = must(store().sessions().open({.id = "bob", .ttl = 30s}, by("bob")));
    const auto taken = must(store().claims().take("SD-1", "bob", {}, by("bob")));
    must_do(store().items().done("SD-1", taken.token));
    must(store().sessions().close("bob", bob.token));
  }
  void use_chunks() {
    plan_numbers(store().chunks(), "orders", 2);
    const auto first = must(store().chunks().claim("orders", {.ttl = 30s}, by("ann")));
    must(store().chunks().complete("orders", first.chunks.at(0).key, first.chunks.at(0).token));
    must(store().chunks().claim("orders", {.ttl = 30s}, by("ann")));
    advance(31s);
    const auto last = must(store().chunks().claim("orders", {.ttl = 30s}, by("bob")));
    must(store().chunks().complete("orders", last.chunks.at(0).key, last.chunks.at(0).token));
  }
  void use_schedules() {
    must(store().schedules().set("refresh", due_now(every_ten_minutes())));
    const auto run = must(store().schedules().acquire("refresh", {}, by("ann")));
    must(store().schedules().complete("refresh", run.grant.token));
    advance(11min);
    must(store().schedules().acquire("refresh", {}, by("ann")));
    advance(31s);
    must(store().recover());
  }
  static void must_do(const Result<void>& result) {
    if (!result) throw std::runtime_error("unexpected: " + describe(result.error()));
  }
  void everything() {
    use_locks();
    complete_job("mail");
    fail_job("mail");
    take_job_over("mail");
    use_sessions();
    use_chunks();
    use_schedules();
  }
  static Numbers of_everything() {
    return {{"grants lock", 4},
            {"grants job", 4},
            {"grants session", 2},
            {"grants item", 4},
            {"grants chunk", 3},
            {"grants schedule", 2},
            {"ended lock released", 1},
            {"ended lock expired", 2},
            {"ended lock revoked", 1},
            {"ended job completed", 2},
            {"ended job failed", 1},
            {"ended job expired", 1},
            {"ended session expired", 1},
            {"ended session closed", 1},
            {"ended item released", 1},
            {"ended item expired", 2},
            {"ended item completed", 1},
            {"ended chunk completed", 2},
            {"ended chunk expired", 1},
            {"ended schedule completed", 1},
            {"ended schedule expired", 1},
            {"takeovers lock expired", 2},
            {"takeovers job expired", 1},
            {"takeovers session expired", 1},
            {"takeovers item expired", 2},
            {"takeovers chunk expired", 1},
            {"takeovers schedule expired", 1},
            {"attempts mail completed", 2},
            {"attempts mail failed", 1},
            {"attempts mail expired", 1},
            {"finished mail completed", 2},
            {"finished mail failed", 1},
            {"schedule refresh completed", 1},
            {"schedule refresh lost", 1},
            {"waits mail", 3},
            {"runs mail", 4}};
  }
};
LEASEHOLD_ON_BOTH_STORES(MetricsTest);

TEST_P(MetricsTest, TotalsEqualTheHistory) {
  EXPECT_EQ(totals(), Numbers());
  everything();
  EXPECT_EQ(totals(), of_everything());
  EXPECT_EQ(totals(), of_everything()) << "reading adds nothing";
}

TEST_P(MetricsTest, TotalsAddUpHoweverOftenTheyAreRead) {
  use_locks();
  totals();
  complete_job("mail");
  totals();
  fail_job("mail");
  take_job_over("mail");
  totals();
  use_sessions();
  use_chunks();
  totals();
  use_schedules();
  EXPECT_EQ(totals(), of_everything());
}

TEST_P(MetricsTest, OneReaderCountsOnlySoMuchAndTheNextGoesOn) {
  constexpr int in_a_step = 30'001;
  constexpr int steps = 6;
  const bool postgres = GetParam() == StoreKind::postgres;
  for (int i = 0; i < steps; ++i) {
    under_test().run("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                     std::to_string(in_a_step) + ") INSERT INTO " + under_test().table("event") +
                     " (at, kind, key, what, token, holder, host) SELECT " + (postgres ? "now()" : "0") +
                     ", 'lock', 'many', 'acquired', i, 'ann', '' FROM n");
  }
  const auto first = totals()["grants lock"];
  EXPECT_GT(first, 0);
  EXPECT_LT(first, steps * in_a_step) << "it does not wait until all is counted";
  EXPECT_EQ(totals()["grants lock"], steps * in_a_step);
}

TEST_P(MetricsTest, TimesFallInTheirBuckets) {
  for (int i = 0; i < 3; ++i) complete_job("mail");
  const auto now = metrics();
  ASSERT_EQ(now.waits.size(), 1U);
  EXPECT_EQ(now.waits.at(0).buckets, (std::vector<std::int64_t>{0, 0, 3, 0, 0, 0, 0}));
  EXPECT_NEAR(std::chrono::duration<double>(now.waits.at(0).sum).count(), 6, 0.1);
  ASSERT_EQ(now.runs.size(), 1U);
  EXPECT_EQ(now.runs.at(0).buckets, (std::vector<std::int64_t>{0, 0, 3, 0, 0, 0, 0}));
  EXPECT_NEAR(std::chrono::duration<double>(now.runs.at(0).sum).count(), 15, 0.1);
}

TEST_P(MetricsTest, PruningLowersNoTotal) {
  everything();
  const auto before = totals();
  advance(24h);
  const auto pruned = must(store().prune(1h));
  EXPECT_GT(pruned.jobs, 0);
  EXPECT_GT(pruned.events, 0);
  EXPECT_EQ(totals(), before);
}

TEST_P(MetricsTest, PruningCountsFirst) {
  everything();
  advance(24h);
  const auto pruned = must(store().prune(0s));
  EXPECT_EQ(pruned.jobs, 3);
  EXPECT_EQ(totals(), of_everything());
}

TEST_P(MetricsTest, RetentionCountsFirst) {
  everything();
  const auto before = of_everything();
  advance(31 * 24h);
  store() = open();
  for (int i = 0; i < 200; ++i) take(locks(), "busy" + std::to_string(i), {}, by("ann"));
  EXPECT_LT(must(store().events({.max = 1000})).items.size(), 260U);
  auto after = totals();
  EXPECT_EQ(after["grants lock"], before.at("grants lock") + 200);
  after["grants lock"] -= 200;
  EXPECT_EQ(after, before);
}

TEST_P(MetricsTest, AFailedJobThatIsRetriedHasFailedEvenIfItWasNotCountedInBetween) {
  fail_job("mail");
  const auto id = must(jobs().list({.state = JobState::failed})).items.at(0).id;
  must(jobs().retry(id));
  EXPECT_EQ(totals()["finished mail failed"], 1);
  const auto grant = must(jobs().claim("mail", claiming(), by("ann")));
  must(jobs().complete(grant.jobs.at(0).id, grant.token));
  const auto now = totals();
  EXPECT_EQ(now.at("finished mail failed"), 1);
  EXPECT_EQ(now.at("finished mail completed"), 1);
  EXPECT_EQ(now.at("attempts mail completed"), 1);
}

TEST_P(MetricsTest, JobsThatNeverRanFinishWithoutAnAttempt) {
  const auto id = add(jobs(), "mail");
  must(jobs().cancel(id));
  const auto now = totals();
  EXPECT_EQ(now, (Numbers{{"finished mail cancelled", 1}}));
}

TEST_P(MetricsTest, ReadersAtOnceCountNothingTwice) {
  for (int i = 0; i < 200; ++i) {
    take(locks(), "lock" + std::to_string(i), {}, by("ann"));
    if (i % 10 == 0) complete_job("mail");
  }
  advance(1ms);
  std::vector<Store> stores;
  for (int i = 0; i < 4; ++i) stores.push_back(open());
  std::vector<std::thread> readers;
  for (auto& one : stores) {
    readers.emplace_back([&one] {
      for (int i = 0; i < 5; ++i) must(one.metrics());
    });
  }
  for (auto& reader : readers) reader.join();
  const auto now = totals();
  EXPECT_EQ(now.at("grants lock"), 200);
  EXPECT_EQ(now.at("attempts mail completed"), 20);
}

TEST_P(MetricsTest, GaugesShowWhatIsThereNow) {
  add_many(jobs(), "mail", 3);
  add(jobs(), "mail", {.expires_in = 5s});
  advance(10s);
  must(jobs().claim("mail", claiming(1, 20s), by("ann")));
  must(store().recover());
  take(locks(), "deploy", {.ttl = 1h}, by("ann"));
  must(store().sessions().open({.id = "ann", .ttl = 1h}, by("ann")));
  plan_numbers(store().chunks(), "orders", 2);
  must(store().schedules().set("refresh", due_now(every_ten_minutes())));
  const auto worker = must(jobs().open_lease(1h, by("wanda"), {.queues = {"mail"}}));
  advance(30s);
  const auto now = metrics();
  EXPECT_EQ(numbers_of(now.leases).at("lock running"), 1);
  EXPECT_EQ(numbers_of(now.leases).at("job expired"), 1);
  EXPECT_EQ(numbers_of(now.leases).at("session running"), 1);
  EXPECT_EQ(numbers_of(now.jobs).at("mail available"), 2);
  EXPECT_EQ(numbers_of(now.jobs).at("mail expired"), 1);
  EXPECT_EQ(numbers_of(now.jobs).at("mail lapsed"), 1);
  EXPECT_EQ(numbers_of(now.sessions).at("active"), 1);
  EXPECT_EQ(numbers_of(now.chunks).at("orders available"), 2);
  EXPECT_EQ(numbers_of(now.workers).at("mail"), 1);
  ASSERT_EQ(now.oldest_waiting.size(), 1U);
  EXPECT_GE(now.oldest_waiting.at(0).span, 40s);
  ASSERT_EQ(now.schedule_lag.size(), 1U);
  EXPECT_GE(now.schedule_lag.at(0).span, 30s);
  EXPECT_LE(now.schedule_lag.at(0).span, 31s);
}

TEST_P(MetricsTest, NamesBeyondTheFirstShareOneNumber) {
  const int many = bounds::metric_names + 20;
  complete_job("zebra");
  totals();
  for (int i = 0; i < many; ++i) add(jobs(), "queue" + std::to_string(1000 + i));
  for (int i = 0; i < many; ++i) {
    const auto queue = "queue" + std::to_string(1000 + i);
    const auto grant = must(jobs().claim(queue, claiming(), by("ann")));
    if (i % 2 == 0) must(jobs().complete(grant.jobs.at(0).id, grant.token));
  }
  for (int i = 1; i < many; i += 2) add(jobs(), "queue" + std::to_string(1000 + i));
  complete_job("zebra");
  const auto now = metrics();
  EXPECT_EQ(numbers_of(now.attempts).at("zebra completed"), 2) << "a name keeps its own number";
  std::int64_t completed = 0;
  for (const auto& count : now.attempts) completed += count.count;
  EXPECT_EQ(completed, 2 + many / 2);
  std::set<std::string> names;
  std::int64_t waiting = 0;
  for (const auto& count : now.jobs) {
    names.insert(count.queue);
    if (count.state == "available") waiting += count.count;
  }
  EXPECT_EQ(names.size(), bounds::metric_names + 1);
  EXPECT_TRUE(names.contains("other"));
  EXPECT_EQ(waiting, many / 2);
}

TEST_P(MetricsTest, TotalsBeyondTheFirstNamesShareOneNumber) {
  const int many = bounds::metric_names + 5;
  for (int i = 0; i < many; ++i) complete_job("queue" + std::to_string(1000 + i));
  auto now = numbers_of(metrics().finished);
  constexpr std::size_t outcomes = 4;
  EXPECT_EQ(now.size(), outcomes * (bounds::metric_names + 1));
  EXPECT_EQ(now.at("other completed"), 5);
  complete_job("queue1000");
  complete_job("queue1204");
  now = numbers_of(metrics().finished);
  EXPECT_EQ(now.at("queue1000 completed"), 2);
  EXPECT_EQ(now.at("other completed"), 6);
}

/// Only PostgreSQL has transactions that write beside each other.
class MetricsOpenTransactionTest : public MetricsTest {
 protected:
  std::string here(const std::string& name) { return under_test().schema() + "_internal." + name; }

  PgConnection slow_{test_postgres_url()};
};
INSTANTIATE_TEST_SUITE_P(Stores, MetricsOpenTransactionTest, ::testing::Values(StoreKind::postgres), store_name);

TEST_P(MetricsOpenTransactionTest, ATransactionThatIsOpenOverManyEventsIsCountedOnceAfterItsCommit) {
  slow_.run("BEGIN");
  slow_.run("SELECT " + here("lock_acquire('slow', 'alice')"));
  for (int i = 0; i < 300; ++i) {
    take(locks(), "lock" + std::to_string(i), {}, by("ann"));
    if (i % 100 != 0) continue;
    EXPECT_EQ(totals()["grants lock"], i + 1) << "the others are counted at once";
  }
  complete_job("mail");
  EXPECT_EQ(totals()["grants lock"], 300);
  slow_.run("COMMIT");
  EXPECT_EQ(totals()["grants lock"], 301);
  EXPECT_EQ(totals()["grants lock"], 301);
  EXPECT_EQ(totals()["attempts mail completed"], 1);
}

TEST_P(MetricsOpenTransactionTest, AVerdictInAnOpenTransactionIsCountedOnceAfterItsCommit) {
  const auto grant = start_job("mail");
  slow_.run("BEGIN");
  slow_.run("SELECT " + under_test().schema() + ".job_complete(" + std::to_string(grant.jobs.at(0).id) + ", " +
            std::to_string(grant.token.value) + ")");
  for (int i = 0; i < 20; ++i) complete_job("other");
  EXPECT_EQ(totals()["grants job"], 20);
  slow_.run("COMMIT");
  EXPECT_EQ(totals()["grants job"], 21);
  EXPECT_EQ(totals()["finished mail completed"], 1);
}

TEST_P(MetricsOpenTransactionTest, OneStepCountsAllThoughOthersUsedManyTransactionNumbers) {
  const auto roll = "SELECT has_more FROM " + here("counters_roll(true)");
  EXPECT_EQ(slow_.scalar(roll), "f");
  slow_.run("DO $$ BEGIN FOR i IN 1..31000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$");
  take(locks(), "deploy", {}, by("ann"));
  EXPECT_EQ(slow_.scalar(roll), "f");
  EXPECT_EQ(totals()["grants lock"], 1);
}

TEST_P(MetricsOpenTransactionTest, AStepEndsAfterTheTransactionThatFillsIt) {
  slow_.run("INSERT INTO " + here("event") +
            " (at, kind, key, what, token, holder, host) SELECT now(), 'lock', 'many', "
            "'acquired', i, 'bob', '' FROM generate_series(1, 30001) AS i");
  take(locks(), "deploy", {}, by("ann"));
  const auto roll = "SELECT has_more FROM " + here("counters_roll(true)");
  EXPECT_EQ(slow_.scalar(roll), "t");
  EXPECT_EQ(slow_.scalar(roll), "f");
  EXPECT_EQ(totals()["grants lock"], 30002);
}

TEST_P(MetricsOpenTransactionTest, PruningLeavesWhatATransactionCommitsBesideIt) {
  slow_.run("BEGIN");
  slow_.run("SELECT " + here("lock_acquire('slow', 'alice')"));
  for (int i = 0; i < 20; ++i) take(locks(), "lock" + std::to_string(i), {}, by("ann"));
  totals();
  slow_.run("COMMIT");
  advance(1h);
  must(store().prune(0s));
  EXPECT_EQ(totals()["grants lock"], 21);
}

TEST_P(MetricsOpenTransactionTest, ATransactionThatReadsTheTotalsAndGoesOnIsCountedOnce) {
  slow_.run("BEGIN");
  slow_.run("SELECT " + here("lock_acquire('first', 'alice')"));
  slow_.run("SELECT " + here("counters_roll(true)"));
  slow_.run("SELECT " + here("lock_acquire('second', 'alice')"));
  slow_.run("COMMIT");
  EXPECT_EQ(totals()["grants lock"], 2);
}

TEST_P(MetricsOpenTransactionTest, AReaderDoesNotWaitForOneThatCounts) {
  take(locks(), "deploy", {}, by("ann"));
  EXPECT_EQ(totals()["grants lock"], 1);
  slow_.run("BEGIN");
  slow_.run("SELECT " + here("counters_roll(true)"));
  take(locks(), "other", {}, by("ann"));
  EXPECT_EQ(totals()["grants lock"], 1) << "behind, and not stuck";
  slow_.run("ROLLBACK");
  EXPECT_EQ(totals()["grants lock"], 2);
}

TEST_P(MetricsOpenTransactionTest, AStoreThatWasRestoredOnANewServerCountsOn) {
  use_locks();
  const auto before = totals();
  // A new server begins with small numbers of transactions: these rows seem to be from its future.
  const std::string later = " SET transaction_id = (transaction_id::text::bigint + 1000000000)::text::";
  under_test().run("UPDATE " + here("event") + later + "xid8");
  under_test().run("UPDATE " + here("counter_mark") + " SET seen = '2000000000:2000000000:'");
  EXPECT_EQ(totals(), before) << "the totals came along";
  take(locks(), "deploy", {}, by("ann"));
  EXPECT_EQ(totals()["grants lock"], before.at("grants lock") + 1);
  advance(1h);
  EXPECT_GT(must(store().prune(0s)).events, 3) << "rows of the old server go, too";
}

}  // namespace
}  // namespace leasehold::support

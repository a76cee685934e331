// A database whose transactions are SERIALIZABLE or REPEATABLE READ by default: every command of the library works
// there, because its own transactions are READ COMMITTED.
#include <gtest/gtest.h>

#include <algorithm>

#include "leasehold/postgres.h"
#include "support/copied_database.h"
#include "support/job_helpers.h"
#include "support/pg.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

class SerializableDatabaseTest : public ::testing::TestWithParam<const char*> {
 protected:
  SerializableDatabaseTest() { database_.set("default_transaction_isolation", GetParam()); }

  CopiedDatabase database_{test_postgres_url()};
};
INSTANTIATE_TEST_SUITE_P(Levels, SerializableDatabaseTest, ::testing::Values("'serializable'", "'repeatable read'"),
                         [](const auto& level) { return std::string(level.param).substr(1, 6); });

TEST_P(SerializableDatabaseTest, ALockLives) {
  const auto store = must(Store::open(database_.url()));
  const auto locks = store.locks();
  const auto grant = take(locks, "deploy", {}, by("alice"));
  EXPECT_TRUE(fails(locks.acquire("deploy", {}, by("bob")), Errc::held));
  EXPECT_TRUE(ok(locks.heartbeat("deploy", grant.token)));
  EXPECT_TRUE(ok(locks.release("deploy", grant.token)));
  const auto both = locks.acquire_all({"a", "b"}, {}, by("alice"));
  ASSERT_TRUE(ok(both));
  EXPECT_TRUE(ok(locks.release("a", both->token)));
  EXPECT_TRUE(ok(locks.acquire("pool", {.share = Share{.permits = 1, .capacity = 2}}, by("alice"))));
  EXPECT_TRUE(ok(locks.revoke("pool", "enough")));
  EXPECT_TRUE(ok(locks.list()));
}

TEST_P(SerializableDatabaseTest, AJobLives) {
  const auto store = must(Store::open(database_.url()));
  const auto jobs = store.jobs();
  const auto first = add(jobs, "mail");
  add(jobs, "mail", {.depends_on = {first}});
  add_many(jobs, "mail", 100);
  const auto job = claim_one(jobs, "mail", "ann");
  EXPECT_TRUE(ok(jobs.heartbeat(job.id, job.token)));
  EXPECT_TRUE(ok(jobs.complete(job.id, job.token, "done")));
  const auto failed = claim_one(jobs, "mail", "ann");
  EXPECT_TRUE(ok(jobs.fail(failed.id, failed.token, "no route")));
  EXPECT_TRUE(ok(jobs.cancel(add(jobs, "mail"))));
  EXPECT_TRUE(ok(jobs.list({.max = 10})));
}

TEST_P(SerializableDatabaseTest, AChunkLives) {
  const auto store = must(Store::open(database_.url()));
  const auto chunks = store.chunks();
  ASSERT_TRUE(ok(chunks.plan("rows", must(plan_range(1, 100, 10)))));
  const auto chunk = chunks.claim("rows");
  ASSERT_TRUE(ok(chunk));
  const auto& first = chunk->chunks.front();
  EXPECT_TRUE(ok(chunks.heartbeat("rows", first.key, first.token, {.cursor = "5"})));
  EXPECT_TRUE(ok(chunks.complete("rows", first.key, first.token)));
  EXPECT_TRUE(ok(chunks.progress("rows")));
}

TEST_P(SerializableDatabaseTest, ASessionLives) {
  const auto store = must(Store::open(database_.url()));
  const auto session = store.sessions().open();
  ASSERT_TRUE(ok(session));
  ASSERT_TRUE(ok(store.items().add("item-1")));
  const auto claim = store.claims().take("item-1", session->key);
  ASSERT_TRUE(ok(claim));
  EXPECT_TRUE(ok(store.sessions().heartbeat(session->key, session->token)));
  EXPECT_TRUE(ok(store.claims().release("item-1", session->key, claim->token)));
  EXPECT_TRUE(ok(store.sessions().close(session->key, session->token)));
}

TEST_P(SerializableDatabaseTest, AScheduleLives) {
  const auto store = must(Store::open(database_.url()));
  const auto schedules = store.schedules();
  ASSERT_TRUE(ok(schedules.set("nightly", {.rule = CronRule{"0 3 * * *", "Europe/Berlin"}})));
  EXPECT_TRUE(ok(schedules.trigger("nightly")));
  const auto run = schedules.acquire("nightly");
  ASSERT_TRUE(ok(run));
  EXPECT_TRUE(ok(schedules.heartbeat("nightly", run->grant.token)));
  EXPECT_TRUE(ok(schedules.settle("nightly", run->grant.token)));
}

TEST_P(SerializableDatabaseTest, TheStoreIsLookedAfter) {
  const auto store = must(Store::open(database_.url()));
  auto reader = store.follow_events();
  ASSERT_TRUE(ok(reader));
  take(store.locks(), "deploy", {.ttl = 50ms}, by("alice"));
  EXPECT_EQ(must(reader->next()).size(), 1U);
  EXPECT_TRUE(ok(store.recover()));
  EXPECT_TRUE(ok(store.prune(1h)));
  EXPECT_TRUE(ok(store.leases()));
  EXPECT_TRUE(ok(store.status()));
  EXPECT_TRUE(must(store.migrations().verify()).empty());
  const auto findings = must(store.doctor());
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.what.find("default_transaction_isolation = ") == 0 && finding.level == Finding::Level::fine &&
           finding.advice.find("READ COMMITTED") != std::string::npos;
  }));
}

TEST_P(SerializableDatabaseTest, TheErrorShowsHowToGetReadCommitted) {
  PgConnection psql(database_.url());
  EXPECT_EQ(psql.fail("SELECT leasehold_internal.job_enqueue_one('mail', 'a')").state, "") << "works at every level";
  const auto refused = psql.fail("SELECT leasehold_internal.lock_acquire('deploy', 'alice')");
  EXPECT_EQ(refused.state, "LH002");
  EXPECT_NE(refused.message.find("SET default_transaction_isolation = 'read committed'"), std::string::npos)
      << refused.message;
  psql.run("SET default_transaction_isolation = 'read committed'");
  EXPECT_EQ(psql.scalar("SELECT outcome FROM leasehold_internal.lock_acquire('deploy', 'alice')"), "granted");
}

}  // namespace
}  // namespace leasehold::support

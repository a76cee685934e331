// Jobs in the user's own transaction: they come and go with what else it writes.
#include <gtest/gtest.h>

#include "leasehold/postgres.h"
#include "leasehold/sqlite.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

/// A store, on SQLite with the real clock, because the user's connection knows no other there; and that connection.
class JobTransactionTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (on_sqlite()) {
      file_ = std::make_unique<SqliteFile>(test_store_.path());
    } else {
      postgres_.reset(PQconnectdb(test_store_.database_url().c_str()));
    }
    run(on_sqlite() ? "CREATE TABLE orders (id INTEGER)" : "CREATE TEMP TABLE orders (id bigint)");
  }

  static bool on_sqlite() { return GetParam() == StoreKind::sqlite; }
  void run(const std::string& sql) {
    if (file_) return file_->run(sql);
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(postgres_.get(), sql.c_str()), &PQclear);
    ASSERT_EQ(PQresultStatus(result.get()), PGRES_COMMAND_OK) << sql << ": " << PQerrorMessage(postgres_.get());
  }
  void begin() { run(on_sqlite() ? "BEGIN IMMEDIATE" : "BEGIN"); }
  Result<Enqueued> enqueue(const std::string& queue, const NewJob& job) {
    return file_ ? leasehold::enqueue(file_->handle(), queue, job)
                 : leasehold::enqueue(postgres_.get(), queue, job, test_store_.schema());
  }
  Result<JobSettled> complete(const Job& job, std::string_view result) {
    return file_ ? leasehold::complete(file_->handle(), job.id, job.token, result)
                 : leasehold::complete(postgres_.get(), job.id, job.token, result, test_store_.schema());
  }

  Result<void> fence(const Job& job) {
    return file_ ? fence_job(file_->handle(), job.id, job.token)
                 : fence_job(postgres_.get(), job.id, job.token, test_store_.schema());
  }
  /// In a transaction of its own, which is rolled back.
  Result<void> fence_once(const Job& job) {
    begin();
    auto fenced = fence(job);
    run("ROLLBACK");
    return fenced;
  }

  TestStore test_store_{GetParam(), {.real_time = on_sqlite()}};
  Store store_ = test_store_.open();
  Jobs jobs_ = store_.jobs();
  std::unique_ptr<SqliteFile> file_;
  std::unique_ptr<PGconn, decltype(&PQfinish)> postgres_{nullptr, &PQfinish};
};
LEASEHOLD_ON_BOTH_STORES(JobTransactionTest);

TEST_P(JobTransactionTest, AJobIsThereOnceItsTransactionHasCommitted) {
  begin();
  run("INSERT INTO orders VALUES (1)");
  const std::string payload("order\0 1", 8);
  const auto job = enqueue("invoice", {.payload = payload, .priority = 7, .tags = {"new"}});
  ASSERT_TRUE(ok(job));
  EXPECT_EQ(job->state, JobState::available);
  if (!on_sqlite()) {
    EXPECT_TRUE(fails(jobs_.claim("invoice"), Errc::empty)) << "not before";
  }
  run("COMMIT");
  const auto info = must(jobs_.show(job->id));
  EXPECT_EQ(info.tags, std::vector<std::string>{"new"});
  EXPECT_LT(info.store_now - info.created_at, 60s) << "by the store's clock";
  const auto claimed = claim_one(jobs_, "invoice", "ann");
  EXPECT_EQ(claimed.id, job->id);
  EXPECT_EQ(claimed.payload, payload);
}

TEST_P(JobTransactionTest, AJobOfATransactionThatWasRolledBackNeverWas) {
  begin();
  const auto first = enqueue("invoice", {.payload = "1", .dedupe_key = "order-1"});
  ASSERT_TRUE(ok(first));
  const auto again = enqueue("invoice", {.payload = "1", .dedupe_key = "order-1"});
  ASSERT_TRUE(ok(again));
  EXPECT_FALSE(again->created);
  EXPECT_EQ(again->id, first->id);
  run("ROLLBACK");
  EXPECT_TRUE(fails(jobs_.claim("invoice"), Errc::empty));
  EXPECT_TRUE(ok(jobs_.enqueue("invoice", {.payload = "1", .dedupe_key = "order-1"}))) << "the key is free again";
}

TEST_P(JobTransactionTest, CompletionBecomesTrueWithTheWritesItBelongsTo) {
  add(jobs_, "invoice");
  const auto job = claim_one(jobs_, "invoice", "ann");
  begin();
  run("INSERT INTO orders VALUES (2)");
  ASSERT_TRUE(ok(complete(job, "paid")));
  run("ROLLBACK");
  EXPECT_EQ(state_of(jobs_, job.id), JobState::running);
  begin();
  const auto settled = complete(job, "paid");
  ASSERT_TRUE(ok(settled));
  EXPECT_EQ(settled->state, JobState::completed);
  run("COMMIT");
  EXPECT_EQ(state_of(jobs_, job.id), JobState::completed);
  EXPECT_EQ(must(jobs_.result(job.id)), "paid");
}

TEST_P(JobTransactionTest, Promise04_AWorkerThatLostTheJobCannotCompleteItThere) {
  add(jobs_, "invoice");
  const auto job = claim_one(jobs_, "invoice", "ann");
  must(jobs_.release(job.id, job.token));
  claim_one(jobs_, "invoice", "bob");
  begin();
  EXPECT_TRUE(fails(complete(job, "paid"), Errc::lost));
  run("ROLLBACK");
  EXPECT_EQ(state_of(jobs_, job.id), JobState::running);
}

TEST_P(JobTransactionTest, Promise14_TheFencePassesTheCurrentTokenOnly) {
  add(jobs_, "invoice");
  const auto job = claim_one(jobs_, "invoice", "ann");
  begin();
  run("INSERT INTO orders VALUES (3)");
  EXPECT_TRUE(ok(fence(job)));
  run("COMMIT");
  must(jobs_.release(job.id, job.token));
  EXPECT_TRUE(lost(fence_once(job), LostReason::finished)) << "no worker has it";
  const auto again = claim_one(jobs_, "invoice", "bob");
  EXPECT_TRUE(lost(fence_once(job), LostReason::superseded)) << "another worker has it";
  EXPECT_TRUE(ok(fence_once(again)));
  EXPECT_TRUE(fails(fence(again), Errc::invalid_argument)) << "outside of a transaction it would promise nothing";
}

TEST_P(JobTransactionTest, Promise14_TheFenceOfOneJobOfABatchKnowsItsOwnVerdict) {
  add_many(jobs_, "invoice", 2);
  const auto grant = must(jobs_.claim("invoice", claiming(2), by("ann")));
  must(jobs_.complete(grant.jobs[0].id, grant.jobs[0].token));
  EXPECT_TRUE(lost(fence_once(grant.jobs[0]), LostReason::finished));
  EXPECT_TRUE(ok(fence_once(grant.jobs[1])));
}

TEST_P(JobTransactionTest, Promise14_ATakeoverWaitsForAFence) {
  if (on_sqlite()) GTEST_SKIP() << "on SQLite the write transaction holds up every other writer";
  add(jobs_, "invoice");
  const auto job = must(jobs_.claim("invoice", {.ttl = 1s}, by("ann"))).jobs[0];
  begin();
  ASSERT_TRUE(ok(fence(job)));
  test_store_.advance(2s);
  EXPECT_TRUE(fails(jobs_.claim("invoice", {}, by("bob")), Errc::busy));
  run("COMMIT");
  EXPECT_EQ(claim_one(jobs_, "invoice", "bob").id, job.id);
}

TEST_P(JobTransactionTest, BadInputIsRefused) {
  begin();
  EXPECT_TRUE(fails(enqueue("", {}), Errc::invalid_argument));
  EXPECT_TRUE(fails(enqueue("invoice", {.priority = 1 << 20}), Errc::invalid_argument));
  EXPECT_TRUE(fails(enqueue("invoice", {.depends_on = {4711}}), Errc::invalid_argument)) << "there is no such job";
  run("ROLLBACK");
}

TEST_P(JobTransactionTest, OnASqliteFileNothingLessThanAWriteTransactionWillDo) {
  const auto is_right = [](const Result<Enqueued>& job) {
    return on_sqlite() ? fails(job, Errc::invalid_argument) : ok(job);
  };
  EXPECT_TRUE(is_right(enqueue("invoice", {}))) << "a PostgreSQL statement is a transaction by itself";
  run("BEGIN");
  EXPECT_TRUE(is_right(enqueue("invoice", {})));
  run("ROLLBACK");
}

}  // namespace
}  // namespace leasehold::support

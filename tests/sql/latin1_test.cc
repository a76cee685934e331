// A database whose encoding does not hold every character: what people write must not decide what becomes of the work.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "support/chunk_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

/// An arrow, which LATIN1 does not have; an i with two dots, which it has; a padlock of four bytes.
constexpr const char* written = "a \xE2\x86\x92 na\xC3\xAFve \xF0\x9F\x94\x92";
constexpr const char* kept = "a \\u{2192} na\xC3\xAFve \\u{1f512}";
constexpr const char* replaced = "a ? na\xC3\xAFve ?";

class Latin1Test : public ::testing::Test {
 protected:
  Latin1Test() : name_("latin1_" + std::to_string(std::random_device{}())) {
    server_.run("CREATE DATABASE " + name_ + " ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    const auto url = test_postgres_url();
    url_ = url.substr(0, url.find('/', url.find("://") + 3)) + "/" + name_;
    store_ = must(Store::open(url_, {.migrate = MigrateOnOpen::yes}));
  }
  ~Latin1Test() override {
    store_.reset();
    server_.fail("DROP DATABASE " + name_ + " WITH (FORCE)");
  }

  Jobs jobs() { return store_->jobs(); }

  PgConnection server_{test_postgres_url()};
  std::string name_;
  std::string url_;
  std::optional<Store> store_;
};

TEST_F(Latin1Test, AFinalFailureIsFinalWhateverItsErrorSays) {
  const auto id = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  const auto settled = jobs().settle({id, job.token, Verdict::fail_finally(written)});
  ASSERT_TRUE(ok(settled));
  EXPECT_EQ(settled->state, JobState::failed);
  const auto seen = must(jobs().show(id));
  EXPECT_EQ(seen.attempts, 1);
  EXPECT_EQ(seen.error, kept);
}

TEST_F(Latin1Test, VerdictsThatTravelTogetherStand) {
  const auto ids = add_many(jobs(), "q", 40);
  const auto grant = claim(jobs(), "q", claiming(40), by("alice"));
  std::vector<std::thread> threads;
  for (const auto& job : grant.jobs) {
    threads.emplace_back([this, &job] {
      EXPECT_TRUE(ok(jobs().settle({job.id, job.token, Verdict::fail_finally(written)})));
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto id : ids) EXPECT_EQ(must(jobs().show(id)).error, kept);
}

TEST_F(Latin1Test, TextsForPeopleDoNotStopAnAct) {
  const auto id = add(jobs(), "q", {.payload = written});
  const auto job = must(jobs().claim("q", {}, {.holder = Holder::self(written)})).jobs.at(0);
  EXPECT_EQ(job.payload, written) << "bytes are kept as they are";
  EXPECT_TRUE(ok(jobs().heartbeat(id, job.token, {.message = written, .stage = written})));
  const auto seen = must(jobs().show(id));
  EXPECT_EQ(seen.message, replaced);
  EXPECT_EQ(seen.stage, replaced);
  EXPECT_EQ(name_of(seen.holder), replaced);
  EXPECT_TRUE(ok(jobs().cancel(id, written)));
  EXPECT_TRUE(ok(jobs().complete(id, job.token, written)));
  EXPECT_EQ(must(jobs().result(id)), written);
  EXPECT_TRUE(ok(store_->queues().pause("q", written)));
}

TEST_F(Latin1Test, ChunksLocksAndSchedulesEndAsTheirHoldersSay) {
  plan_numbers(store_->chunks(), "orders", 1);
  const auto chunk = must(store_->chunks().claim("orders", {}, {.holder = Holder::self(written)}));
  const auto failed =
      store_->chunks().settle({"orders", "1", chunk.chunks.at(0).token, Verdict::fail_finally(written)});
  ASSERT_TRUE(ok(failed));
  EXPECT_EQ(failed->state, ChunkState::exhausted);
  EXPECT_EQ(must(store_->chunks().show("orders", "1")).error, kept);

  must(store_->locks().acquire("deploy", {}, {.holder = Holder::self(written)}));
  EXPECT_TRUE(ok(store_->locks().revoke("deploy", written)));

  must(store_->schedules().set("refresh", {.rule = every(10min), .ttl = 30s, .next_run_in = 0s}));
  const auto run = must(store_->schedules().acquire("refresh", {.now = true}));
  EXPECT_TRUE(ok(store_->schedules().settle("refresh", run.grant.token, {.ok = false, .error = written})));
  EXPECT_EQ(must(store_->schedules().history("refresh")).at(0).error, kept);
}

TEST_F(Latin1Test, ANameThatDoesNotFitIsRefusedAndTheRefusalSaysWhy) {
  const auto refused = jobs().enqueue(written, NewJob{});
  ASSERT_TRUE(fails(refused, Errc::invalid_argument));
  EXPECT_NE(refused.error().message.find("UTF8"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace leasehold::support

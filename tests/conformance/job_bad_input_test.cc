// Bad arguments about jobs are refused before they reach the store, on both stores alike.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

using namespace std::string_literals;

class JobBadInputTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    job_ = (add(jobs(), "q"), claim_one(jobs(), "q", "alice"));
    before_ = dump();
  }
  void TearDown() override { EXPECT_EQ(dump(), before_) << "a refused call changed the store"; }

  void refused(const NewJob& job) { EXPECT_TRUE(fails(jobs().enqueue("q", job), Errc::invalid_argument)); }

  Job job_;

 private:
  std::string before_;
};
LEASEHOLD_ON_BOTH_STORES(JobBadInputTest);

TEST_P(JobBadInputTest, QueueNamesThatAreNoNames) {
  for (const auto& name : {""s, std::string(513, 'x'), "a\0b"s, "line\nbreak"s, "\xFF"s}) {
    EXPECT_TRUE(fails(jobs().enqueue(name, NewJob{}), Errc::invalid_argument));
    EXPECT_TRUE(fails(jobs().claim(name), Errc::invalid_argument));
    EXPECT_TRUE(fails(queues().set(name, {.max_running = 1}), Errc::invalid_argument));
    EXPECT_TRUE(fails(queues().pause(name), Errc::invalid_argument));
  }
}

TEST_P(JobBadInputTest, JobsThatCannotBe) {
  refused({.payload = std::string(1024 * 1024 + 1, 'x')});
  refused({.priority = 40000});
  refused({.delay = -1s});
  refused({.delay = 1s, .run_at = now()});
  refused({.run_at = Timestamp{std::chrono::seconds(3'093'527'980'800)}});
  refused({.dedupe_key = std::string(513, 'x')});
  refused({.group = "line\nbreak"});
  refused({.max_failures = 0});
  refused({.max_crashes = 1001});
  refused({.backoff = {.base = -1s}});
  refused({.tags = {""}});
  refused({.tags = std::vector<std::string>(21, "t")});
  refused({.depends_on = {-5}});
}

TEST_P(JobBadInputTest, ClaimsThatCannotBe) {
  EXPECT_TRUE(fails(jobs().claim("q", {.max = 0}), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().claim("q", {.max = 1001}), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().claim("q", {.ttl = -1s}), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().claim("q", {.ttl = 1us}), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().claim("q", {.wait = -1s}), Errc::invalid_argument));
}

TEST_P(JobBadInputTest, VerdictsThatCannotBe) {
  EXPECT_TRUE(fails(jobs().complete(job_.id, job_.token, std::string(1024 * 1024 + 1, 'x')), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().snooze(job_.id, job_.token, -1s), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().settle({job_.id, job_.token, Verdict::retry_in(-1s)}), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().heartbeat(job_.id, job_.token, {.percent = 101}), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().heartbeat(job_.id, job_.token, {.stage = std::string(65, 's')}), Errc::invalid_argument));
}

TEST_P(JobBadInputTest, SettingsThatCannotBe) {
  EXPECT_TRUE(fails(queues().set("q", {.max_running = -1}), Errc::invalid_argument));
  EXPECT_TRUE(fails(queues().set("q", {.rate_count = 5}), Errc::invalid_argument)) << "a rate needs a period";
  EXPECT_TRUE(fails(queues().set("q", {.default_ttl = 1us}), Errc::invalid_argument));
  EXPECT_TRUE(fails(queues().set("q", {.rate_count = 1'000'001, .rate_period = 1s}), Errc::invalid_argument));
}

}  // namespace
}  // namespace leasehold::support

// What a job remembers between its attempts: its cursor, and the metadata it was enqueued with.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobMemoryTest : public StoreTest {
 protected:
  /// Claims the next job and saves this cursor.
  Job claim_and_save(const std::string& cursor) {
    auto job = claim_one(jobs(), "q", "alice");
    must(jobs().heartbeat(job.id, job.token, {.cursor = cursor}));
    return job;
  }
  std::string next_cursor() { return claim_one(jobs(), "q", "bob").cursor; }
};
LEASEHOLD_ON_BOTH_STORES(JobMemoryTest);

TEST_P(JobMemoryTest, TheNextAttemptGetsTheCursorHoweverThisOneEnds) {
  add(jobs(), "q", {.max_failures = 9, .max_crashes = 9});
  EXPECT_EQ(next_cursor(), "");
  advance(31s);
  auto job = claim_and_save(R"({"row":1})");
  must(jobs().settle({job.id, job.token, Verdict::retry_in(0s)}));
  job = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(job.cursor, R"({"row":1})") << "after a failure";
  must(jobs().release(job.id, job.token));
  job = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(job.cursor, R"({"row":1})") << "after a release";
  must(jobs().snooze(job.id, job.token, 1s));
  advance(2s);
  EXPECT_EQ(next_cursor(), R"({"row":1})") << "after a snooze";
  advance(31s);
  EXPECT_EQ(next_cursor(), R"({"row":1})") << "after a crash";
}

TEST_P(JobMemoryTest, ARepeatedClaimOfAFirstAttemptHasNoCursorYet) {
  add(jobs(), "q", {.metadata = "{}"});
  const JobClaimOptions request{.ttl = 1min, .request_id = "r"};
  const auto job = claim(jobs(), "q", request, by("alice")).jobs.at(0);
  must(jobs().heartbeat(job.id, job.token, {.cursor = "1"}));
  const auto again = claim(jobs(), "q", request, by("alice"));
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.jobs.at(0).cursor, "") << "as in the first answer";
}

TEST_P(JobMemoryTest, ProgressOfAnAttemptEndsWithItButTheCursorStays) {
  const auto id = add(jobs(), "q");
  auto job = claim_one(jobs(), "q", "alice");
  must(jobs().heartbeat(id, job.token, {.percent = 70, .message = "almost", .cursor = "[7]"}));
  must(jobs().release(id, job.token));
  job = claim_one(jobs(), "q", "bob");
  must(jobs().heartbeat(id, job.token, {.stage = "again"}));
  const auto info = must(jobs().show(id));
  EXPECT_EQ(info.percent, std::nullopt);
  EXPECT_EQ(info.message, "");
  EXPECT_EQ(info.stage, "again");
  EXPECT_EQ(info.cursor, "[7]");
}

TEST_P(JobMemoryTest, ACancelledJobKeepsItsCursorAndNoProgress) {
  const auto first = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  must(jobs().heartbeat(first, job.token, {.percent = 40, .message = "half", .stage = "copying", .cursor = "7"}));
  must(jobs().release(first, job.token));
  must(jobs().cancel(first));
  const auto info = must(jobs().show(first));
  EXPECT_EQ(info.percent, std::nullopt);
  EXPECT_EQ(info.message, "");
  EXPECT_EQ(info.stage, "");
  EXPECT_EQ(info.cursor, "7");
}

TEST_P(JobMemoryTest, Promise04_ALostHoldersSaveChangesNothing) {
  const auto id = add(jobs(), "q");
  const auto lost = claim_and_save("1");
  advance(31s);
  claim_and_save("2");
  const auto late = jobs().heartbeat(id, lost.token, {.cursor = "3"});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::lost);
  EXPECT_EQ(must(jobs().show(id)).cursor, "2");
}

TEST_P(JobMemoryTest, ADeadLetterKeepsItsCursorForARetryAndACompletedJobDoesNot) {
  const auto id = add(jobs(), "q");
  auto job = claim_and_save("5");
  must(jobs().settle({id, job.token, Verdict::fail_finally("no")}));
  EXPECT_EQ(must(jobs().show(id)).cursor, "5");
  must(jobs().retry(id));
  job = claim_one(jobs(), "q", "bob");
  EXPECT_EQ(job.cursor, "5");
  must(jobs().release(id, job.token));
  must(jobs().cancel(id));
  must(jobs().retry(id));
  job = claim_one(jobs(), "q", "bob");
  EXPECT_EQ(job.cursor, "5") << "after a cancel";
  must(jobs().complete(id, job.token));
  EXPECT_EQ(must(jobs().show(id)).cursor, "");
}

TEST_P(JobMemoryTest, ACursorIsJson) {
  const auto id = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  const auto refused = jobs().heartbeat(id, job.token, {.cursor = "row 7"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_NE(refused.error().message.find("JSON"), std::string::npos) << refused.error().message;
}

TEST_P(JobMemoryTest, EveryAttemptGetsTheMetadata) {
  const std::string trace = R"({"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})";
  const auto id = add(jobs(), "q", {.metadata = trace});
  EXPECT_EQ(claim_one(jobs(), "q", "alice").metadata, trace);
  advance(31s);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").metadata, trace);
  EXPECT_EQ(must(jobs().show(id)).metadata, trace);
  EXPECT_EQ(jobs().enqueue("q", {.metadata = "[1]"}).error().code, Errc::invalid_argument);
}

TEST_P(JobMemoryTest, EventsNameTheTrace) {
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const auto metadata = R"({"traceparent":")" + trace + R"("})";
  const auto detail = [&](JobId id) { return must(store().events({.key = std::to_string(id)})).front().detail; };
  const auto failed = add(jobs(), "q", {.metadata = metadata});
  const auto dependent = add(jobs(), "q", {.metadata = metadata, .depends_on = {failed}});
  const auto job = claim_one(jobs(), "q", "alice");
  must(jobs().settle({failed, job.token, Verdict::fail_finally("no")}));
  EXPECT_EQ(detail(failed), "not retryable, traceparent " + trace);
  EXPECT_EQ(detail(dependent), "job " + std::to_string(failed) + " failed, traceparent " + trace);
  const auto too_late = add(jobs(), "q", {.metadata = metadata, .depends_on = {failed}});
  EXPECT_EQ(detail(too_late), "job " + std::to_string(failed) + " failed, traceparent " + trace);
  const auto unwanted = add(jobs(), "q", {.metadata = metadata});
  must(jobs().cancel(unwanted));
  EXPECT_EQ(detail(unwanted), "traceparent " + trace);
  const auto lapsed = add(jobs(), "q", {.expires_at = now(), .metadata = metadata});
  EXPECT_EQ(detail(lapsed), "not started in time, traceparent " + trace);
  for (const auto* other : {R"({})", R"({"traceparent":7})", R"({"traceparent":"a b"})", R"({"traceparent":"\u0000"})",
                            R"({"traceparent":["x"]})", R"({"traceparent":""})"}) {
    const auto plain = add(jobs(), "q", {.metadata = other});
    must(jobs().cancel(plain, "unwanted"));
    EXPECT_EQ(detail(plain), "unwanted") << other;
  }
}

TEST_P(JobMemoryTest, EventsCarryTheMetadata) {
  const std::string metadata = R"({"tenant":"acme","nested":{"a":[1,null]}})";
  const auto event = [&](JobId id) { return must(store().events({.key = std::to_string(id)})).front(); };
  auto reader = must(store().follow_events({}));
  const auto failed = add(jobs(), "q", {.metadata = metadata});
  const auto dependent = add(jobs(), "q", {.metadata = metadata, .depends_on = {failed}});
  const auto job = claim_one(jobs(), "q", "alice");
  must(jobs().settle({failed, job.token, Verdict::fail_finally("no")}));
  const auto lapsed = add(jobs(), "q", {.expires_at = now(), .metadata = metadata});
  for (const auto id : {failed, dependent, lapsed}) EXPECT_EQ(event(id).metadata, metadata) << event(id).what;
  const auto followed = must(reader.next());
  ASSERT_EQ(followed.size(), 3U);
  for (const auto& one : followed) EXPECT_EQ(one.metadata, metadata) << one.what;
  const auto without = add(jobs(), "q");
  must(jobs().cancel(without));
  EXPECT_EQ(event(without).metadata, "");
}

}  // namespace
}  // namespace leasehold::support

#include "model/bounds.h"
#include "model/described.h"

#include <gtest/gtest.h>

#include "support/results.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

::testing::AssertionResult refused(const NewJob& job) { return fails(check_new_job(job), Errc::invalid_argument); }

TEST(JobLimitsTest, AJobMayBeAnythingWithinReason) {
  const std::string megabyte(bounds::payload_bytes, '\0');
  EXPECT_TRUE(ok(check_new_job({})));
  EXPECT_TRUE(ok(check_new_job({.payload = megabyte, .priority = -32768, .delay = 24h, .dedupe_key = "order-17"})));
  EXPECT_TRUE(ok(check_new_job({.run_at = Timestamp{}, .max_failures = 1000, .max_crashes = 1})));
  EXPECT_TRUE(ok(check_new_job({.tags = std::vector(20, std::string(64, 't'))})));
}

TEST(JobLimitsTest, ValuesBeyondTheBoundsAreRefused) {
  const std::string too_big(bounds::payload_bytes + 1, 'x');
  EXPECT_TRUE(refused({.payload = too_big}));
  EXPECT_TRUE(refused({.priority = 32768}));
  EXPECT_TRUE(refused({.delay = -1s}));
  EXPECT_TRUE(refused({.delay = bounds::max_delay + 1us}));
  EXPECT_TRUE(refused({.delay = 1s, .run_at = Timestamp{}})) << "which of the two?";
  EXPECT_TRUE(refused({.run_at = end_of_moments})) << "the calendar ends with the year 9999";
  EXPECT_TRUE(refused({.run_at = Timestamp::min()}));
  EXPECT_TRUE(ok(check_new_job({.run_at = end_of_moments - 1us})));
  EXPECT_TRUE(refused({.dedupe_key = "two\nlines"}));
  EXPECT_TRUE(refused({.group = "\xFF"}));
  EXPECT_TRUE(refused({.max_failures = 0}));
  EXPECT_TRUE(refused({.max_crashes = 1001}));
  EXPECT_TRUE(refused({.backoff = {.base = -1s}}));
  EXPECT_TRUE(refused({.tags = {""}}));
  EXPECT_TRUE(refused({.tags = {std::string(65, 't')}}));
  EXPECT_TRUE(refused({.tags = std::vector(21, "t"s)}));
}

TEST(JobLimitsTest, ProgressIsAPercentageAndAShortStage) {
  EXPECT_TRUE(ok(check_progress({.percent = 100, .message = std::string(5000, 'm'), .stage = "rebasing"})))
      << "a long message is cut, not refused";
  EXPECT_FALSE(check_progress({.percent = 101}).ok());
  EXPECT_FALSE(check_progress({.stage = std::string(65, 's')}).ok());
}

TEST(JobLimitsTest, AQueueHasNoNegativeLimits) {
  EXPECT_TRUE(ok(check_queue_settings({.max_running = 0, .rate_count = 5, .rate_period = 1s, .default_ttl = 0s})));
  EXPECT_FALSE(check_queue_settings({.max_running = -1}).ok());
  EXPECT_FALSE(check_queue_settings({.rate_period = -1s}).ok());
  EXPECT_FALSE(check_queue_settings({.rate_count = 5}).ok()) << "in what time?";
  EXPECT_TRUE(ok(check_queue_settings({.rate_count = 0}))) << "no rate any more";
  EXPECT_FALSE(check_queue_settings({.default_ttl = 1ms}).ok()) << "too short for a lease";
}

TEST(JobLimitsTest, AClaimIsForOneToAThousand) {
  EXPECT_TRUE(ok(model::check_fields_of(JobClaimOptions{.max = 1})));
  EXPECT_TRUE(ok(model::check_fields_of(JobClaimOptions{.max = 1000})));
  EXPECT_FALSE(model::check_fields_of(JobClaimOptions{.max = 0}).ok());
  EXPECT_FALSE(model::check_fields_of(JobClaimOptions{.max = 1001}).ok());
}

}  // namespace
}  // namespace leasehold::support

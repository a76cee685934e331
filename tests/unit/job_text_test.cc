#include "model/job_text.h"

#include <gtest/gtest.h>

#include "support/results.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

TEST(JobTextTest, ABackoffDoublesOrStaysAsItIs) {
  const auto growing = parse_backoff("5s..1h").value();
  EXPECT_EQ(growing.base, Duration(5s));
  EXPECT_EQ(growing.max, Duration(1h));
  EXPECT_TRUE(growing.exponential);
  const auto fixed = parse_backoff("250ms").value();
  EXPECT_EQ(fixed.base, Duration(250ms));
  EXPECT_EQ(fixed.max, Duration(250ms));
  EXPECT_FALSE(fixed.exponential);
}

TEST(JobTextTest, AnInvalidBackoffIsRefusedWithTheForms) {
  for (const auto* text : {"", "..", "5s..", "..1h", "1h..5s", "5s...1h", "5s..1h..2h", "5", "5s-1h"}) {
    const auto parsed = parse_backoff(text);
    ASSERT_TRUE(fails(parsed, Errc::invalid_argument)) << text;
    EXPECT_NE(parsed.error().message.find("5s..1h"), std::string::npos) << parsed.error().message;
  }
}

TEST(JobTextTest, ARateIsACountInATime) {
  const auto rate = parse_rate("100/1m").value();
  EXPECT_EQ(rate.count, 100);
  EXPECT_EQ(rate.period, Duration(1min));
  EXPECT_EQ(format_rate(rate), "100/1m");
}

TEST(JobTextTest, AnInvalidRateIsRefused) {
  for (const auto* text :
       {"", "/", "100", "100/", "/1m", "0/1m", "-1/1m", "1.5/1m", "100/0", "100/m", "9999999999/1m"}) {
    EXPECT_TRUE(fails(parse_rate(text), Errc::invalid_argument)) << text;
  }
}

}  // namespace
}  // namespace leasehold::support

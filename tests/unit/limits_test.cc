#include "model/bounds.h"

#include <gtest/gtest.h>

#include "support/results.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

TEST(LimitsTest, NamesAreUtf8WithoutControlCharacters) {
  EXPECT_TRUE(ok(check_name("lock name", "deploy")));
  EXPECT_TRUE(ok(check_name("lock name", std::string(512, 'x'))));
  EXPECT_TRUE(ok(check_name("lock name", "\xF0\x9F\x94\x92")));
  for (const auto& name :
       {""s, std::string(513, 'x'), "a\0b"s, "a\nb"s, "\x7F"s, "\xFF"s, "\xC0\x80"s, "\xED\xA0\x80"s}) {
    const auto checked = check_name("lock name", name);
    ASSERT_TRUE(fails(checked, Errc::invalid_argument)) << name.size();
    EXPECT_NE(checked.error().message.find("lock name"), std::string::npos);
  }
}

TEST(LimitsTest, TextsMayHaveLinesButNoNul) {
  EXPECT_TRUE(ok(check_text("reason", "")));
  EXPECT_TRUE(ok(check_text("reason", "two\nlines")));
  EXPECT_FALSE(check_text("reason", "a\0b"s).ok());
  EXPECT_FALSE(check_text("reason", std::string(4097, 'x')).ok());
}

TEST(LimitsTest, TtlsHaveBounds) {
  EXPECT_TRUE(ok(check_ttl(50ms)));
  EXPECT_TRUE(ok(check_ttl(30 * 24h)));
  for (const Duration ttl :
       {Duration(49ms), Duration(0), Duration(-1s), Duration(30 * 24h + 1us), Duration::max(), Duration::min()}) {
    EXPECT_TRUE(fails(check_ttl(ttl), Errc::invalid_argument)) << ttl.count();
  }
}

TEST(LimitsTest, WaitsMayBeForEverButNotNegative) {
  for (const Duration wait : {Duration(0), Duration(10s), Duration(bounds::max_delay), Duration::max()}) {
    EXPECT_TRUE(ok(check_wait(wait))) << wait.count();
  }
  EXPECT_TRUE(fails(check_wait(-1us), Errc::invalid_argument));
  EXPECT_EQ(bounded_wait(10s), Duration(10s));
  EXPECT_EQ(bounded_wait(Duration::max()), bounds::max_delay);
  EXPECT_GT(BootClock::now() + bounded_wait(Duration::max()), BootClock::now()) << "no overflow";
}

TEST(LimitsTest, Promise09_TrustEndsBeforeTheLeaseDoes) {
  const BootTime sent{100s};
  EXPECT_LT(trusted_until(sent, 30s, 30s), sent + 30s);
  EXPECT_GT(trusted_until(sent, 30s, 30s), sent + 28s);
  EXPECT_LT(trusted_until(sent, 30s, 3s), sent + 3s) << "the remaining time counts, not the requested one";
  EXPECT_LT(trusted_until(sent, 3s, 30s), sent + 3s);
  EXPECT_LE(trusted_until(sent, 24h, 24h), sent + 24h - 1s);
  EXPECT_GT(trusted_until(sent, 24h, 24h), sent + 24h - 2s) << "the margin is bounded";
  EXPECT_LE(trusted_until(sent, 50ms, 50ms), sent + 45ms);
}

}  // namespace
}  // namespace leasehold::support

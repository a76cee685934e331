#include "base/text.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <vector>

#include "base/digest.h"
#include "leasehold/leasehold.h"

namespace leasehold::support {
namespace {

using namespace std::string_literals;

TEST(TextTest, IsUtf8RefusesWhatOnlyLooksLikeIt) {
  for (const auto& text : {""s, "abc"s, "\xC3\xA9"s, "\xE2\x82\xAC"s, "\xF0\x9F\x94\x92"s, "\xF4\x8F\xBF\xBF"s}) {
    EXPECT_TRUE(is_utf8(text));
  }
  for (const auto& text :
       {"\x80"s, "\xC3"s, "\xC0\xAF"s, "\xC1\xBF"s, "\xE0\x80\x80"s, "\xED\xA0\x80"s, "\xE2\x82"s, "\xF0\x80\x80\x80"s,
        "\xF4\x90\x80\x80"s, "\xF5\x80\x80\x80"s, "\xFF"s, "a\xFE"s, "\xC3("s}) {
    EXPECT_FALSE(is_utf8(text)) << testing::PrintToString(text);
  }
}

TEST(TextTest, QuotedIsShortAndPrintable) {
  EXPECT_EQ(quoted("deploy"), "\"deploy\"");
  EXPECT_LT(leasehold::quoted(std::string(1'000'000, 'x')).size(), 100U);
  for (const char c : leasehold::quoted("\x01\xFF\n\x1B[31m\0\xC2\x9B"s)) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << int{c};
}

TEST(TextTest, RandomNamesDiffer) {
  EXPECT_NE(random_hex(), random_hex());
  EXPECT_EQ(random_hex().size(), 16U);
  EXPECT_NE(random_request_id(), random_request_id());
}

TEST(TextTest, TheNearestWordIsSuggestedWhenItIsNear) {
  const std::vector<std::string> words{"acquire", "release", "heartbeat", "show"};
  EXPECT_EQ(nearest("aquire", words), "acquire");
  EXPECT_EQ(nearest("relaese", words), "release");
  EXPECT_EQ(nearest("xyzzy", words), "");
  EXPECT_EQ(nearest("", words), "");
}

TEST(TextTest, AnyBytesBecomeTextThatAStoreCanKeep) {
  EXPECT_EQ(clean_text("all is well\n", 100), "all is well\n");
  EXPECT_EQ(clean_text(std::string("a\0b\xFF", 4), 100),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(clean_text("abc", 2), "ab");
  EXPECT_EQ(clean_text("a\xC3\xA9", 2), "a") << "never half a character";
  EXPECT_TRUE(is_utf8(clean_text(std::string(300, '\xE2'), 100)));
}

TEST(TextTest, TimestampsHaveAsManyDigitsAsTheyNeed) {
  using namespace std::chrono_literals;
  const Timestamp start{std::chrono::microseconds(1'772'357'400'000'000)};
  EXPECT_EQ(to_string(start), "2026-03-01T09:30:00Z");
  EXPECT_EQ(to_string(start + 123ms), "2026-03-01T09:30:00.123Z");
  EXPECT_EQ(to_string(start + 7us), "2026-03-01T09:30:00.000007Z");
  EXPECT_EQ(to_string(Timestamp{}), "1970-01-01T00:00:00Z");
}

TEST(TextTest, TimestampsOfAnyYearAreRight) {
  using namespace std::chrono_literals;
  const Timestamp end{std::chrono::seconds(253'402'300'800)};
  EXPECT_EQ(to_string(end - 1us), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(to_string(end), "+10000-01-01T00:00:00Z") << "as ISO 8601 writes years of more than four digits";
  EXPECT_EQ(to_string(Timestamp{std::chrono::seconds(971'890'963'199)}), "+32767-12-31T23:59:59Z");
  EXPECT_EQ(to_string(Timestamp{std::chrono::seconds(971'890'963'200)}), "+32768-01-01T00:00:00Z");
  EXPECT_EQ(to_string(Timestamp{std::chrono::seconds(3'093'527'980'800)}), "+100000-01-01T00:00:00Z");
  EXPECT_EQ(to_string(Timestamp{std::chrono::seconds(-62'135'596'800)}), "0001-01-01T00:00:00Z");
  EXPECT_EQ(to_string(Timestamp{std::chrono::seconds(-62'167'219'201)}), "-0001-12-31T23:59:59Z");
  EXPECT_EQ(to_string(Timestamp::max()), "+294247-01-10T04:00:54.775807Z");
  EXPECT_EQ(to_string(Timestamp::min()), "-290308-12-21T19:59:05.224192Z");
}

TEST(TextTest, ThisProcessKnowsItself) {
  const auto self = Holder::self();
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_FALSE(self.name.empty());
  EXPECT_FALSE(self.host.empty());
  EXPECT_FALSE(self.boot_id.empty());
  EXPECT_GT(self.process_start, 0);
  EXPECT_FALSE(self.instance.empty());
  EXPECT_EQ(self.instance, Holder::self().instance);
  EXPECT_EQ(Holder::self("nightly").name, "nightly");
}

}  // namespace
}  // namespace leasehold::support

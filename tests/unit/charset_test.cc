// Texts for people in a database that cannot hold all of them.
#include "storage/postgres/texts.h"

#include <gtest/gtest.h>

namespace leasehold::support {
namespace {

using postgres::Charset;
using postgres::fitted;

TEST(CharsetTest, CharactersThatDoNotFitAreEscapedInErrors) {
  EXPECT_EQ(fitted("plain", "error", Charset::ascii), "plain");
  EXPECT_EQ(fitted("\xC3\xA9 \xE2\x86\x92 \xF0\x9F\x94\x92", "error", Charset::latin1),
            "\xC3\xA9 \\u{2192} \\u{1f512}");
  EXPECT_EQ(fitted("\xC3\xA9", "error", Charset::ascii), "\\u{e9}");
  EXPECT_EQ(fitted("", "error", Charset::latin1), "");
}

TEST(CharsetTest, ElsewhereItIsReplacedSoThatNoTextGetsLonger) {
  EXPECT_EQ(fitted("\xC3\xBF\xC4\x80\xE2\x86\x92", "message", Charset::latin1), "\xC3\xBF??");
  EXPECT_EQ(fitted("\xC3\xBF", "holder", Charset::ascii), "?");
}

TEST(CharsetTest, NamesAreNotProse) {
  for (const auto* name : {"error", "reason", "holder"}) EXPECT_TRUE(postgres::is_prose(name)) << name;
  for (const auto* name : {"queue", "name", "key", "dedupe_key", "set_name", "verdict"}) {
    EXPECT_FALSE(postgres::is_prose(name)) << name;
  }
}

}  // namespace
}  // namespace leasehold::support

// Texts that are JSON, and texts that are not.
#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace leasehold::support {
namespace {

TEST(JsonCheck, AnyValueIsJson) {
  for (const auto* text :
       {"null", "true", "false", "0", "-0", "17", "-1.5e+30", "1E5", "0.25", R"("")", R"("\u00e4\n\"\\\/")", "[]", "{}",
        " [ 1 , [ ] , { } , \"x\" ] ", R"({"a":1,"a":{"b":[null,{"c":2}]}})", "\n\t{\r\n}\n", R"("ä€😀")"}) {
    EXPECT_TRUE(is_json(text)) << text;
  }
}

TEST(JsonCheck, TruncatedOrTrailingTextIsNotJson) {
  for (const auto* text :
       {"",      " ",       "[",        "{",          "]",     "[1",    "[1,",      "[1,]", "[,1]",
        "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:2}", "{\"a\":1", "[1}",  "{\"a\":1]",
        "1 2",   "{} {}",   "nulls",    "nul",        "\"",    "\"a",   "\"\\\"",   "//"}) {
    EXPECT_FALSE(is_json(text)) << text;
  }
}

TEST(JsonCheck, NumbersAndStringsAreStrict) {
  for (const auto* text : {"01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "'a'", R"("\x")", R"("\u12g4")",
                           R"("\u123")", "\"\n\"", "\"\x01\"", "\"\xFF\""}) {
    EXPECT_FALSE(is_json(text)) << text;
  }
  EXPECT_FALSE(is_json(std::string_view("\"\0\"", 3)));
}

TEST(JsonCheck, ANumberMayHaveAnySize) {
  for (const auto* text : {"1e400", "-1E-400", "12345678901234567890123", "0.10", "1e2147483647"}) {
    EXPECT_TRUE(is_json(text)) << text;
  }
  EXPECT_TRUE(is_json(std::string(5000, '9') + "." + std::string(5000, '9')));
  EXPECT_FALSE(is_json("1e2147483648")) << "no common reader has an exponent of more than 31 bits";
}

TEST(JsonCheck, HalfOfASurrogatePairIsNoCharacter) {
  EXPECT_TRUE(is_json(R"("\ud83d\ude00")"));
  for (const auto* text : {R"("\ud800")", R"("\udc00")", R"("\ud800\ud800")", R"("\ud800x")", R"({"\ud800":1})"}) {
    EXPECT_FALSE(is_json(text)) << text;
  }
}

TEST(JsonCheck, AThousandDeepIsDeepEnough) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + "0" + std::string(depth, ']'); };
  EXPECT_TRUE(is_json(nested(1000)));
  EXPECT_FALSE(is_json(nested(1001)));
  EXPECT_FALSE(is_json(std::string(1001, '[') + std::string(1001, ']')));
  EXPECT_FALSE(is_json(std::string(1'000'000, '['))) << "and no stack overflows";
}

}  // namespace
}  // namespace leasehold::support

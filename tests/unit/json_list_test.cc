#include "base/json.h"

#include <gtest/gtest.h>

namespace leasehold::support {
namespace {

using Texts = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

TEST(JsonListTest, TextsComeOutAsTheyWentIn) {
  EXPECT_EQ(texts_from_json("[]"), Texts{});
  EXPECT_EQ(texts_from_json(R"(["red"])"), Texts{"red"});
  EXPECT_EQ(texts_from_json(R"(["red", "a b","c,d"])"), (Texts{"red", "a b", "c,d"}));
  EXPECT_EQ(texts_from_json(R"(["say \"hi\"","back\\slash","\/"])"), (Texts{"say \"hi\"", "back\\slash", "/"}));
  EXPECT_EQ(texts_from_json(R"(["\n\t","\u0001","\u00e9","\u20ac"])"),
            (Texts{"\n\t", "\x01", "\xC3\xA9", "\xE2\x82\xAC"}));
  EXPECT_EQ(texts_from_json("[\"\xF0\x9F\x94\x92\"]"), Texts{"\xF0\x9F\x94\x92"});
  EXPECT_EQ(texts_from_json(R"(["",""])"), (Texts{"", ""}));
}

TEST(JsonListTest, IntegersComeOutAsTheyWentIn) {
  EXPECT_EQ(integers_from_json("[]"), Integers{});
  EXPECT_EQ(integers_from_json("[1,22, -3]"), (Integers{1, 22, -3}));
  EXPECT_EQ(integers_from_json("[9007199254740993]"), Integers{9007199254740993});
}

TEST(JsonListTest, ElementsOfAnotherTypeArePassedOver) {
  EXPECT_EQ(texts_from_json(R"(["a",1,null,["b"],"c"])"), (Texts{"a", "c"}));
  EXPECT_EQ(integers_from_json(R"([1,"2",3.5,9223372036854775808,4])"), (Integers{1, 4}));
}

TEST(JsonListTest, AValueThatIsNoArrayHasNoElements) {
  for (const auto* text : {"", "[\"re", "[4", "\"a\"", "{\"a\":1}", "7", "[1] 2"}) {
    EXPECT_EQ(texts_from_json(text), Texts{}) << text;
    EXPECT_EQ(integers_from_json(text), Integers{}) << text;
  }
}

TEST(JsonListTest, TextsAreWrittenSoThatTheyComeBack) {
  const Texts texts = {"./report", "", "a \"b\" \\ /", "\n\t\x01\x7F", "\xC3\xA9\xF0\x9F\x94\x92"};
  EXPECT_EQ(texts_from_json(json_from_texts(texts)), texts);
  EXPECT_EQ(json_from_texts({}), "[]");
  EXPECT_EQ(json_from_texts({"a", "\"\n"}), R"(["a","\"\n"])");
}

}  // namespace
}  // namespace leasehold::support

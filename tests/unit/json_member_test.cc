// Cutting a member out of a JSON object.
#include "base/json.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

TEST(JsonMemberTest, IsGivenAsItIsWritten) {
  const auto* const object = R"( { "a" : 1.50 , "cursor":{"x":[1,{"y":"}"}] ,"z":"\\\"]"}, "b":"q\"uote" } )";
  EXPECT_EQ(json_member(object, "a"), "1.50");
  EXPECT_EQ(json_member(object, "cursor"), R"({"x":[1,{"y":"}"}] ,"z":"\\\"]"})");
  EXPECT_EQ(json_member(object, "b"), R"("q\"uote")");
  for (const auto* number : {"12345678901234567890123", "0.10", "1e400", "-1E-400", "12345678901234567890"}) {
    EXPECT_EQ(json_member(R"({"n":)" + std::string(number) + R"(,"m":[]})", "n"), number);
  }
  EXPECT_EQ(json_member(R"({"n":null,"m":true})", "n"), "null");
}

TEST(JsonMemberTest, OnlyOfTheObjectItself) {
  EXPECT_EQ(json_member(R"({"a":{"cursor":1}})", "cursor"), std::nullopt);
  EXPECT_EQ(json_member(R"({"a":"cursor"})", "cursor"), std::nullopt);
  EXPECT_EQ(json_member(R"({"cursors":1,"curso":2})", "cursor"), std::nullopt);
}

TEST(JsonMemberTest, IsFoundHoweverItsNameIsWritten) {
  EXPECT_EQ(json_member(R"({ "c\u0075rsor" : [ 1 ] , "a\"b" : 2 })", "cursor"), "[ 1 ]");
  EXPECT_EQ(json_member(R"({ "c\u0075rsor" : [ 1 ] , "a\"b" : 2 })", "a\"b"), "2");
  EXPECT_EQ(json_member(R"({"":0.0})", ""), "0.0");
}

TEST(JsonMemberTest, TheLastOfSeveralCounts) { EXPECT_EQ(json_member(R"({"a":1,"a":[2]})", "a"), "[2]"); }

TEST(JsonMemberTest, MembersAndElementsAreInTheirOrder) {
  const auto members = json_members(R"( { "a" : "}\\" , "b":[{"c":"]"},{}] , "d" : -1.5e3 } )");
  ASSERT_TRUE(members);
  ASSERT_EQ(members->size(), 3U);
  EXPECT_EQ(members->at(0).written, R"("}\\")");
  EXPECT_EQ(members->at(1).key, "\"b\"");
  EXPECT_EQ(members->at(2).written, "-1.5e3");
  EXPECT_EQ(json_elements(members->at(1).written), (std::vector<std::string_view>{R"({"c":"]"})", "{}"}));
  EXPECT_TRUE(json_elements(" [ ] ")->empty());
  EXPECT_FALSE(json_elements("{}"));
  EXPECT_FALSE(json_members("[]"));
}

TEST(JsonMemberTest, TextThatIsNoJsonIsNotReadBeyondItsEnd) {
  for (const auto* text :
       {"{\"a", "{\"a\"", "{\"a\":", "{\"a\":[", "{\"a\":\"\\", "[1", "[\"", "{]", "[}", "{,", "[\"a\\"}) {
    json_members(text);
    json_elements(text);
  }
}

TEST(JsonMemberTest, AValueThatIsNoObjectHasNoMembers) {
  for (const auto* text : {"{}", "[]", "7", "\"a\"", " { } "}) EXPECT_EQ(json_member(text, "a"), std::nullopt) << text;
}

TEST(JsonMemberTest, AnObjectAsTextsHasStringsAsThemselvesAndTheRestAsWritten) {
  using Member = std::pair<std::string, std::optional<std::string>>;
  const auto members = texts_of_object(R"({"a\u0062" : "it\"s" , "n":1.50, "none": null,"deep":[ {"x":"}"} ]})");
  ASSERT_TRUE(members);
  EXPECT_EQ(*members, (std::vector<Member>{
                          {"ab", "it\"s"}, {"n", "1.50"}, {"none", std::nullopt}, {"deep", R"([ {"x":"}"} ])"}}));
  EXPECT_TRUE(texts_of_object("{}")->empty());
  EXPECT_FALSE(texts_of_object("[]"));
}

}  // namespace
}  // namespace leasehold

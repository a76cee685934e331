// --json: the shape of every value and error.
#include "model/json.h"
#include "base/json_text.h"
#include "cli/tool.h"

namespace leasehold::support {
namespace {

using Json = ToolTest;

TEST_F(Json, AGrantHasItsTokenAsANumberAndItsTimesAsText) {
  const auto grant = json({"lock", "acquire", "deploy", "--ttl", "1500ms", "--holder", "ana"});
  EXPECT_EQ(grant.at("name"), "deploy");
  EXPECT_TRUE(grant.at("token").is_int64());
  EXPECT_EQ(grant.at("ttl_seconds"), 1.5);
  EXPECT_EQ(grant.at("holder").at("name"), "ana");
  EXPECT_EQ(grant.at("until").as_string().back(), 'Z');
  EXPECT_EQ(grant.at("replayed"), false);
  EXPECT_LT(grant.at("trusted_for_seconds").to_number<double>(), 1.5);
}

TEST_F(Json, ARefusalIsAnErrorOnStdoutWithTheHolderInIt) {
  acquired("deploy", {"--holder", "ana"});
  const auto error = json({"lock", "acquire", "deploy"}, 75).at("error");
  EXPECT_EQ(error.at("code"), "held");
  EXPECT_EQ(error.at("held_by").at("holder").at("name"), "ana");
  EXPECT_EQ(error.at("held_by").at("ttl_seconds"), 30);
  EXPECT_TRUE(error.at("held_by").at("retry_in_seconds").is_number());
}

TEST_F(Json, ALostLeaseShowsWhy) {
  const auto token = acquired("deploy");
  json({"lock", "revoke", "deploy", "--reason", "test", "--yes"});
  const auto error = json({"lock", "heartbeat", "deploy", "--token", token}, 76).at("error");
  EXPECT_EQ(error.at("code"), "lost");
  EXPECT_EQ(error.at("lost_reason"), "revoked");
}

TEST_F(Json, AMistypedCommandLineIsAnErrorToo) {
  make_store();
  EXPECT_EQ(json({"lock", "aquire", "x"}, 2).at("error").at("code"), "invalid_argument");
  EXPECT_EQ(json({"lock", "show", "nobody"}, 4).at("error").at("code"), "not_found");
}

TEST_F(Json, TheOtherCommandsGiveObjectsAndArrays) {
  const auto token = acquired("deploy");
  EXPECT_TRUE(json({"lock", "show", "deploy"}).is_object());
  EXPECT_TRUE(json({"lock", "ls"}).at("items").is_array());
  EXPECT_TRUE(json({"events"}).at("items").is_array());
  EXPECT_TRUE(json({"status"}).is_object());
  EXPECT_TRUE(json({"doctor"}).at("items").is_array());
  EXPECT_TRUE(json({"migrate", "up"}).at("items").as_array().empty());
  EXPECT_EQ(json({"migrate", "status"}).at("items").at(1).at("name"), "lease");
  EXPECT_TRUE(json({"migrate", "verify"}).at("items").as_array().empty());
  EXPECT_TRUE(json({"migrate", "plan"}).at("sql").is_string());
  EXPECT_EQ(json({"lock", "release", "deploy", "--token", token}).at("released"), true);
}

TEST(Wire, TextThatIsNotUtf8StillGivesJsonThatParses) {
  const Error error{.code = Errc::internal, .message = "a\xFF\"\n\xE2\x82\xAC\xE2\x82"};
  const auto parsed = boost::json::parse(model::to_json(error));
  EXPECT_EQ(parsed.at("error").at("message"), "a\xEF\xBF\xBD\"\n\xE2\x82\xAC\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Wire, NumbersAreWrittenAsPeopleWriteThem) {
  EXPECT_EQ(model::json_object({{"a", 0.25}, {"b", std::int64_t{7}}, {"c", true}, {"d", "x"}}),
            R"({"a":0.25,"b":7,"c":true,"d":"x"})");
}

TEST(Wire, Base64IsReversible) {
  const std::pair<std::string, std::string> cases[] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
                                                       {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xFB\xFF\xFE", "+//+"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  for (const auto* text : {"Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9-", "Zm 9"}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace leasehold::support

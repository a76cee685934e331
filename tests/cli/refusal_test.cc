// A refused command prints the holder, and never the token, which would let its reader act for the holder.
#include "cli/session_tool.h"

namespace leasehold::support {
namespace {

class ToolRefusal : public SessionToolTest {
 protected:
  /// Refused, as text and as JSON, and without the token.
  void expect_no_proof(const Arguments& arguments, const std::string& token) {
    ASSERT_GT(token.size(), 10U);
    for (const bool as_json : {false, true}) {
      auto words = arguments;
      if (as_json) words.push_back("--json");
      const auto refused = tool(words);
      const auto said = refused.out + refused.err;
      EXPECT_NE(said, "");
      EXPECT_EQ(said.find(token), std::string::npos) << said;
      EXPECT_NE(refused.exit_code, 0) << said;
    }
  }
  std::string granted(const Arguments& arguments) { return std::to_string(json(arguments).at("token").as_int64()); }
};
LEASEHOLD_ON_BOTH_STORES(ToolRefusal);

TEST_P(ToolRefusal, OfALockShowsNoToken) {
  const auto token = acquired("deploy", {"--holder", "ana", "--ttl", "1m"});
  expect_no_proof({"lock", "acquire", "deploy"}, token);
  expect_no_proof({"lock", "acquire", "deploy", "--wait", "10ms"}, token);
  expect_no_proof({"lock", "acquire", "deploy", "other"}, token);
  expect_no_proof({"lock", "acquire", "deploy", "--shared"}, token);
  expect_no_proof({"lock", "run", "deploy", "--", "true"}, token);
  expect_no_proof({"lock", "heartbeat", "deploy", "--token", "1"}, token);
  expect_no_proof({"lock", "release", "deploy", "--token", "1"}, token);
  const auto current = json({"lock", "acquire", "deploy"}, 75).at("error").at("held_by");
  EXPECT_TRUE(current.at("token").is_null());
  EXPECT_TRUE(current.at("holder").at("instance").is_null());
  EXPECT_EQ(current.at("holder").at("name"), "ana");
}

TEST_P(ToolRefusal, OfAJobShowsNoToken) {
  ASSERT_EQ(tool({"queue", "set", "mail", "--max-running", "1"}).exit_code, 0);
  ASSERT_EQ(tool({"job", "add", "mail", "a"}).exit_code, 0);
  ASSERT_EQ(tool({"job", "add", "mail", "b"}).exit_code, 0);
  const auto granted_job = json({"job", "claim", "mail"});
  const auto token = std::to_string(granted_job.at("token").as_int64());
  expect_no_proof({"job", "claim", "mail"}, token);
  expect_no_proof({"job", "complete", "1", "--token", "1"}, token);
}

TEST_P(ToolRefusal, OfASessionOrAnItemShowsNoToken) {
  const auto session = opened("ann");
  opened("ben");
  const auto claim = taken("SD-1", "ann");
  for (const auto& token : {session, claim}) {
    expect_no_proof({"session", "open", "--id", "ann"}, token);
    expect_no_proof({"session", "heartbeat", "ann", "--token", "1"}, token);
    expect_no_proof({"claim", "take", "SD-1", "--session", "ben"}, token);
    expect_no_proof({"claim", "release", "SD-1", "--session", "ben", "--token", "1"}, token);
    expect_no_proof({"item", "done", "SD-1"}, token);
    expect_no_proof({"item", "done", "SD-1", "--token", "1"}, token);
  }
}

TEST_P(ToolRefusal, OfAScheduleShowsNoToken) {
  ASSERT_EQ(tool({"schedule", "set", "refresh", "--every", "10m", "--next", "now"}).exit_code, 0);
  const auto token = granted({"schedule", "acquire", "refresh", "--now"});
  expect_no_proof({"schedule", "acquire", "refresh", "--now"}, token);
  expect_no_proof({"schedule", "heartbeat", "refresh", "--token", "1"}, token);
  expect_no_proof({"schedule", "complete", "refresh", "--token", "1"}, token);
}

}  // namespace
}  // namespace leasehold::support

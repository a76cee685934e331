// --json, for every command: stdout is JSON and nothing else, and a refusal is reported once.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <sstream>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

class JsonRule : public ToolTest {
 protected:
  /// leasehold WORDS --json [-- COMMAND]: the option comes before the mark.
  Finished with_json(Arguments words) {
    const auto mark = std::find(words.begin(), words.end(), "--");
    words.insert(mark, "--json");
    return tool(words);
  }

  static testing::AssertionResult is_json_lines(const std::string& text) {
    std::istringstream lines(text);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      std::error_code broken;
      boost::json::parse(line, broken);
      if (broken) return testing::AssertionFailure() << "no JSON: " << line;
    }
    if (count == 0) return testing::AssertionFailure() << "nothing on stdout";
    return testing::AssertionSuccess();
  }
};

TEST_F(JsonRule, ARefusalIsOneObjectOnStdoutAndNothingOnStderr) {
  acquired("deploy", {"--lock-delay", "1h"});
  ASSERT_EQ(tool({"schedule", "set", "refresh", "--every", "1h", "--next", "now"}).exit_code, 0);
  ASSERT_EQ(tool({"schedule", "acquire", "refresh"}).exit_code, 0);
  for (const auto* id : {"ann-1", "bob-1"}) ASSERT_EQ(tool({"session", "open", "--id", id}).exit_code, 0);
  ASSERT_EQ(tool({"claim", "take", "SD-1", "--create", "--session", "ann-1"}).exit_code, 0);
  ASSERT_EQ(tool({"rate", "take", "api", "--every", "1h"}).exit_code, 0);
  ASSERT_EQ(tool({"chunk", "plan", "orders", "--range", "1..10", "--size", "10"}).exit_code, 0);
  ASSERT_EQ(tool({"chunk", "claim", "orders"}).exit_code, 0);
  const std::vector<std::pair<Arguments, int>> refusals = {
      {{"lock", "acquire", "deploy"}, 75},
      {{"lock", "run", "deploy", "--", "true"}, 75},
      {{"elect", "deploy", "--wait", "0s", "--", "true"}, 75},
      {{"lock", "heartbeat", "deploy", "--token", "5"}, 76},
      {{"lock", "release", "deploy", "--token", "5"}, 76},
      {{"lock", "show", "nobody"}, 4},
      {{"lock", "revoke", "deploy"}, 2},
      {{"job", "claim", "mail"}, 3},
      {{"job", "show", "17"}, 4},
      {{"job", "complete", "17", "--token", "5"}, 4},
      {{"job", "wait", "17"}, 4},
      {{"work", "mail", "--once", "--", "true"}, 3},
      {{"queue", "show", "mail"}, 4},
      {{"chunk", "claim", "orders"}, 75},
      {{"chunk", "claim", "nobody"}, 4},
      {{"chunk", "run", "orders", "--once", "--", "true"}, 75},
      {{"chunk", "complete", "orders", "1-10", "--token", "5"}, 76},
      {{"rate", "take", "api", "--wait", "0"}, 75},
      {{"rate", "show", "nobody"}, 4},
      {{"session", "open", "--id", "ann-1"}, 75},
      {{"session", "run", "--id", "ann-1", "--", "true"}, 75},
      {{"session", "show", "nobody"}, 4},
      {{"claim", "take", "SD-1", "--session", "bob-1"}, 75},
      {{"claim", "take", "SD-1", "--session", "nobody"}, 76},
      {{"item", "done", "SD-1"}, 75},
      {{"item", "show", "nobody"}, 4},
      {{"schedule", "acquire", "refresh"}, 75},
      {{"schedule", "run", "refresh", "--", "true"}, 75},
      {{"schedule", "complete", "refresh", "--token", "5"}, 76},
      {{"schedule", "show", "nobody"}, 4},
      {{"lock", "aquire", "x"}, 2},
      {{"help", "nothing"}, 4},
  };
  for (const auto& [words, code] : refusals) {
    const auto refused = with_json(words);
    const auto line = words[0] + " " + (words.size() > 1 ? words[1] : "");
    EXPECT_EQ(refused.exit_code, code) << line << refused.out << refused.err;
    EXPECT_TRUE(is_json_lines(refused.out)) << line;
    // An election prints each change of role, too.
    EXPECT_EQ(std::count(refused.out.begin(), refused.out.end(), '\n'), words[0] == "elect" ? 2 : 1) << refused.out;
    EXPECT_EQ(refused.err, "") << line;
  }
}

TEST_F(JsonRule, WithoutItARefusalIsOnlyOnStderr) {
  acquired("deploy");
  const auto refused = tool({"lock", "run", "deploy", "--", "true"});
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(contains(refused.err, "deploy is held by"));
}

TEST_F(JsonRule, AWrappedCommandPrintsToStderr) {
  ASSERT_EQ(tool({"job", "add", "mail", "x"}).exit_code, 0);
  ASSERT_EQ(tool({"chunk", "plan", "orders", "--range", "1..10", "--size", "10"}).exit_code, 0);
  ASSERT_EQ(tool({"schedule", "set", "echo", "--every", "1h", "--next", "now", "--", "echo", "noise"}).exit_code, 0);
  const std::vector<Arguments> wrappers = {
      {"lock", "run", "deploy", "--", "echo", "noise"},
      {"session", "run", "--", "echo", "noise"},
      {"schedule", "run", "refresh", "--every", "1h", "--", "echo", "noise"},
      {"elect", "billing", "--", "echo", "noise"},
      {"work", "mail", "--once", "--", "echo", "noise"},
      {"chunk", "run", "orders", "--", "echo", "noise"},
      {"schedule", "daemon", "--once", "--commands"},
  };
  for (const auto& words : wrappers) {
    const auto done = with_json(words);
    EXPECT_EQ(done.exit_code, 0) << words[0] << done.err;
    EXPECT_TRUE(is_json_lines(done.out)) << words[0] << " " << words[1];
    EXPECT_TRUE(contains(done.err, "noise\n")) << words[0] << " " << words[1];
  }
  EXPECT_EQ(tool({"lock", "run", "deploy", "--", "echo", "result"}).out, "result\n");
}

TEST_F(JsonRule, TheExitCodeOfTheCommandDiffersFromThatOfARefusal) {
  const auto done = with_json({"lock", "run", "deploy", "--", "sh", "-c", "exit 75"});
  EXPECT_EQ(done.exit_code, 75);
  const auto reported = boost::json::parse(done.out);
  EXPECT_EQ(reported.at("name"), "deploy");
  EXPECT_EQ(reported.at("exit_code"), 75);
  EXPECT_TRUE(reported.at("token").is_int64());
}

TEST_F(JsonRule, PagesAndScriptsAreJsonToo) {
  for (const Arguments& words : {Arguments{"--version"}, Arguments{"lock", "run", "--help"}, Arguments{"help", "lock"},
                                 Arguments{"man"}, Arguments{"completion", "bash"}}) {
    const auto done = with_json(words);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_TRUE(is_json_lines(done.out));
  }
}

}  // namespace
}  // namespace leasehold::support

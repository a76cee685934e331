// Command lines that are wrong, and help for those who ask.
#include <algorithm>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

using Usage = ToolTest;

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(Usage, MistypedWordsGetAGuessOneLineAndCode2) {
  struct Case {
    Arguments arguments;
    std::string told;
  };
  const std::vector<Case> cases = {
      {{"lok"}, "did you mean lock?"},
      {{"lock", "aquire", "x"}, "did you mean acquire? (see leasehold lock --help)"},
      {{"lock", "acquire", "x", "--tl", "5s"}, "did you mean --ttl? (see leasehold lock acquire --help)"},
      {{"lock", "heartbeat", "x", "--tokn=5"}, "did you mean --token?"},
      {{"migrate", "staus"}, "did you mean status?"},
      {{"man", "lock", "relase"}, "did you mean release?"},
  };
  for (const auto& [arguments, told] : cases) {
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, arguments.front() == "man" ? 4 : 2) << told;
    EXPECT_TRUE(contains(finished.err, told));
    EXPECT_EQ(lines_in(finished.err), 1U) << finished.err;
    EXPECT_EQ(finished.out, "");
  }
}

TEST_F(Usage, WhatIsMissingOrTooMuchIsNamed) {
  EXPECT_TRUE(contains(tool({"lock", "acquire"}).err, "NAME"));
  EXPECT_TRUE(contains(tool({"lock", "release", "x"}).err, "--token"));
  EXPECT_TRUE(contains(tool({"lock", "show", "a", "b"}).err, "unexpected argument \"b\""));
  EXPECT_TRUE(contains(tool({"lock"}).err, "a command is missing (see leasehold lock --help)"));
  EXPECT_EQ(tool({"lock"}).exit_code, 2);
  EXPECT_TRUE(contains(tool({"lock", "run", "--", "echo", "hi"}).err, "NAME"));
  EXPECT_EQ(tool({"lock", "run", "--", "echo", "hi"}).exit_code, 2);
  EXPECT_EQ(tool({"lock", "ls", "--db", ""}).exit_code, 2);
  const auto bare = tool({});
  EXPECT_EQ(bare.exit_code, 2);
  EXPECT_TRUE(contains(bare.err, "Usage: leasehold"));
}

TEST_F(Usage, NamesOfCommandsAreNamesOfLocksToo) {
  for (const auto* name : {"status", "lock", "acquire", "events"}) {
    EXPECT_EQ(tool({"lock", "acquire", name}).exit_code, 0) << name;
  }
  EXPECT_EQ(tool({"lock", "acquire", "--", "--ttl"}).exit_code, 0);
}

TEST_F(Usage, BadDurationsAndTtlsAreUsageErrors) {
  for (const auto* text : {"", "5", "-5s", "5 parsecs", "1s1m", "99999999999999999999d", "0.5s", "0", "1ms", "31d"}) {
    const auto finished = tool({"lock", "acquire", "x", "--ttl", text});
    EXPECT_EQ(finished.exit_code, 2) << text << ": " << finished.out << finished.err;
    EXPECT_NE(finished.err, "");
  }
  EXPECT_EQ(tool({"lock", "show", "x"}).exit_code, 4);
}

TEST_F(Usage, BadTokensAreUsageErrors) {
  for (const auto* text : {"", "x", "-1", "0", "1.5", "99999999999999999999", "7 "}) {
    EXPECT_EQ(tool({"lock", "release", "x", "--token", text}).exit_code, 2) << text;
  }
}

TEST_F(Usage, BadNamesAreUsageErrors) {
  const std::string half_of_an_euro = "\xE2\x82";
  for (const std::string& name : {std::string(), std::string(100'000, 'x'), std::string("a\nb"), half_of_an_euro}) {
    const auto finished = tool({"lock", "acquire", name});
    EXPECT_EQ(finished.exit_code, 2) << finished.out << finished.err;
    EXPECT_LT(finished.err.size(), 300U);
    EXPECT_FALSE(contains(finished.err, "\xE2"));
  }
}

TEST_F(Usage, StoresThatAreNoneAreUsageErrors) {
  for (const auto* url : {"mysql://x", "nonsense", "sqlite:", "sqlite:x?synchronous=perhaps"}) {
    const auto finished = tool({"status", "--db", url});
    EXPECT_EQ(finished.exit_code, 2) << url << finished.err;
    EXPECT_NE(finished.err, "");
  }
}

TEST_F(Usage, HelpOfEveryCommandHasExamplesAndGoesToStdout) {
  const std::vector<Arguments> commands = {{},
                                           {"lock"},
                                           {"lock", "acquire"},
                                           {"lock", "heartbeat"},
                                           {"lock", "release"},
                                           {"lock", "run"},
                                           {"lock", "show"},
                                           {"lock", "ls"},
                                           {"lock", "revoke"},
                                           {"events"},
                                           {"status"},
                                           {"doctor"},
                                           {"migrate"},
                                           {"migrate", "up"},
                                           {"migrate", "down"},
                                           {"migrate", "status"},
                                           {"migrate", "verify"},
                                           {"migrate", "plan"},
                                           {"prune"},
                                           {"grant"},
                                           {"demo"},
                                           {"completion"},
                                           {"man"}};
  for (auto arguments : commands) {
    arguments.push_back("--help");
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(finished.err, "");
    EXPECT_TRUE(contains(finished.out, "EXAMPLES\n  "));
    EXPECT_TRUE(contains(finished.out, "Usage: leasehold"));
  }
}

TEST_F(Usage, VersionIsOneLine) {
  const auto finished = tool({"--version"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_TRUE(finished.out.starts_with("leasehold 0."));
  EXPECT_EQ(lines_in(finished.out), 1U);
}

}  // namespace
}  // namespace leasehold::support

// Wrong command lines, and help.
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
    std::string reported;
  };
  const std::vector<Case> cases = {
      {{"lok"}, "did you mean lock?"},
      {{"lock", "take", "x"}, "did you mean acquire?"},
      {{"lock", "unlock", "x"}, "did you mean release?"},
      {{"lock", "deploy", "--", "make"}, "did you mean leasehold lock run deploy -- ...?"},
      {{"job", "done", "5"}, "did you mean complete?"},
      {{"job", "delete", "5"}, "did you mean rm?"},
      {{"session", "start"}, "did you mean open?"},
      {{"claim", "done", "SD-1"}, "did you mean leasehold item done?"},
      {{"schedule", "define", "x"}, "did you mean set?"},
      {{"schedule", "finish", "x"}, "did you mean complete?"},
      {{"limit", "take", "x"}, "did you mean rate?"},
      {{"lock", "acquire", "x", "--timeout", "5s"}, "did you mean --wait?"},
      {{"lock", "acquire", "x", "--lease", "5s"}, "did you mean --ttl?"},
      {{"job", "ls", "--limit", "5"}, "did you mean --max?"},
      {{"job", "add", "q", "x", "--after", "5"}, "did you mean --depends-on?"},
      {{"job", "add", "q", "x", "--retries=5"}, "did you mean --max-failures?"},
      {{"lock", "aquire", "x"}, "did you mean acquire? (see leasehold lock --help)"},
      {{"lock", "acquire", "x", "--tl", "5s"}, "did you mean --ttl? (see leasehold lock acquire --help)"},
      {{"lock", "heartbeat", "x", "--tokn=5"}, "did you mean --token?"},
      {{"migrate", "staus"}, "did you mean status?"},
      {{"man", "lock", "relase"}, "did you mean release?"},
      {{"help", "lock", "relase"}, "did you mean release?"},
      {{"job", "clam", "mail"}, "did you mean claim?"},
      {{"job", "add", "mail", "x", "--dely", "5s"}, "did you mean --delay?"},
      {{"chunk", "progres", "orders"}, "did you mean progress?"},
      {{"elect", "e1", "--wit", "0s", "--", "true"}, "did you mean --wait?"},
      {{"chunk", "run", "orders", "--ttll", "5s", "--", "true"}, "did you mean --ttl?"},
      {{"session", "run", "--lable", "x", "--", "true"}, "did you mean --label?"},
      {{"schedule", "run", "x", "--evry", "5m", "--", "true"}, "did you mean --every?"},
      {{"schedule", "set", "x", "--evry", "5m", "--", "true"}, "did you mean --every?"},
      {{"lock", "list"}, "did you mean ls?"},
      {{"job", "list"}, "did you mean ls?"},
      {{"version"}, "did you mean --version?"},
  };
  for (const auto& [arguments, reported] : cases) {
    const auto finished = tool(arguments);
    const bool asked_for_page = arguments.front() == "man" || arguments.front() == "help";
    EXPECT_EQ(finished.exit_code, asked_for_page ? 4 : 2) << reported;
    EXPECT_TRUE(contains(finished.err, reported));
    EXPECT_EQ(lines_in(finished.err), 1U) << finished.err;
    EXPECT_EQ(finished.out, "");
  }
}

TEST_F(Usage, AMissingOrExtraArgumentIsNamed) {
  EXPECT_TRUE(contains(tool({"lock", "acquire"}).err, "NAME"));
  EXPECT_TRUE(contains(tool({"lock", "release", "x"}).err, "--token"));
  EXPECT_TRUE(contains(tool({"lock", "show", "a", "b"}).err, "unexpected argument \"b\""));
  EXPECT_TRUE(contains(tool({"lock"}).err, "a command is missing (see leasehold lock --help)"));
  EXPECT_EQ(tool({"lock"}).exit_code, 2);
  EXPECT_TRUE(contains(tool({"lock", "run", "--", "echo", "hi"}).err, "NAME"));
  EXPECT_EQ(tool({"lock", "run", "--", "echo", "hi"}).exit_code, 2);
  EXPECT_EQ(tool({"lock", "ls", "--db", ""}).exit_code, 2);
  const auto empty = tool({});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_TRUE(contains(empty.err, "Usage: leasehold"));
}

TEST_F(Usage, ParserMessagesAreInOurWords) {
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"lock", "acquire", "x", "--ttl"}, "--ttl: the value is missing: write --ttl DURATION"},
      {{"lock", "acquire", "x", "--ttl", "5s", "--ttl", "6s"}, "--ttl: given twice"},
      {{"lock", "acquire", "x", "--permits", "1", "--capacity", "many"}, "--capacity: \"many\" is not a valid number"},
      {{"demo", "--workers", "1"}, "\"1\" is not a number from 2 to 64"}};
  for (const auto& [arguments, reported] : cases) {
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 2) << reported;
    EXPECT_TRUE(contains(finished.err, reported));
  }
  EXPECT_TRUE(contains(tool({"job", "ls", "--help"}).out, "--page PAGE "));
  EXPECT_TRUE(contains(tool({"demo", "--help"}).out, "--workers N "));
}

/// The command line of a script whose variable is not set.
TEST_F(Usage, AnEmptyValueIsNotTakenForAnOptionLeftOut) {
  const std::vector<std::pair<Arguments, std::string>> lines = {
      {{"job", "add", "mail", "x"}, "--dedupe"},
      {{"job", "add", "mail", "x"}, "--group"},
      {{"job", "add", "mail", "x"}, "--tag"},
      {{"job", "add", "mail"}, "--file"},
      {{"job", "claim", "mail"}, "--request-id"},
      {{"job", "claim", "mail"}, "--holder"},
      {{"job", "ls"}, "--queue"},
      {{"job", "ls"}, "--tag"},
      {{"lock", "acquire", "x"}, "--holder"},
      {{"lock", "acquire", "x"}, "--request-id"},
      {{"chunk", "plan", "orders"}, "--file"},
      {{"chunk", "skip", "orders", "a"}, "--reason"},
      {{"claim", "revoke", "SD-1", "--yes"}, "--reason"},
      {{"claim", "ls"}, "--session"},
      {{"session", "open"}, "--id"},
      {{"schedule", "set", "x", "--every", "5m"}, "--enqueue"},
      {{"schedule", "acquire", "x"}, "--request-id"},
      {{"man"}, "--into"},
      {{"status"}, "--db"},
  };
  for (const auto& [line, option] : lines) {
    auto arguments = line;
    arguments.insert(arguments.end(), {option, ""});
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 2) << line.front() << finished.out;
    EXPECT_TRUE(contains(finished.err, option + ": it is empty"));
    arguments = line;
    arguments.insert(arguments.end(), {option + "=", "next"});
    EXPECT_EQ(tool(arguments).exit_code, 2) << option << " has swallowed the next word";
  }
  EXPECT_TRUE(contains(tool({"lock", "ls"}).err, "there is no store")) << "nothing was done";
}

TEST_F(Usage, WordsThatTheParserWouldTakeApartAreRefused) {
  ASSERT_EQ(tool({"chunk", "plan", "k2", "--file", "-"}, {}, R"({"key":"[1,2]"})").exit_code, 0);
  const std::vector<std::pair<Arguments, std::string>> lines = {
      {{"chunk", "reset", "k2", "[1,2]"}, "\"[1,2]\""},
      {{"item", "add", "i4", "--conflicts", "[i2,i3]"}, "\"[i2,i3]\""},
      {{"item", "add", "i4", "--conflicts=[i2,i3]"}, "\"[i2,i3]\""},
      {{"work", "[q1,q2]", "mail", "--once", "--", "true"}, "\"[q1,q2]\""},
      {{"lock", "acquire", "z", "--", "[a,b]"}, "\"[a,b]\""},
      {{"lock", "acquire", "z", "[]"}, "\"[]\""},
      {{"lock", "acquire", "z", "++"}, "unexpected argument \"++\""}};
  for (const auto& [arguments, reported] : lines) {
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 2) << reported << finished.out;
    EXPECT_TRUE(contains(finished.err, reported));
  }
  EXPECT_EQ(tool({"lock", "show", "z"}).exit_code, 4);
  EXPECT_EQ(tool({"chunk", "skip", "k2", "[1,2]", "--reason", "++"}).exit_code, 0) << "as they are written";
  EXPECT_EQ(tool({"lock", "run", "[z]", "--", "echo", "[a,b]", "++"}).out, "[a,b] ++\n");
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

TEST_F(Usage, ADirectionMarkIsShownAsItsNumber) {
  const std::string name = "a\u202Eb\u2066c\u00E9\u2060";
  ASSERT_EQ(tool({"lock", "acquire", name}).exit_code, 0);
  EXPECT_TRUE(contains(tool({"lock", "ls"}).out, "a\\u202eb\\u2066c\u00E9\u2060"));
}

TEST_F(Usage, StoresThatAreNoneAreUsageErrors) {
  for (const auto* url : {"mysql://x", "nonsense", "sqlite:", "sqlite:x?synchronous=perhaps"}) {
    const auto finished = tool({"status", "--db", url});
    EXPECT_EQ(finished.exit_code, 2) << url << finished.err;
    EXPECT_NE(finished.err, "");
  }
}

TEST_F(Usage, HelpOfEveryCommandHasExamplesAndGoesToStdout) {
  const std::vector<std::pair<std::string, Arguments>> groups = {
      {"lock", {"acquire", "heartbeat", "release", "run", "show", "ls", "revoke"}},
      {"job",
       {"add", "import", "claim", "heartbeat", "complete", "fail", "release", "snooze", "show", "ls", "errors",
        "payload", "result", "wait", "cancel", "retry", "redrive", "delete"}},
      {"queue", {"ls", "show", "set", "pause", "resume", "drain", "purge"}},
      {"chunk",
       {"plan", "run", "claim", "heartbeat", "complete", "fail", "release", "skip", "progress", "show", "ls", "reset",
        "set", "rm"}},
      {"limit", {"take", "set", "show", "ls", "rm"}},
      {"migrate", {"up", "down", "status", "verify", "plan"}}};
  std::vector<Arguments> commands = {{},        {"events"}, {"status"}, {"doctor"},     {"recover"}, {"prune"},
                                     {"grant"}, {"demo"},   {"help"},   {"completion"}, {"man"}};
  for (const auto& [group, members] : groups) {
    commands.push_back({group});
    for (const auto& member : members) commands.push_back({group, member});
  }
  for (auto arguments : commands) {
    arguments.push_back("--help");
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(finished.err, "");
    EXPECT_TRUE(contains(finished.out, "EXAMPLES\n  "));
    EXPECT_TRUE(contains(finished.out, "Usage: leasehold"));
  }
}

TEST_F(Usage, HelpAsAWordIsHelpAsAnOption) {
  EXPECT_EQ(tool({"help"}).out, tool({"--help"}).out);
  EXPECT_EQ(tool({"help", "lock", "run"}).out, tool({"lock", "run", "--help"}).out);
}

TEST_F(Usage, HelpShowsHowToWriteADuration) {
  EXPECT_TRUE(contains(tool({"lock", "acquire", "--help"}).out, "A DURATION is written 250ms, 30s, 1m30s, 2h or 7d."));
  EXPECT_FALSE(contains(tool({"lock", "show", "--help"}).out, "DURATION"));
}

TEST_F(Usage, ASingleLetterIsNoReasonToGuess) {
  const auto finished = tool({"lock", "ls", "-x"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_TRUE(contains(finished.err, "unknown option \"-x\""));
  EXPECT_FALSE(contains(finished.err, "did you mean"));
}

TEST_F(Usage, VersionIsOneLine) {
  EXPECT_EQ(tool({"-V"}).out, tool({"--version"}).out);
  const auto finished = tool({"--version"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_TRUE(finished.out.starts_with("leasehold 0."));
  EXPECT_EQ(lines_in(finished.out), 1U);
}

}  // namespace
}  // namespace leasehold::support

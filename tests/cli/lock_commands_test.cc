// The lock commands: what they print, where, and with which exit code.
#include <signal.h>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

using LockCommands = ToolTest;

TEST_F(LockCommands, AcquireShowsTheTokenAndUntilWhen) {
  const auto finished = tool({"lock", "acquire", "deploy", "--ttl", "5m"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(finished.out.starts_with("granted deploy  token "));
  EXPECT_TRUE(contains(finished.out, "(5m)"));
  EXPECT_EQ(finished.err, "");
}

TEST_F(LockCommands, QuietAcquirePrintsNothingButNameAndToken) {
  const auto finished = tool({"lock", "acquire", "deploy", "-q"});
  const auto token = token_in(finished.out);
  EXPECT_GT(std::stoll(token), 0);
  EXPECT_EQ(finished.out, "deploy " + token + "\n");
  const auto both = tool({"lock", "acquire", "b", "a", "-q"}).out;
  EXPECT_EQ(both, "b " + token_in(both) + "\na " + token_in(both) + "\n");
  for (const auto* name : {"deploy", "a"}) {
    EXPECT_EQ(tool({"lock", "release", name, "--token", name == std::string("a") ? token_in(both) : token}).exit_code,
              0);
  }
}

TEST_F(LockCommands, ARefusalNamesTheHolderItsPlaceItsPulseAndTheEnd) {
  acquired("deploy", {"--holder", "ana", "--ttl", "10m"});
  const auto refused = tool({"lock", "acquire", "deploy"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(contains(refused.err, "deploy is held by ana ("));
  for (const auto* part : {"pid ", "since ", "heartbeat just now", "frees at ", "(in 9m"}) {
    EXPECT_TRUE(contains(refused.err, part));
  }
}

TEST_F(LockCommands, TheCodeOfARefusalCanBeChosen) {
  acquired("deploy");
  EXPECT_EQ(tool({"lock", "acquire", "deploy", "-E", "0"}).exit_code, 0);
  EXPECT_EQ(tool({"lock", "acquire", "deploy", "--wait", "100ms", "-E", "12"}).exit_code, 12);
}

TEST_F(LockCommands, AWaitThatRunsOutIsHeld) {
  acquired("deploy");
  EXPECT_EQ(tool({"lock", "acquire", "deploy", "--wait", "100ms"}).exit_code, 75);
}

TEST_F(LockCommands, AStoppedWaiterLeavesTheLineAtOnce) {
  acquired("deploy", {"--ttl", "1h"});
  for (const auto& [act, signal] : {std::pair("acquire", SIGINT), std::pair("acquire", SIGTERM),
                                    std::pair("run", SIGINT), std::pair("run", SIGTERM)}) {
    Arguments words{LEASEHOLD_TOOL, "lock", act, "deploy", "--wait", "1h"};
    if (act == std::string("run")) words.insert(words.end(), {"--", "true"});
    auto waiter = Process::start(words, {{"LEASEHOLD_DB", url()}});
    ASSERT_TRUE(eventually([&] { return json({"lock", "show", "deploy"}).at("waiters") == 1; })) << act;
    waiter.signal(signal);
    EXPECT_EQ(waiter.finish(30s).exit_code, 128 + signal) << act;
    EXPECT_EQ(json({"lock", "show", "deploy"}).at("waiters"), 0) << act;
  }
}

TEST_F(LockCommands, ACommandThatHadToWaitForItsLockGetsTheSignals) {
  const auto token = acquired("deploy", {"--ttl", "1h"});
  auto runner = Process::start({LEASEHOLD_TOOL, "lock", "run", "deploy", "--wait", "1h", "--", "sh", "-c",
                                "trap 'echo reported; exit 7' TERM; echo ready; while :; do sleep 0.1; done"},
                               {{"LEASEHOLD_DB", url()}});
  ASSERT_TRUE(eventually([&] { return json({"lock", "show", "deploy"}).at("waiters") == 1; }));
  tool({"lock", "release", "deploy", "--token", token});
  ASSERT_EQ(runner.read_line(30s), "ready");
  runner.signal(SIGTERM);
  const auto finished = runner.finish(30s);
  EXPECT_EQ(finished.exit_code, 7);
  EXPECT_TRUE(contains(finished.out, "reported"));
}

TEST_F(LockCommands, TheSameRequestIdGivesTheSameToken) {
  const auto first = acquired("deploy", {"--request-id", "r1"});
  EXPECT_EQ(acquired("deploy", {"--request-id", "r1"}), first);
}

TEST_F(LockCommands, HeartbeatAndReleaseTakeTheTokenFromTheEnvironmentToo) {
  const auto token = acquired("deploy");
  const auto extended = tool({"lock", "heartbeat", "deploy", "--ttl", "1h"}, {{"LEASEHOLD_TOKEN", token}});
  EXPECT_EQ(extended.exit_code, 0) << extended.err;
  EXPECT_TRUE(contains(extended.out, "extended deploy"));
  EXPECT_TRUE(contains(extended.out, "(1h)"));
  const auto released = tool({"lock", "release", "deploy"}, {{"LEASEHOLD_TOKEN", token}});
  EXPECT_EQ(released.out, "released deploy\n");
}

TEST_F(LockCommands, ALateReleaseIsLostAndChangesNothing) {
  const auto old_token = acquired("deploy");
  ASSERT_EQ(tool({"lock", "revoke", "deploy", "--reason", "test", "--yes"}).exit_code, 0);
  const auto token = acquired("deploy", {"--holder", "successor"});
  const auto before = tool({"events"}).out;
  for (const auto* act : {"release", "heartbeat"}) {
    const auto late = tool({"lock", act, "deploy", "--token", old_token});
    EXPECT_EQ(late.exit_code, 76);
    EXPECT_EQ(late.out, "");
    EXPECT_TRUE(contains(late.err, "lost"));
  }
  EXPECT_EQ(tool({"events"}).out, before);
  const auto now = json({"lock", "show", "deploy"});
  EXPECT_EQ(now.at("state"), "running");
  EXPECT_EQ(now.at("token").as_int64(), std::stoll(token));
  EXPECT_EQ(now.at("holder").at("name"), "successor");
}

TEST_F(LockCommands, ShowOfAnUnknownLockIsNotFound) {
  make_store();
  const auto shown = tool({"lock", "show", "nobody"});
  EXPECT_EQ(shown.exit_code, 4);
  EXPECT_EQ(shown.out, "");
}

TEST_F(LockCommands, ShowPrintsTheHolderAndLaterTheFormerOne) {
  const auto token = acquired("deploy", {"--holder", "ana"});
  auto shown = tool({"lock", "show", "deploy"});
  for (const auto* part : {"state       running", "holder      ana", "frees ", token.c_str()}) {
    EXPECT_TRUE(contains(shown.out, part));
  }
  tool({"lock", "release", "deploy", "--token", token});
  shown = tool({"lock", "show", "deploy"});
  for (const auto* part : {"state       free", "last holder ana", "released "}) EXPECT_TRUE(contains(shown.out, part));
}

TEST_F(LockCommands, LsFiltersByPrefixAndByHeld) {
  const auto token = acquired("a/1");
  acquired("a/2");
  acquired("b");
  tool({"lock", "release", "a/1", "--token", token});
  EXPECT_EQ(json({"lock", "ls"}).at("items").as_array().size(), 3U);
  EXPECT_EQ(json({"lock", "ls", "a/"}).at("items").as_array().size(), 2U);
  EXPECT_EQ(json({"lock", "ls", "a/", "--held"}).at("items").as_array().size(), 1U);
  const auto table = tool({"lock", "ls"});
  EXPECT_TRUE(table.out.starts_with("NAME  STATE"));
  EXPECT_FALSE(contains(table.out, "\x1b"));
}

TEST_F(LockCommands, OnATerminalLsIsCutToItsWidth) {
  acquired(std::string(200, 'n'), {"--holder", std::string(200, 'h')});
  const auto lines = tool({"lock", "ls"}).out;
  EXPECT_TRUE(contains(lines, std::string(200, 'n'))) << "no terminal: nothing is cut";
  const auto on_terminal = run({"script", "-qec", "stty cols 90 && \"$LEASEHOLD_TOOL\" lock ls", "/dev/null"},
                               {{"LEASEHOLD_TOOL", LEASEHOLD_TOOL}, {"LEASEHOLD_DB", url()}, {"NO_COLOR", "1"}});
  EXPECT_TRUE(contains(on_terminal.out, "nnnnnnnn\u2026  running  hhhhhhh"));
  EXPECT_FALSE(contains(on_terminal.out, std::string(90, 'n')));
}

TEST_F(LockCommands, RevokeWantsAReasonAndAYes) {
  acquired("deploy", {"--holder", "ana"});
  EXPECT_EQ(tool({"lock", "revoke", "deploy", "--yes"}).exit_code, 2);
  EXPECT_EQ(tool({"lock", "revoke", "deploy", "--reason", "gone"}).exit_code, 2);
  const auto dry = tool({"lock", "revoke", "deploy", "--reason", "gone", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0);
  EXPECT_TRUE(contains(dry.out, "would revoke deploy: held by ana"));
  EXPECT_EQ(json({"lock", "show", "deploy"}).at("state"), "running");
  EXPECT_EQ(tool({"lock", "revoke", "deploy", "--reason", "gone", "--yes"}).exit_code, 0);
  EXPECT_EQ(json({"lock", "show", "deploy"}).at("end_detail"), "gone");
  EXPECT_EQ(tool({"lock", "revoke", "deploy", "--reason", "gone", "--dry-run"}).exit_code, 3);
  EXPECT_EQ(tool({"lock", "revoke", "deploy", "--reason", "gone", "--yes"}).exit_code, 4);
}

}  // namespace
}  // namespace leasehold::support

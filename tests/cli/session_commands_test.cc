// The session commands but open and run: what they print, where, and with which exit code.
#include "cli/session_tool.h"

namespace leasehold::support {
namespace {

using SessionCommands = SessionToolTest;
LEASEHOLD_ON_BOTH_STORES(SessionCommands);

TEST_P(SessionCommands, HeartbeatExtendsAndProgressIsANote) {
  const auto token = opened("ann-1");
  const auto extended = tool({"session", "heartbeat", "ann-1", "--token", token});
  EXPECT_EQ(extended.exit_code, 0) << extended.err;
  EXPECT_TRUE(extended.out.starts_with("extended ann-1  until "));
  EXPECT_TRUE(contains(extended.out, "(5m)\n"));
  EXPECT_TRUE(shown("ann-1").at("progress").is_null());
  ASSERT_EQ(tool({"session", "heartbeat", "ann-1", "--token", token, "--progress", "half\ndone"}).exit_code, 0);
  EXPECT_EQ(shown("ann-1").at("progress"), "half\ndone");
  EXPECT_TRUE(contains(tool({"session", "show", "ann-1"}).out, "note        half\\x0adone\n"));
}

TEST_P(SessionCommands, PruneShowsHowManyWent) {
  const auto token = opened("ann-1");
  taken("SD-1", "ann-1");
  ASSERT_EQ(tool({"session", "close", "ann-1", "--token", token}).exit_code, 0);
  opened("ben-1");
  const auto pruned = tool({"prune", "--older-than", "0", "--yes"});
  EXPECT_TRUE(contains(pruned.out, " events, 1 ended claim and 1 session older than 0s\n")) << pruned.err;
  const auto nothing = json({"prune", "--older-than", "0", "--yes"});
  EXPECT_EQ(nothing.at("claims"), 0);
  EXPECT_EQ(nothing.at("sessions"), 0);
}

TEST_P(SessionCommands, AWrongTokenOrAStaleSessionIs76) {
  const auto token = opened("ann-1", {"--ttl", "50ms"});
  ASSERT_TRUE(eventually([&] { return status_of("ann-1") == "stale"; }));
  const auto late = json({"session", "heartbeat", "ann-1", "--token", token}, 76).at("error");
  EXPECT_EQ(late.at("code"), "lost");
  EXPECT_EQ(late.at("lost_reason"), "expired");
  EXPECT_EQ(tool({"session", "heartbeat", "ann-1", "--token", "5"}).exit_code, 76);
  EXPECT_EQ(tool({"session", "heartbeat", "nobody", "--token", "5"}).exit_code, 4);
}

TEST_P(SessionCommands, TheEnvironmentNamesTheSessionAndProvesIt) {
  const auto token = opened("ann-1");
  opened("ben-1");
  const Environment env = {{"LEASEHOLD_SESSION", "ann-1"}, {"LEASEHOLD_SESSION_TOKEN", token}};
  EXPECT_TRUE(contains(tool({"session", "heartbeat"}, env).out, "extended ann-1"));
  EXPECT_TRUE(contains(tool({"session", "show"}, env).out, "session     ann-1\n"));
  // Of another session, the token at hand says nothing.
  const auto foreign = tool({"session", "heartbeat", "ben-1"}, env);
  EXPECT_EQ(foreign.exit_code, 2);
  EXPECT_TRUE(contains(foreign.err, "the token of session \"ben-1\" is missing"));
  EXPECT_EQ(tool({"session", "close", "ben-1"}, env).exit_code, 2);
  EXPECT_EQ(status_of("ben-1"), "active");
  EXPECT_EQ(tool({"session", "close", "--reason", "done for today"}, env).out, "closed ann-1\n");
  EXPECT_EQ(tool({"session", "show"}).exit_code, 2) << "no session is named";
}

TEST_P(SessionCommands, ParkDeclaresSilenceUpToTwelveHours) {
  const auto token = opened("ann-1");
  const auto parked = tool({"session", "park", "ann-1", "--token", token, "--for", "30m"});
  EXPECT_EQ(parked.exit_code, 0) << parked.err;
  EXPECT_TRUE(parked.out.starts_with("parked ann-1 for 30m: it is not stale before "));
  EXPECT_EQ(status_of("ann-1"), "idle");
  EXPECT_GT(shown("ann-1").at("seconds_until_stale").to_number<double>(), 1700);
  EXPECT_EQ(tool({"session", "park", "ann-1", "--token", token, "--end"}).out, "ann-1 is no longer parked\n");
  EXPECT_EQ(status_of("ann-1"), "active");
  EXPECT_EQ(tool({"session", "park", "ann-1", "--token", token, "--for", "13h"}).exit_code, 2);
  EXPECT_EQ(tool({"session", "park", "ann-1", "--token", token}).exit_code, 2);
  EXPECT_EQ(tool({"session", "park", "ann-1", "--token", token, "--for", "1m", "--end"}).exit_code, 2);
}

TEST_P(SessionCommands, TheEventOfItsOpeningHasTheLabel) {
  ASSERT_EQ(tool({"session", "open", "--id", "ann", "--label", "parser"}).exit_code, 0);
  ASSERT_EQ(tool({"session", "open", "--id", "ben"}).exit_code, 0);
  const auto events = json({"events"}).at("items").as_array();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events.at(0).at("detail"), "parser");
  EXPECT_TRUE(events.at(1).at("detail").is_null());
}

TEST_P(SessionCommands, CloseReleasesItsItemsWithTheReason) {
  const auto token = opened("ann-1");
  taken("SD-1", "ann-1");
  taken("SD-2", "ann-1");
  const auto closed = tool({"session", "close", "ann-1", "--token", token, "--reason", "lunch"});
  EXPECT_EQ(closed.exit_code, 0) << closed.err;
  EXPECT_EQ(closed.out, "closed ann-1\n  released SD-1\n  released SD-2\n");
  EXPECT_EQ(status_of("ann-1"), "released");
  const auto claim = json({"claim", "show", "SD-1"});
  EXPECT_EQ(claim.at("end_reason"), "released");
  EXPECT_EQ(claim.at("end_detail"), "lunch");
  EXPECT_EQ(json({"session", "close", "ann-1", "--token", token}).at("items").as_array().size(), 2U)
      << "said again, the same answer";
}

TEST_P(SessionCommands, WithoutATokenCloseIsAnOperatorsAndNeedsYes) {
  const auto token = opened("ann-1");
  taken("SD-1", "ann-1");
  const auto asked = tool({"session", "close", "ann-1", "--reason", "wrong machine"});
  EXPECT_EQ(asked.exit_code, 2);
  EXPECT_TRUE(contains(asked.err, "add --yes"));
  EXPECT_EQ(tool({"session", "close", "ann-1", "--dry-run"}).out, "would close ann-1, active, and release 1 claim\n");
  EXPECT_EQ(status_of("ann-1"), "active");
  EXPECT_EQ(tool({"session", "close", "ann-1", "--reason", "wrong machine", "--yes"}).exit_code, 0);
  const auto reported = json({"session", "heartbeat", "ann-1", "--token", token}, 76).at("error");
  EXPECT_EQ(reported.at("lost_reason"), "revoked");
  EXPECT_EQ(shown("ann-1").at("end_detail"), "wrong machine");
  EXPECT_EQ(tool({"session", "close", "ann-1", "--yes"}).exit_code, 4) << "there is none any more";
  EXPECT_EQ(tool({"session", "close", "ann-1", "--dry-run"}).exit_code, 3);
}

TEST_P(SessionCommands, ListsThoseThatAreAskedFor) {
  EXPECT_EQ(tool({"session", "ls"}).err, "no sessions\n");
  opened("ann-1", {"--codebase", "parser", "--track", "core"});
  opened("ben-1", {"--ttl", "50ms", "--codebase", "lexer"});
  const auto token = opened("cat-1");
  ASSERT_EQ(tool({"session", "close", "cat-1", "--token", token}).exit_code, 0);
  ASSERT_TRUE(eventually([&] { return status_of("ben-1") == "stale"; }));
  const auto ids = [&](const Arguments& more) {
    Arguments arguments = {"session", "ls"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto sessions = json(arguments).at("items");
    std::string all;
    for (const auto& session : sessions.as_array()) all += text_of(session, "id") + " ";
    return all;
  };
  EXPECT_EQ(ids({}), "ann-1 ben-1 ");
  EXPECT_EQ(ids({"--stale"}), "ben-1 ");
  EXPECT_EQ(ids({"--state", "active"}), "ann-1 ");
  EXPECT_EQ(ids({"--state", "released"}), "cat-1 ");
  EXPECT_EQ(ids({"--all", "--max", "2"}).size(), 12U);
  EXPECT_EQ(ids({"--codebase", "lexer"}), "ben-1 ");
  EXPECT_EQ(ids({"--track", "core"}), "ann-1 ");
  EXPECT_EQ(ids({"--host", "nowhere"}), "");
  EXPECT_EQ(tool({"session", "ls", "--stale", "--state", "active"}).exit_code, 2);
}

TEST_P(SessionCommands, ShowHasItsClaims) {
  opened("ann-1");
  ASSERT_EQ(tool({"item", "add", "SD-1", "--title", "Parse nested comments"}).exit_code, 0);
  taken("SD-1", "ann-1");
  const auto page = tool({"session", "show", "ann-1"}).out;
  EXPECT_TRUE(contains(page, "\nITEM  TITLE                  CLAIMED  "));
  EXPECT_TRUE(contains(page, "\nSD-1  Parse nested comments  "));
  EXPECT_EQ(tool({"session", "show", "nobody"}).exit_code, 4);
}

}  // namespace
}  // namespace leasehold::support

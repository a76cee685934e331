// leasehold session open: its output, the holder of the session, and its refusals.
#include <unistd.h>

#include "cli/session_tool.h"

namespace leasehold::support {
namespace {

using SessionOpen = SessionToolTest;
LEASEHOLD_ON_BOTH_STORES(SessionOpen);

TEST_P(SessionOpen, PrintsIdAndTokenAndWarnsThatItMustBeKeptAlive) {
  const auto opened = tool({"session", "open", "--id", "ann-1"});
  EXPECT_EQ(opened.exit_code, 0) << opened.err;
  EXPECT_TRUE(opened.out.starts_with("opened ann-1  token "));
  EXPECT_TRUE(contains(opened.out, "stale 5m after its last heartbeat\n"));
  EXPECT_TRUE(contains(opened.err, "cannot tell whether this session is alive: it is stale 5m after its last"));
  EXPECT_TRUE(contains(tool({"session", "open", "--max-age", "1s"}).out, "  stale in 1s, heartbeats or not\n"));
  EXPECT_TRUE(contains(tool({"session", "open", "--max-age", "2h"}).out,
                       "  stale 5m after its last heartbeat, in 2h at the latest\n"));
  const auto session = shown("ann-1");
  EXPECT_EQ(session.at("holder").at("pid"), ::getpid()) << "the caller of the tool";
  EXPECT_TRUE(session.at("holder").at("process_start").is_null()) << "its end says nothing about the session";
  EXPECT_TRUE(contains(tool({"session", "show", "ann-1"}).out, "(its end is not noticed)"));
}

TEST_P(SessionOpen, HasAFaceThatIsShown) {
  opened("ann-1", {"--label", "fixing the parser", "--codebase", "~/src/parser", "--track", "core", "--meta",
                   R"({"model": 4.50, "quote": "\"'", "mood": "🦊"})", "--ttl", "10m", "--exclusive", "--max-age",
                   "2h", "--holder", "ann", "--pid", std::to_string(::getpid())});
  const auto session = shown("ann-1");
  EXPECT_EQ(session.at("label"), "fixing the parser");
  EXPECT_EQ(session.at("codebase"), "~/src/parser");
  EXPECT_EQ(session.at("track"), "core");
  EXPECT_EQ(session.at("metadata").at("mood"), "🦊");
  EXPECT_EQ(session.at("ttl_seconds"), 600);
  EXPECT_EQ(session.at("exclusive"), true);
  EXPECT_TRUE(session.at("ends_by").is_string());
  EXPECT_EQ(session.at("holder").at("name"), "ann");
  EXPECT_TRUE(session.at("holder").at("process_start").is_int64());
  EXPECT_EQ(session.at("state"), "active");
  const auto page = tool({"session", "show", "ann-1"}).out;
  for (const auto* part :
       {"session     ann-1\n", "state       active\n", "label       fixing the parser\n", "holder      ann\n",
        "codebase    ~/src/parser\n", "exclusive   one claim at a time\n", "heartbeat   ", "(after 10m of silence)\n",
        R"(metadata    {"model": 4.50, "quote": "\"'", "mood": "🦊"})"}) {
    EXPECT_TRUE(contains(page, part));
  }
}

TEST_P(SessionOpen, WithoutAnIdItDrawsOne) {
  const auto first = json({"session", "open"});
  EXPECT_TRUE(std::string(first.at("id").as_string()).starts_with("s-"));
  EXPECT_NE(first.at("id"), json({"session", "open"}).at("id"));
}

TEST_P(SessionOpen, TheLinesForEvalSurviveAnyId) {
  const std::string script = "eval \"$(\"$0\" session open --id \"$ID\" --export 2>/dev/null)\" && \"$0\" session show";
  const auto shown = run({"sh", "-c", script, LEASEHOLD_TOOL},
                         {{"LEASEHOLD_DB", url()}, {"LEASEHOLD_SESSION", ""}, {"ID", "it's $(ann) \"1\""}});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "session     it's $(ann) \"1\"\n"));
}

TEST_P(SessionOpen, AnIdInUseIs75AndNamesWho) {
  opened("ann-1", {"--holder", "ann"});
  const auto refused = tool({"session", "open", "--id", "ann-1"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_TRUE(contains(refused.err, "held by ann ("));
  EXPECT_EQ(json({"session", "open", "--id", "ann-1"}, 75).at("error").at("code"), "held");
}

TEST_P(SessionOpen, AStaleSessionsIdIsFreeAndSoIsWhatItHad) {
  auto agent = start_mortal();
  opened("ann-1", {"--pid", std::to_string(agent.pid())});
  taken("SD-1", "ann-1");
  end(agent);
  EXPECT_EQ(status_of("ann-1"), "stale");
  opened("ann-1");
  EXPECT_EQ(state_of("SD-1"), "open");
}

TEST_P(SessionOpen, AProcessThatIsNotThereOpensNothing) {
  auto gone = Process::start({"true"});
  const auto pid = std::to_string(gone.pid());
  gone.finish(10s);
  for (const auto* how : {"--pid", "--watch-pid"}) {
    const auto refused = tool({"session", "open", "--id", "ann-1", how, pid});
    EXPECT_EQ(refused.exit_code, 4) << how;
    EXPECT_TRUE(contains(refused.err, "there is no process " + pid));
  }
  EXPECT_EQ(tool({"session", "show", "ann-1"}).exit_code, 4);
  EXPECT_EQ(tool({"session", "open", "--pid", "1", "--watch-pid", "1"}).exit_code, 2);
  EXPECT_EQ(tool({"session", "open", "--pid", "0"}).exit_code, 2);
}

TEST_P(SessionOpen, AShellThatBecomesTheCommandOpensNothing) {
  for (const auto* how : {"--pid", "--watch-pid"}) {
    const auto script = std::string("exec \"$0\" session open --id ann-1 ") + how + " $$";
    const auto refused = run({"sh", "-c", script, LEASEHOLD_TOOL}, {{"LEASEHOLD_DB", url()}});
    EXPECT_EQ(refused.exit_code, 2) << how;
    EXPECT_TRUE(contains(refused.err, "is this command itself, which ends at once"));
  }
  EXPECT_EQ(tool({"session", "show", "ann-1"}).exit_code, 4);
}

TEST_P(SessionOpen, AShellForOneCommandLineIsWarnedThatItsSessionEndsWithIt) {
  const auto* script = "\"$0\" session open --id ann-1 --pid $$ && \"$0\" session show ann-1";
  const auto opened = run({"sh", "-ec", script, LEASEHOLD_TOOL}, {{"LEASEHOLD_DB", url()}});
  EXPECT_EQ(opened.exit_code, 0) << opened.err;
  EXPECT_TRUE(contains(opened.err, "is a shell that runs one command line (-c): the session ends with it"));
  EXPECT_TRUE(contains(opened.out, "state       active\n"));
  EXPECT_EQ(status_of("ann-1"), "stale") << "the shell has ended";
  EXPECT_EQ(tool({"claim", "take", "SD-1", "--session", "ann-1", "--create"}).exit_code, 76);
  EXPECT_EQ(tool({"item", "show", "SD-1"}).exit_code, 4) << "a refusal adds nothing";
  const auto quiet = tool({"session", "open", "--pid", std::to_string(::getpid())});
  EXPECT_EQ(quiet.err, "") << "this is no shell";
}

TEST_P(SessionOpen, OnceItsProcessIsGoneEveryCommandReportsIt) {
  auto agent = start_mortal();
  const auto token = opened("ann-1", {"--pid", std::to_string(agent.pid()), "--ttl", "1h"});
  taken("SD-1", "ann-1");
  end(agent);
  EXPECT_EQ(status_of("ann-1"), "stale");
  EXPECT_EQ(state_of("SD-1"), "stale");
  const auto item = json({"item", "show", "SD-1"});
  EXPECT_TRUE(item.at("session").is_null());
  EXPECT_EQ(item.at("held_by").at("state"), "expired");
  EXPECT_EQ(json({"item", "ls", "--state", "stale"}).at("items").as_array().size(), 1U);
  EXPECT_EQ(json({"item", "ls", "--state", "claimed"}).at("items").as_array().size(), 0U);
  EXPECT_EQ(json({"claim", "show", "SD-1"}).at("held_by").at("state"), "expired");
  EXPECT_EQ(json({"claim", "ls"}).at("items").at(0).at("held_by").at("state"), "expired");
  EXPECT_TRUE(contains(tool({"claim", "ls"}).out, "stale"));
  EXPECT_TRUE(contains(tool({"claim", "show", "SD-1"}).out, "state       stale\n"));
  EXPECT_TRUE(contains(tool({"item", "ls"}).out, "stale"));
  EXPECT_EQ(tool({"session", "heartbeat", "ann-1", "--token", token}).exit_code, 76);
  const auto refused = tool({"claim", "take", "SD-2", "--session", "ann-1", "--create"});
  EXPECT_EQ(refused.exit_code, 76);
  EXPECT_TRUE(contains(refused.err, "is stale: it was silent too long, or its process is gone"));
}

TEST_P(SessionOpen, RefusesInvalidMetadata) {
  EXPECT_EQ(tool({"session", "open", "--meta", "{"}).exit_code, 2);
  EXPECT_EQ(tool({"session", "open", "--ttl", "soon"}).exit_code, 2);
}

}  // namespace
}  // namespace leasehold::support

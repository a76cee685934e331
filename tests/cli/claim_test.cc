// The claim commands: what they print, where, and with which exit code.
#include "cli/session_tool.h"

namespace leasehold::support {
namespace {

class ClaimCommands : public SessionToolTest {
 protected:
  std::string code_of(const Arguments& arguments, int exit_code) {
    return text_of(json(arguments, exit_code).at("error"), "code");
  }
};
LEASEHOLD_ON_BOTH_STORES(ClaimCommands);

TEST_P(ClaimCommands, TakeGivesAToken) {
  opened("ann-1");
  tool({"item", "add", "SD-1"});
  const auto claimed = tool({"claim", "take", "SD-1", "--session", "ann-1"});
  EXPECT_EQ(claimed.exit_code, 0) << claimed.err;
  EXPECT_TRUE(claimed.out.starts_with("claimed SD-1  token "));
  EXPECT_TRUE(claimed.out.ends_with("  by session ann-1\n"));
  const auto again = json({"claim", "take", "SD-1", "--session", "ann-1"});
  EXPECT_EQ(again.at("replayed"), true);
  EXPECT_TRUE(contains(claimed.out, std::to_string(again.at("token").as_int64()))) << "the same claim";
  EXPECT_TRUE(contains(tool({"claim", "take", "SD-2", "--session", "ann-1", "--create"}).out, "(a new item)"));
}

TEST_P(ClaimCommands, ARefusalShowsTheOwner) {
  opened("ann-1", {"--label", "fixing\nthe parser", "--holder", "ann"});
  taken("SD-1", "ann-1");
  opened("ben-1");
  const auto refused = tool({"claim", "take", "SD-1", "--session", "ben-1"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_EQ(refused.out, "");
  for (const auto* part : {"leasehold: item \"SD-1\" is claimed by session \"ann-1\"", "\n  item       SD-1\n",
                           "\n  session    ann-1\n", "\n  label      fixing\\x0athe parser\n", "\n  holder     ann\n",
                           "\n  host       ", "\n  tty        ", "\n  heartbeat  ", "\n  progress   ",
                           "\n  claimed    ", " s)\n  frees      in 4m 5", "s, unless it heartbeats\n"}) {
    EXPECT_TRUE(contains(refused.err, part));
  }
  const auto error = json({"claim", "take", "SD-1", "--session", "ben-1"}, 75).at("error");
  EXPECT_EQ(error.at("code"), "held");
  const auto& owner = error.at("held_by").as_object();
  EXPECT_EQ(owner.at("session"), "ann-1");
  EXPECT_EQ(owner.at("label"), "fixing\nthe parser");
  for (const auto* member :
       {"heartbeat_age_human", "progress_age_human", "heartbeat_age_seconds", "progress_age_seconds",
        "claim_duration_minutes", "retry_in_seconds", "holder", "taken_at", "progress_at"}) {
    EXPECT_TRUE(owner.contains(member)) << member;
  }
  EXPECT_EQ(tool({"claim", "take", "SD-1", "--session", "ben-1", "-E", "9"}).exit_code, 9);
  EXPECT_EQ(tool({"claim", "take", "SD-1", "--session", "ben-1", "--wait", "10ms"}).exit_code, 75);
}

TEST_P(ClaimCommands, EveryRefusalHasItsCode) {
  const auto ann = opened("ann-1");
  opened("ben-1", {"--exclusive"});
  EXPECT_EQ(code_of({"claim", "take", "SD-1", "--session", "ann-1"}, 4), "not_found");
  EXPECT_EQ(code_of({"claim", "take", "SD-1", "--session", "nobody", "--create"}, 76), "unregistered");
  taken("SD-1", "ann-1");
  tool({"item", "add", "SD-1.1", "--parent", "SD-1"});
  tool({"item", "add", "SD-2", "--conflicts", "SD-1"});
  EXPECT_EQ(code_of({"claim", "take", "SD-1.1", "--session", "ben-1"}, 75), "blocked");
  const auto blocked = tool({"claim", "take", "SD-2", "--session", "ben-1"});
  EXPECT_EQ(blocked.exit_code, 75);
  EXPECT_TRUE(contains(blocked.err, "item \"SD-2\" is blocked: item \"SD-1\", which it conflicts with, is claimed"));
  EXPECT_TRUE(contains(blocked.err, "\n  item       SD-1\n"));
  taken("SD-3", "ben-1");
  EXPECT_EQ(code_of({"claim", "take", "SD-4", "--session", "ben-1", "--create"}, 75), "at_capacity");
  tool({"session", "close", "ann-1", "--token", ann});
  EXPECT_EQ(code_of({"claim", "take", "SD-1", "--session", "ann-1"}, 76), "unregistered");
}

TEST_P(ClaimCommands, TheEnvironmentSaysWhichOpeningOfTheSessionItIs) {
  const auto early = opened("ann-1");
  tool({"item", "add", "SD-1"});
  Environment env = {{"LEASEHOLD_SESSION", "ann-1"}, {"LEASEHOLD_SESSION_TOKEN", early}};
  const auto taken = tool({"claim", "take", "SD-1", "-q"}, env);
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  const auto token = token_in(taken.out);
  EXPECT_EQ(tool({"claim", "release", "SD-1", "--token", token}, env).out, "released SD-1\n");
  tool({"session", "close"}, env);
  opened("ann-1");
  EXPECT_EQ(tool({"claim", "take", "SD-1"}, env).exit_code, 76) << "of an earlier opening";
  EXPECT_EQ(tool({"claim", "take", "SD-1", "--session", "ann-1"}).exit_code, 0);
}

TEST_P(ClaimCommands, QuietPrintsIdentityAndToken) {
  const auto opened_one = tool({"session", "open", "--id", "ann-1", "-q"});
  EXPECT_EQ(opened_one.out, "ann-1 " + token_in(opened_one.out) + "\n");
  EXPECT_EQ(opened_one.err, "");
  opened("bob-1");
  const auto taken = tool({"claim", "take", "SD-1", "--session", "ann-1", "--create", "-q"}).out;
  EXPECT_EQ(taken, "SD-1 " + token_in(taken) + "\n");
  const auto switched = tool({"claim", "switch", "SD-1", "SD-2", "--create", "--token", token_in(taken), "-q"}).out;
  EXPECT_EQ(switched, "SD-2 " + token_in(switched) + "\n");
  const auto handed = tool({"claim", "transfer", "SD-2", "--to", "bob-1", "--token", token_in(switched), "-q"}).out;
  EXPECT_EQ(handed, "SD-2 " + token_in(handed) + "\n");
}

TEST_P(ClaimCommands, AStaleSessionsItemIsTakenOverAtOnce) {
  auto agent = start_mortal();
  opened("ann-1", {"--pid", std::to_string(agent.pid()), "--holder", "ann"});
  const auto late = taken("SD-1", "ann-1");
  opened("ben-1");
  end(agent);
  const auto taken_over = tool({"claim", "take", "SD-1", "--session", "ben-1"});
  EXPECT_EQ(taken_over.exit_code, 0) << taken_over.err;
  EXPECT_TRUE(contains(taken_over.out, "\n  taken over from session ann-1, which had gone stale (ann)\n"));
  EXPECT_EQ(tool({"claim", "release", "SD-1", "--session", "ann-1", "--token", late}).exit_code, 76);
  EXPECT_EQ(tool({"item", "done", "SD-1", "--token", late}).exit_code, 76);
}

TEST_P(ClaimCommands, ReleaseNamesTheItemAndItsToken) {
  opened("ann-1");
  const auto first = taken("SD-1", "ann-1");
  const auto second = taken("SD-2", "ann-1");
  EXPECT_EQ(tool({"claim", "release", "SD-1", "--session", "ann-1", "--token", second}).exit_code, 76);
  EXPECT_EQ(tool({"claim", "release", "SD-1", "--session", "ann-1", "--token", first, "--reason", "too hard"}).out,
            "released SD-1\n");
  EXPECT_EQ(state_of("SD-2"), "claimed");
  EXPECT_EQ(json({"claim", "show", "SD-1"}).at("end_detail"), "too hard");
  EXPECT_EQ(tool({"claim", "release", "SD-1", "--session", "ann-1", "--token", first}).exit_code, 0) << "said twice";
  EXPECT_EQ(tool({"claim", "release", "SD-1", "--session", "ann-1"}).exit_code, 2) << "no proof";
}

TEST_P(ClaimCommands, SwitchIsOneStep) {
  opened("ann-1");
  opened("ben-1");
  const auto token = taken("SD-1", "ann-1");
  taken("SD-2", "ben-1");
  EXPECT_EQ(tool({"claim", "switch", "SD-1", "SD-2", "--token", token}).exit_code, 75);
  EXPECT_EQ(state_of("SD-1"), "claimed") << "refused: nothing has changed";
  const auto switched = tool({"claim", "switch", "SD-1", "SD-3", "--token", token, "--create"});
  EXPECT_EQ(switched.exit_code, 0) << switched.err;
  EXPECT_TRUE(contains(switched.out, "claimed SD-3  token "));
  EXPECT_EQ(state_of("SD-1"), "open");
  EXPECT_EQ(json({"claim", "show", "SD-1"}).at("end_reason"), "switched");
}

TEST_P(ClaimCommands, TransferIsTheOwnersOrAnOperators) {
  opened("ann-1");
  opened("ben-1");
  const auto token = taken("SD-1", "ann-1");
  EXPECT_EQ(tool({"claim", "transfer", "SD-1", "--to", "ben-1"}).exit_code, 2);
  EXPECT_EQ(tool({"claim", "transfer", "SD-1", "--to", "ben-1", "--yes"}).exit_code, 2) << "why?";
  EXPECT_EQ(tool({"claim", "transfer", "SD-1", "--to", "ben-1", "--token", "5"}).exit_code, 76);
  const auto handed = json({"claim", "transfer", "SD-1", "--to", "ben-1", "--token", token});
  EXPECT_EQ(handed.at("session"), "ben-1");
  EXPECT_EQ(tool({"claim", "transfer", "SD-1", "--to", "nobody", "--reason", "why not", "--yes"}).exit_code, 76);
  EXPECT_EQ(tool({"claim", "transfer", "SD-1", "--to", "ann-1", "--reason", "ben is ill", "--yes"}).exit_code, 0);
  EXPECT_EQ(json({"claim", "show", "SD-1"}).at("session"), "ann-1");
}

TEST_P(ClaimCommands, ARevokedClaimDoesNotComeBack) {
  opened("ann-1", {"--holder", "ann"});
  const auto token = taken("SD-1", "ann-1");
  EXPECT_EQ(tool({"claim", "revoke", "SD-1", "--reason", "wrong branch"}).exit_code, 2);
  EXPECT_EQ(tool({"claim", "revoke", "SD-1", "--yes"}).exit_code, 2) << "why?";
  const auto dry = tool({"claim", "revoke", "SD-1", "--reason", "wrong branch", "--dry-run"});
  EXPECT_TRUE(contains(dry.out, "would take SD-1 from session ann-1\n"));
  EXPECT_TRUE(contains(dry.out, "\n  holder     ann\n"));
  EXPECT_EQ(tool({"claim", "revoke", "SD-1", "--reason", "wrong branch", "--yes"}).out,
            "revoked SD-1  token " + token + "  of session ann-1\n");
  const auto refused = tool({"claim", "take", "SD-1", "--session", "ann-1"});
  EXPECT_EQ(refused.exit_code, 76);
  EXPECT_TRUE(contains(refused.err, "wrong branch"));
  EXPECT_EQ(tool({"claim", "revoke", "SD-1", "--reason", "again", "--yes"}).exit_code, 4);
  EXPECT_EQ(tool({"claim", "revoke", "SD-1", "--reason", "again", "--dry-run"}).exit_code, 3);
}

TEST_P(ClaimCommands, ListAndShow) {
  EXPECT_EQ(tool({"claim", "ls"}).err, "no claims\n");
  opened("ann-1", {"--label", "parsing"});
  const auto token = taken("SD-1", "ann-1");
  taken("SD-2", "ann-1");
  EXPECT_TRUE(contains(tool({"claim", "ls"}).out, "\nSD-1         active  ann-1    parsing  "));
  tool({"claim", "release", "SD-1", "--session", "ann-1", "--token", token, "--reason", "too hard"});
  EXPECT_EQ(json({"claim", "ls"}).at("items").as_array().size(), 1U);
  EXPECT_EQ(json({"claim", "ls", "--all", "--session", "ann-1"}).at("items").as_array().size(), 2U);
  EXPECT_EQ(json({"claim", "ls", "--all", "--item", "SD-1"}).at("items").at(0).at("end_reason"), "released");
  const auto ended = tool({"claim", "show", "SD-1"}).out;
  EXPECT_TRUE(contains(ended, "state       released\n"));
  EXPECT_TRUE(contains(ended, "reason      too hard\n"));
  EXPECT_FALSE(contains(ended, "frees"));
  EXPECT_TRUE(contains(tool({"claim", "show", "SD-2"}).out, "frees       in 4m 5"));
  tool({"item", "add", "SD-3"});
  EXPECT_EQ(tool({"claim", "show", "SD-3"}).exit_code, 4);
}

TEST_P(ClaimCommands, AWaitingTakeGetsTheItemWhenItFrees) {
  opened("ann-1");
  const auto token = taken("SD-1", "ann-1");
  opened("ben-1");
  auto waiting =
      Process::start({LEASEHOLD_TOOL, "claim", "take", "SD-1", "--session", "ben-1", "--wait", "20s", "--db", url()});
  ASSERT_EQ(tool({"claim", "release", "SD-1", "--session", "ann-1", "--token", token}).exit_code, 0);
  const auto done = waiting.finish(30s);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(contains(done.out, "by session ben-1"));
}

}  // namespace
}  // namespace leasehold::support

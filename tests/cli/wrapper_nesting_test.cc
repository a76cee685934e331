// Wrappers inside of each other: every command finds what its own kind of wrapper holds, however many others stand
// between.
#include <fstream>
#include <sstream>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

class WrapperNesting : public StoreToolTest {
 protected:
  WrapperNesting() {
    tool({"job", "add", "q", "{}"});
    tool({"chunk", "plan", "orders", "--range", "1..10", "--size", "10"});
  }

  static Arguments wrapper(const std::string& kind) {
    if (kind == "work") return {"work", "q", "--once", "--"};
    if (kind == "lock") return {"lock", "run", "deploy", "--"};
    if (kind == "elect") return {"elect", "leader", "--once", "--"};
    if (kind == "chunk") return {"chunk", "run", "orders", "--once", "--"};
    if (kind == "schedule") return {"schedule", "run", "refresh", "--every", "1h", "--now", "--"};
    return {"session", "run", "--id", "ann-1", "--"};
  }

  /// Runs a script inside of these wrappers, the outermost first; gives what it has written to the file $1.
  std::string inside(const std::vector<std::string>& kinds, const std::string& script) {
    Arguments words;
    for (const auto& kind : kinds) {
      if (!words.empty()) words.emplace_back(LEASEHOLD_TOOL);
      for (const auto& word : wrapper(kind)) words.push_back(word);
    }
    const auto heard = folder().file("heard");
    for (const auto& word : {std::string("sh"), std::string("-c"), script, std::string(LEASEHOLD_TOOL), heard}) {
      words.push_back(word);
    }
    const auto done = tool(words);
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    std::ostringstream text;
    text << std::ifstream(heard).rdbuf();
    return text.str();
  }

  /// The exit code of `leasehold COMMAND...` inside the wrappers, without an argument that names a lock, job or other
  /// holding.
  std::string codes_inside(const std::vector<std::string>& kinds, const std::vector<std::string>& commands) {
    std::string script;
    for (const auto& command : commands) script += "\"$0\" " + command + " 2>>\"$1\".err; echo $? >> \"$1\"; ";
    return inside(kinds, script);
  }
};
LEASEHOLD_ON_BOTH_STORES(WrapperNesting);

const std::vector<std::string> all_heartbeats = {"job heartbeat", "lock heartbeat", "chunk heartbeat",
                                                 "schedule heartbeat", "session heartbeat"};

TEST_P(WrapperNesting, TheHeartbeatOfAJobIsFoundBehindALock) {
  EXPECT_EQ(codes_inside({"work", "lock"}, {"job heartbeat"}), "0\n");
}

TEST_P(WrapperNesting, EveryCommandFindsItsOwnKind) {
  EXPECT_EQ(codes_inside({"work", "lock", "chunk", "schedule", "session"}, all_heartbeats), "0\n0\n0\n0\n0\n");
}

TEST_P(WrapperNesting, AndSoItDoesInTheOppositeOrder) {
  EXPECT_EQ(codes_inside({"session", "schedule", "chunk", "lock", "work"}, all_heartbeats), "0\n0\n0\n0\n0\n");
}

TEST_P(WrapperNesting, AnElectionIsALock) {
  EXPECT_EQ(codes_inside({"elect", "work"}, {"lock heartbeat leader", "job heartbeat"}), "0\n0\n");
}

// The worker's job was enqueued by one schedule, and the worker itself is run by another.
TEST_P(WrapperNesting, TheScheduleOfAJobDoesNotHideTheScheduleThatRunsItsWorker) {
  const auto* const words =
      R"(echo "$LEASEHOLD_SCHEDULE,$LEASEHOLD_JOB_SCHEDULE,${LEASEHOLD_JOB_OCCURRENCE:+when}" > "$1")";
  EXPECT_EQ(inside({"schedule", "work"}, words), "refresh,,\n") << "no schedule has enqueued it";
  ASSERT_EQ(tool({"schedule", "set", "nightly", "--every", "1h", "--next", "0s", "--enqueue", "q", "{}"}).exit_code, 0);
  ASSERT_EQ(tool({"schedule", "daemon", "--once"}).exit_code, 0);
  EXPECT_EQ(inside({"schedule", "work"}, words), "refresh,nightly,when\n");
}

TEST_P(WrapperNesting, AJobInsideOfAnotherDoesNotInheritItsSchedule) {
  tool({"work", "q", "--once", "--", "true"});
  ASSERT_EQ(tool({"schedule", "set", "nightly", "--every", "1h", "--next", "0s", "--enqueue", "q", "{}"}).exit_code, 0);
  ASSERT_EQ(tool({"schedule", "daemon", "--once"}).exit_code, 0);
  tool({"job", "add", "q", "{}"});
  EXPECT_EQ(inside({"work", "work"}, R"(echo "$LEASEHOLD_JOB_SCHEDULE,$LEASEHOLD_JOB_OCCURRENCE" > "$1")"), ",\n");
}

TEST_P(WrapperNesting, TheCommonVariablesAreThoseOfTheInnermostWrapper) {
  EXPECT_EQ(inside({"work", "lock"}, R"(test $LEASEHOLD_TOKEN = $LEASEHOLD_LOCK_TOKEN && echo $LEASEHOLD_KEY > "$1")"),
            "deploy\n");
  EXPECT_EQ(
      inside({"lock", "chunk"}, R"(test $LEASEHOLD_TOKEN = $LEASEHOLD_CHUNK_TOKEN && echo $LEASEHOLD_KEY > "$1")"),
      "1-10\n");
}

// Under the lock the common token is the lock's. A command that used it for a job would learn that the job is
// lost, and would give up a job that it still has.
TEST_P(WrapperNesting, TheTokenOfAnotherKindIsNeverUsed) {
  const auto id = std::to_string(json({"job", "claim", "q"}).at("jobs").at(0).at("id").as_int64());
  EXPECT_EQ(codes_inside({"lock"}, {"job heartbeat " + id, "claim release SD-1 --session ann-1"}), "2\n2\n");
}

TEST_P(WrapperNesting, ATokenThatTheUserSetsCountsForWhatTheUserNames) {
  const auto other = acquired("other");
  EXPECT_EQ(codes_inside({"lock"}, {"lock heartbeat deploy", "lock heartbeat other"}), "0\n2\n");
  EXPECT_EQ(
      inside({"lock"}, "LEASEHOLD_TOKEN=" + other + " \"$0\" lock heartbeat other > \"$1\" && echo fine > \"$1\""),
      "fine\n");
}

TEST_P(WrapperNesting, EachActsInTheStoreOfItsWrapper) {
  const auto elsewhere = "sqlite:" + folder().file("other.db");
  const auto heard = folder().file("heard");
  const auto script = "\"$0\" job heartbeat > \"$1\" && \"$0\" lock heartbeat > \"$1\" && echo fine > \"$1\"";
  const auto done = tool({"work", "q", "--once", "--", LEASEHOLD_TOOL, "lock", "run", "deploy", "--db", elsewhere, "--",
                          "sh", "-c", script, LEASEHOLD_TOOL, heard});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  std::string word;
  EXPECT_TRUE(std::ifstream(heard) >> word);
  EXPECT_EQ(word, "fine");
}

TEST_P(WrapperNesting, OfSeveralLocksEachIsOnesOwn) {
  const auto script = std::string("\"") + LEASEHOLD_TOOL + "\" lock heartbeat b && \"" + LEASEHOLD_TOOL +
                      "\" lock run c -- sh -c 'echo \"$LEASEHOLD_KEYS\"'";
  const auto done = tool({"lock", "run", "a", "b", "--", "sh", "-c", script});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(done.out.ends_with("\nc\n")) << done.out;
}

}  // namespace
}  // namespace leasehold::support

// leasehold schedule daemon: jobs into queues, commands under leases, and a word about each.
#include <csignal>
#include <fstream>

#include "cli/schedule_tool.h"
#include "support/ticking_tree.h"

namespace leasehold::support {
namespace {

class ScheduleDaemon : public ScheduleToolTest {};
LEASEHOLD_ON_BOTH_STORES(ScheduleDaemon);

TEST_P(ScheduleDaemon, OnceEnqueuesDueJobs) {
  set_schedule("digest", {"--every", "1h", "--enqueue", "mail", R"(["all"])"});
  const auto done = tool({"schedule", "daemon", "--once"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "digest: fired: job "));
  EXPECT_TRUE(contains(done.err, "leasehold: 1 enqueued"));
  const auto jobs = json({"job", "ls", "--queue", "mail"}).at("items").as_array();
  ASSERT_EQ(jobs.size(), 1U);
  const auto id = std::to_string(jobs.front().at("id").as_int64());
  EXPECT_EQ(tool({"job", "payload", id}).out, R"(["all"])");
  EXPECT_EQ(history("digest").at(0).at("outcome"), "enqueued");
  EXPECT_TRUE(contains(tool({"schedule", "history", "digest"}).out, "job " + id));
  const auto again = tool({"schedule", "daemon", "--once"});
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_TRUE(contains(again.err, "nothing was due"));
}

TEST_P(ScheduleDaemon, RunsCommandsOnlyWithTheOption) {
  const auto marker = folder().file("ran");
  set_schedule("report",
               {"--every", "1h", "--", "sh", "-c",
                "echo $LEASEHOLD_SCHEDULE > \"$0\"; echo '{\"rows\":3}' > \"$LEASEHOLD_COUNTS_FILE\"", marker});
  EXPECT_EQ(tool({"schedule", "daemon", "--once"}).exit_code, 3);
  EXPECT_FALSE(std::ifstream(marker).good());
  const auto done = tool({"schedule", "daemon", "--once", "--commands", "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(contains(done.out, R"("completed":1)"));
  EXPECT_TRUE(contains(done.err, "report: started (scheduled, due at "));
  EXPECT_TRUE(contains(done.err, "report: completed; next run in "));
  std::ifstream file(marker);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "report\n");
  EXPECT_EQ(history("report").at(0).at("counts").at("rows"), 3);
}

TEST_P(ScheduleDaemon, AFailureKeepsTheLastWordsAndAffectsNoOtherSchedule) {
  set_schedule("bad", {"--every", "1h", "--", "sh", "-c", "echo no answer >&2; exit 9"});
  set_schedule("missing", {"--every", "1h", "--", folder().file("missing")});
  set_schedule("good", {"--every", "1h", "--", "true"});
  const auto done = tool({"schedule", "daemon", "--once", "--commands"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(contains(done.err, "bad: failed: exit code 9: no answer; next run in "));
  EXPECT_TRUE(contains(done.err, "1 completed, 2 failed"));
  EXPECT_EQ(history("bad").at(0).at("error"), "exit code 9: no answer");
  EXPECT_TRUE(contains(std::string(history("missing").at(0).at("error").as_string()), "No such file"));
  EXPECT_EQ(outcomes("good"), "completed");
}

TEST_P(ScheduleDaemon, WaitsForATriggerAndStopsOnASignal) {
  set_schedule("digest", {"--cron", "0 3 1 1 *", "--enqueue", "mail"});
  auto daemon = start({"schedule", "daemon", "--json"});
  ASSERT_EQ(tool({"schedule", "trigger", "digest"}).exit_code, 0);
  EXPECT_TRUE(eventually(
      [&] {
        return json({"job", "ls", "--queue", "mail"}).at("items").as_array().size() == 1;
      },
      patience));
  daemon.signal(SIGTERM);
  const auto ended = daemon.finish(patience);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(contains(ended.out, R"("enqueued":1)"));
  EXPECT_TRUE(contains(ended.err, "leasehold: stopping\n"));
}

TEST_P(ScheduleDaemon, AStoppedDaemonEndsCommandsAfterTheGraceAndReleasesTheirRuns) {
  set_schedule("slow", {"--every", "1h", "--", "sh", "-c", "echo $$; exec sleep 60"});
  auto daemon = start({"schedule", "daemon", "--commands", "--grace", "100ms"});
  const auto command = std::stoi(daemon.read_line(patience).value_or("0"));
  ASSERT_GT(command, 0);
  daemon.signal(SIGTERM);
  const auto ended = daemon.finish(patience);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(contains(ended.err, "1 released"));
  EXPECT_FALSE(is_alive(command));
  EXPECT_EQ(outcomes("slow"), "released");
}

TEST_P(ScheduleDaemon, AKilledOneEndsItsCommandsAndAnotherRunsThem) {
  set_schedule("slow", {"--every", "1h", "--ttl", "5m", "--", "sh", "-c", "echo $$; test -e \"$0\" || exec sleep 60",
                        folder().file("quick")});
  auto daemon = start({"schedule", "daemon", "--commands", "--grace", "1s"});
  const auto command = std::stoi(daemon.read_line(patience).value_or("0"));
  ASSERT_GT(command, 0);
  daemon.signal(SIGKILL);
  daemon.finish(patience);
  EXPECT_TRUE(eventually([&] { return !is_alive(command); }, patience));
  std::ofstream(folder().file("quick")) << "now";
  EXPECT_TRUE(eventually(
      [&] {
        return tool({"schedule", "daemon", "--once", "--commands"}).exit_code == 0;
      },
      patience));
  EXPECT_EQ(outcomes("slow"), "completed lost");
}

}  // namespace
}  // namespace leasehold::support

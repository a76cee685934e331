// The queue commands, recover, and the jobs in the output of status and prune.
#include "cli/tool.h"

namespace leasehold::support {
namespace {

class QueueCommands : public StoreToolTest {
 protected:
  void add(const std::string& queue, int count = 1) {
    for (int i = 0; i < count; ++i) ASSERT_EQ(tool({"job", "add", queue, "x"}).exit_code, 0);
  }
  boost::json::value claim(const std::string& queue, const Arguments& more = {}) {
    Arguments arguments = {"job", "claim", queue};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json(arguments).at("jobs").at(0);
  }
  void complete(const boost::json::value& job) {
    const auto number = [&](const char* key) { return std::to_string(job.at(key).as_int64()); };
    ASSERT_EQ(tool({"job", "complete", number("id"), "--token", number("token")}).exit_code, 0);
  }
};
LEASEHOLD_ON_BOTH_STORES(QueueCommands);

TEST_P(QueueCommands, LsCountsWaitingRunningAndFailedJobs) {
  EXPECT_TRUE(contains(tool({"queue", "ls"}).err, "no queues"));
  add("mail", 3);
  complete(claim("mail"));
  claim("mail");
  tool({"job", "add", "merge", "x", "--delay", "1h"});
  const auto table = tool({"queue", "ls"});
  EXPECT_TRUE(contains(table.out, "NAME   STATE   AVAILABLE  DEFERRED  RUNNING  FAILED  DONE/MIN  OLDEST\n"));
  EXPECT_TRUE(contains(table.out, "mail   active          1         0        1       0         1  "));
  EXPECT_TRUE(contains(table.out, "merge  active          0         1        0       0         0  -\n"));
  const auto queues = json({"queue", "ls"}).at("items").as_array();
  ASSERT_EQ(queues.size(), 2U);
  EXPECT_EQ(queues[0].at("completed_last_minute"), 1);
}

TEST_P(QueueCommands, ShowPrintsLimitsAndNumbers) {
  EXPECT_EQ(tool({"queue", "show", "mail"}).exit_code, 4);
  add("mail");
  EXPECT_EQ(tool({"queue", "set", "mail", "--max-running", "2", "--rate", "100/1m", "--ttl", "90s"}).exit_code, 0);
  const auto shown = tool({"queue", "show", "mail"});
  for (const auto* part : {"max running 2\n", "rate        100/1m\n", "ttl         1m 30s\n", "available   1\n"}) {
    EXPECT_TRUE(contains(shown.out, part));
  }
  EXPECT_EQ(claim("mail").at("attempt"), 1);
  EXPECT_EQ(json({"queue", "show", "mail"}).at("running"), 1);
}

TEST_P(QueueCommands, SettingsStayUntilTheyAreNone) {
  EXPECT_EQ(json({"queue", "set", "api", "--max-per-group", "2", "--rate", "1/1h"}).at("max_per_group"), 2);
  add("api", 2);
  complete(claim("api"));
  const auto limited = json({"job", "claim", "api"}, 75).at("error");
  EXPECT_EQ(limited.at("code"), "rate_limited");
  EXPECT_TRUE(limited.at("retry_at").is_string());
  const auto changed = json({"queue", "set", "api", "--rate", "none"});
  EXPECT_TRUE(changed.at("rate_count").is_null());
  EXPECT_EQ(changed.at("max_per_group"), 2);
  complete(claim("api"));
  for (const Arguments& wrong : std::vector<Arguments>{{},
                                                       {"--rate", "5"},
                                                       {"--rate", "0/1m"},
                                                       {"--max-running", "0"},
                                                       {"--max-running", "many"},
                                                       {"--ttl", "soon"},
                                                       {"--ttl", "0s"}}) {
    Arguments arguments = {"queue", "set", "api"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(tool(arguments).exit_code, 2) << wrong.size();
  }
}

TEST_P(QueueCommands, APausedQueueShowsTheReasonAndContinuesWhenResumed) {
  add("mail");
  EXPECT_EQ(tool({"queue", "pause", "mail", "--reason", "provider is down"}).out, "paused mail\n");
  const auto refused = tool({"job", "claim", "mail"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_TRUE(contains(refused.err, "provider is down"));
  EXPECT_TRUE(contains(tool({"queue", "ls"}).out, "mail  paused"));
  EXPECT_TRUE(contains(tool({"events"}).out, "queue mail  paused  (provider is down)"));
  EXPECT_EQ(tool({"queue", "resume", "mail"}).out, "resumed mail\n");
  claim("mail");
  EXPECT_TRUE(contains(tool({"queue", "pause", "mail"}).err, "still running: 1 job"));
}

TEST_P(QueueCommands, DrainWaitsUntilNothingWaitsOrRuns) {
  add("mail");
  const auto late = tool({"queue", "drain", "mail", "--wait", "50ms"});
  EXPECT_EQ(late.exit_code, 75);
  EXPECT_TRUE(contains(late.err, "1 waiting, 0 running"));
  EXPECT_EQ(tool({"queue", "drain", "mail", "--running"}).exit_code, 0);
  const auto job = claim("mail");
  EXPECT_EQ(tool({"queue", "drain", "mail", "--running", "--wait", "0"}).exit_code, 75);
  auto draining = Process::start({LEASEHOLD_TOOL, "queue", "drain", "mail", "--db", url()});
  complete(job);
  const auto finished = draining.finish(20s);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, "drained mail\n");
  EXPECT_EQ(finished.err, "");
}

TEST_P(QueueCommands, PurgeNeedsYesAndSparesRunningJobs) {
  add("mail", 3);
  claim("mail");
  EXPECT_EQ(tool({"queue", "purge", "mail"}).exit_code, 2);
  EXPECT_TRUE(contains(tool({"queue", "purge", "mail", "--dry-run"}).out, "would cancel 2 jobs of mail"));
  EXPECT_EQ(json({"queue", "show", "mail"}).at("available"), 2);
  EXPECT_EQ(tool({"queue", "purge", "mail", "--yes"}).out, "purged mail: cancelled 2 jobs\n");
  EXPECT_EQ(json({"queue", "show", "mail"}).at("running"), 1);
  EXPECT_EQ(tool({"queue", "purge", "mial", "--yes"}).exit_code, 4);
}

TEST_P(QueueCommands, RecoverTakesBackWhatHasExpiredAndStatusRemembersIt) {
  EXPECT_EQ(tool({"recover"}).out, "nothing to recover\n");
  add("mail");
  claim("mail", {"--ttl", "50ms"});
  ASSERT_TRUE(eventually([&] { return json({"recover", "--dry-run"}).at("jobs") == 1; }));
  EXPECT_EQ(json({"status"}).at("recovery").at("stale_now").at("leases"), 1);
  EXPECT_EQ(tool({"recover"}).out,
            "ended 1 lease of jobs, chunks, sessions and schedules and 0 of locks\n"
            "1 job went back to the queue\n");
  EXPECT_EQ(json({"recover"}).at("jobs"), 0);
  const auto total = json({"status"}).at("recovery").at("totals").at(0);
  EXPECT_EQ(total.at("reason"), "recover");
  EXPECT_EQ(total.at("jobs"), 1);
  EXPECT_TRUE(contains(tool({"status"}).out, "RECOVERED BY"));
}

TEST_P(QueueCommands, StatusShowsTheQueues) {
  add("mail", 2);
  const auto status = json({"status"});
  EXPECT_EQ(status.at("queues").at(0).at("available"), 2);
  EXPECT_TRUE(status.at("queues").at(0).at("oldest_at").is_string());
  EXPECT_TRUE(contains(tool({"status"}).out, "mail  active          2"));
}

TEST_P(QueueCommands, PruneForgetsFinishedJobsOnly) {
  add("mail", 2);
  complete(claim("mail"));
  EXPECT_TRUE(contains(tool({"prune", "--older-than", "0", "--dry-run"}).out, "1 finished job"));
  EXPECT_EQ(json({"prune", "--older-than", "0", "--yes"}).at("jobs"), 1);
  EXPECT_EQ(json({"job", "ls"}).at("items").as_array().size(), 1U);
}

}  // namespace
}  // namespace leasehold::support

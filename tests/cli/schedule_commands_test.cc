// The schedule commands: what they print, where, and with which exit code.
#include "base/time_text.h"
#include "cli/schedule_tool.h"

namespace leasehold::support {
namespace {

class ScheduleCommands : public ScheduleToolTest {};
LEASEHOLD_ON_BOTH_STORES(ScheduleCommands);

TEST_P(ScheduleCommands, SetReportsTheChangesAndTheNextRun) {
  const auto created = tool({"schedule", "set", "refresh", "--every", "11m-15m", "--on-fail", "20m-40m"});
  EXPECT_EQ(created.exit_code, 0) << created.err;
  EXPECT_TRUE(contains(created.out, "created refresh  every 11m-15m  next run: ")) << created.out;
  EXPECT_TRUE(contains(created.out, "(in 1")) << "after the first pause: " << created.out;
  EXPECT_TRUE(contains(tool({"schedule", "set", "refresh", "--every", "11m-15m", "--on-fail", "20m-40m"}).out,
                       "unchanged refresh"));
  EXPECT_TRUE(contains(tool({"schedule", "set", "refresh", "--every", "1h"}).out, "changed refresh  every 1h"));
  const auto again = json({"schedule", "set", "refresh", "--every", "1h"});
  EXPECT_FALSE(again.at("created").as_bool());
  EXPECT_FALSE(again.at("changed").as_bool());
}

TEST_P(ScheduleCommands, SetKeepsEveryOption) {
  set_schedule("report",
               {"--cron", "0 6 * * MON-FRI", "--tz", "Europe/Berlin", "--jitter", "30s", "--misfire", "skip",
                "--misfire-after", "2m", "--on-fail", "20m-40m", "--ttl", "1m", "--", "./report", "-v", "a b"});
  const auto report = shown("report");
  EXPECT_EQ(report.at("state"), "waiting");
  EXPECT_EQ(report.at("cron"), "0 6 * * MON-FRI");
  EXPECT_EQ(report.at("zone"), "Europe/Berlin");
  EXPECT_EQ(report.at("jitter_seconds"), 30);
  EXPECT_EQ(report.at("fail_min_seconds"), 1200);
  EXPECT_EQ(report.at("fail_max_seconds"), 2400);
  EXPECT_EQ(report.at("ttl_seconds"), 60);
  EXPECT_EQ(report.at("misfire"), "skip");
  EXPECT_EQ(report.at("misfire_after_seconds"), 120);
  EXPECT_EQ(report.at("command"), boost::json::array({"./report", "-v", "a b"}));
  const auto text = tool({"schedule", "show", "report"}).out;
  for (const auto* part : {"rule        0 6 * * MON-FRI Europe/Berlin +30s", "on failure  20m-40m", "lease       1m",
                           "misfire     skip after 2m", "command     ./report -v a b", " 06:00:", "next run  "}) {
    EXPECT_TRUE(contains(text, part));
  }
}

TEST_P(ScheduleCommands, StatusShowsHowManyRunsWereLost) {
  set_schedule("refresh", {"--every", "10m"});
  acquired("refresh", {"--ttl", "50ms"});
  ASSERT_TRUE(eventually([&] { return json({"recover"}).at("runs") == 1; }));
  const auto status = tool({"status"}).out;
  EXPECT_TRUE(contains(status, "TIMES  LEASES  JOBS  CHUNKS  CLAIMS  RUNS  LAST\n"));
  EXPECT_TRUE(contains(status, "    1       1     0       0       0     1  "));
}

TEST_P(ScheduleCommands, ABadRuleIsAUsageErrorThatPointsAtTheField) {
  struct Case {
    Arguments words;
    std::string reported;
  };
  const std::vector<Case> cases = {
      {{"--cron", "0 25 * * *"}, "field 2 (hour) \"25\""},
      {{"--cron", "0 6 * * *", "--tz", "Europe/Berln"}, "unknown time zone \"Europe/Berln\""},
      {{"--every", "often"}, "write 1h or 10m-15m"},
      {{"--every", "15m-10m"}, "maximum first"},
      {{"--every", "0s"}, "pause is"},
      {{"--every", "500ms-1m"}, "pause is"},
      {{"--cron", "@daily", "--misfire-after", "1m"}, "it needs --misfire skip"},
      {{"--cron", "@daily", "--misfire", "all", "--misfire-after", "1m"}, "it needs --misfire skip"},
      {{"--every", "10m-"}, "write 1h or 10m-15m"},
      {{"--on-fail", "5m"}, "add --every or --cron"},
      {{}, "one of them is required"},
      {{"--every", "5m", "--cron", "@daily"}, "--every"},
      {{"--every", "5m", "--tz", "UTC"}, "--cron"},
      {{"--cron", "@daily", "--misfire", "perhaps"}, "none of skip, once, all"},
      {{"--every", "5m", "true"}, "put -- before the command"},
      {{"--every", "5m", "--tttl", "1m"}, "did you mean --ttl?"},
      {{"--every", "5m", "--enqueue", "mail", "hi", "--", "true"}, "a queue or a command, not both"},
  };
  for (const auto& [words, reported] : cases) {
    Arguments arguments = {"schedule", "set", "x"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 2) << reported << ": " << finished.out << finished.err;
    EXPECT_TRUE(contains(finished.err, reported));
  }
  EXPECT_EQ(tool({"schedule", "show", "x"}).exit_code, 4);
}

TEST_P(ScheduleCommands, ARunIsAcquiredKeptAliveAndFinished) {
  set_schedule("refresh", {"--every", "10m-15m", "--on-fail", "20m-40m"});
  const auto token = acquired("refresh", {"--holder", "ana", "--ttl", "1m"});
  EXPECT_EQ(state_of("refresh"), "running");
  const auto extended = tool({"schedule", "heartbeat", "refresh", "--ttl", "1h"}, {{"LEASEHOLD_TOKEN", token}});
  EXPECT_TRUE(contains(extended.out, "extended refresh  until ")) << extended.err;
  const auto finished = json({"schedule", "complete", "refresh", "--token", token, "--counts", R"({"rows":3})"});
  EXPECT_GE(finished.at("next_run_in_seconds").to_number<double>(), 600 - 5);
  EXPECT_LE(finished.at("next_run_in_seconds").to_number<double>(), 900);
  EXPECT_TRUE(json({"schedule", "complete", "refresh", "--token", token}).at("replayed").as_bool());
  const auto run = history("refresh").at(0);
  EXPECT_EQ(run.at("outcome"), "completed");
  EXPECT_EQ(run.at("holder").at("name"), "ana");
  EXPECT_EQ(run.at("counts").at("rows"), 3);
}

TEST_P(ScheduleCommands, AFailureBacksOffAndIsReported) {
  set_schedule("refresh", {"--every", "10m-15m", "--on-fail", "20m-40m"});
  const auto token = acquired("refresh");
  const auto finished = tool({"schedule", "fail", "refresh", "--error", "no answer"},
                             {{"LEASEHOLD_TOKEN", token}, {"LEASEHOLD_SCHEDULE", "x"}});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "failed refresh  next run: "));
  EXPECT_GE(shown("refresh").at("next_run_in_seconds").to_number<double>(), 1200 - 5);
  EXPECT_EQ(shown("refresh").at("last").at("error"), "no answer");
  EXPECT_TRUE(contains(tool({"schedule", "show", "refresh"}).out, "error       no answer"));
  EXPECT_TRUE(contains(tool({"schedule", "history", "refresh"}).out, "no answer"));
}

TEST_P(ScheduleCommands, FinishWantsAVerdict) {
  EXPECT_EQ(tool({"schedule", "complete", "refresh", "--token", "1", "--error", "x"}).exit_code, 2);
  EXPECT_EQ(tool({"schedule", "complete", "refresh", "--token", "1", "--counts", "{"}).exit_code, 2);
}

TEST_P(ScheduleCommands, ALateFinishIsLost) {
  set_schedule("refresh");
  const auto token = acquired("refresh");
  EXPECT_EQ(tool({"schedule", "release", "refresh", "--token", token}).out, "released refresh: it is due again\n");
  const auto next = acquired("refresh");
  for (const Arguments& act : {Arguments{"complete"}, Arguments{"heartbeat"}}) {
    Arguments arguments = {"schedule", act.front(), "refresh", "--token", token};
    arguments.insert(arguments.end(), act.begin() + 1, act.end());
    EXPECT_EQ(tool(arguments).exit_code, 76) << act.front();
  }
  EXPECT_EQ(outcomes("refresh"), "running released");
  EXPECT_EQ(shown("refresh").at("held_by").at("token").as_int64(), std::stoll(next));
}

TEST_P(ScheduleCommands, NotDueIsANormalAnswer) {
  set_schedule("refresh", {"--every", "11m-15m"});
  const auto token = acquired("refresh");
  ASSERT_EQ(tool({"schedule", "complete", "refresh", "--token", token}).exit_code, 0);
  const auto skipped = tool({"schedule", "acquire", "refresh"});
  EXPECT_EQ(skipped.exit_code, 3);
  EXPECT_EQ(skipped.out, "");
  EXPECT_TRUE(skipped.err.starts_with("leasehold: refresh is not due: next run at ")) << skipped.err;
  EXPECT_TRUE(contains(skipped.err, " (in 1"));
  const auto error = json({"schedule", "acquire", "refresh"}, 3).at("error");
  EXPECT_EQ(error.at("code"), "not_due");
  EXPECT_TRUE(error.at("retry_at").is_string());
  EXPECT_TRUE(error.at("retry_in_seconds").is_number());
  EXPECT_EQ(tool({"schedule", "acquire", "refresh", "-E", "0"}).exit_code, 0);
  EXPECT_EQ(json({"schedule", "acquire", "refresh", "--now"}).at("name"), "refresh");
}

TEST_P(ScheduleCommands, AHeldScheduleNamesItsHolder) {
  set_schedule("refresh");
  acquired("refresh", {"--holder", "ana"});
  const auto skipped = tool({"schedule", "acquire", "refresh", "--now"});
  EXPECT_EQ(skipped.exit_code, 75);
  for (const auto* part : {"refresh is held by ana (", "since ", "frees at "}) {
    EXPECT_TRUE(contains(skipped.err, part));
  }
  EXPECT_EQ(tool({"schedule", "acquire", "refresh", "-E", "3"}).exit_code, 3);
  const auto error = json({"schedule", "acquire", "refresh"}, 75).at("error");
  EXPECT_EQ(error.at("code"), "held");
  EXPECT_TRUE(error.at("retry_in_seconds").is_number());
  EXPECT_EQ(error.at("held_by").at("holder").at("name"), "ana");
  for (const auto* member : {"since", "until"}) EXPECT_TRUE(error.at("held_by").at(member).is_string()) << member;
}

TEST_P(ScheduleCommands, APausedScheduleShowsSinceWhenAndWhy) {
  set_schedule("refresh");
  EXPECT_EQ(tool({"schedule", "pause", "refresh", "--reason", "source is down"}).out, "paused refresh\n");
  EXPECT_EQ(state_of("refresh"), "paused");
  const auto skipped = tool({"schedule", "acquire", "refresh", "--now"});
  EXPECT_EQ(skipped.exit_code, 3);
  EXPECT_TRUE(contains(skipped.err, "refresh is paused since "));
  EXPECT_TRUE(contains(skipped.err, ": source is down"));
  const auto error = json({"schedule", "acquire", "refresh"}, 3).at("error");
  EXPECT_EQ(error.at("code"), "paused");
  EXPECT_TRUE(error.at("paused_at").is_string());
  EXPECT_EQ(error.at("pause_reason"), "source is down");
  EXPECT_EQ(tool({"schedule", "trigger", "refresh"}).exit_code, 75);
  EXPECT_EQ(tool({"schedule", "resume", "refresh"}).out, "resumed refresh  next run: now\n");
  acquired("refresh");
}

TEST_P(ScheduleCommands, TriggerMakesItDueAndOnceMoreWhileItRuns) {
  set_schedule("refresh", {"--every", "1h"});
  const auto first = acquired("refresh");
  const auto during = tool({"schedule", "trigger", "refresh"});
  EXPECT_EQ(during.out, "triggered refresh\n");
  EXPECT_TRUE(contains(during.err, "once more after this run: held by "));
  ASSERT_EQ(tool({"schedule", "complete", "refresh", "--token", first}).exit_code, 0);
  EXPECT_EQ(state_of("refresh"), "due");
  acquired("refresh");
  EXPECT_EQ(history("refresh").at(0).at("cause"), "triggered");
}

TEST_P(ScheduleCommands, RenameTakesTheHistoryAlong) {
  set_schedule("refresh");
  const auto token = acquired("refresh");
  EXPECT_EQ(tool({"schedule", "rename", "refresh", "prices"}).out, "renamed refresh to prices\n");
  EXPECT_EQ(tool({"schedule", "show", "refresh"}).exit_code, 4);
  EXPECT_EQ(tool({"schedule", "complete", "prices", "--token", token}).exit_code, 0);
  EXPECT_EQ(outcomes("prices"), "completed");
  set_schedule("refresh");
  EXPECT_EQ(tool({"schedule", "rename", "refresh", "prices"}).exit_code, 2);
}

TEST_P(ScheduleCommands, RmNeedsAYesAndAnIdleSchedule) {
  set_schedule("refresh");
  EXPECT_EQ(tool({"schedule", "rm", "refresh"}).exit_code, 2);
  EXPECT_TRUE(contains(tool({"schedule", "rm", "refresh", "--dry-run"}).out, "would remove refresh  every 10m-15m"));
  const auto token = acquired("refresh");
  EXPECT_EQ(tool({"schedule", "rm", "refresh", "--dry-run"}).exit_code, 75);
  EXPECT_EQ(tool({"schedule", "rm", "refresh", "--yes"}).exit_code, 75);
  ASSERT_EQ(tool({"schedule", "release", "refresh", "--token", token}).exit_code, 0);
  EXPECT_EQ(tool({"schedule", "rm", "refresh", "--yes"}).out, "removed refresh\n");
  EXPECT_EQ(tool({"schedule", "rm", "refresh", "--yes"}).exit_code, 4);
}

TEST_P(ScheduleCommands, LsShowsStateRuleNextLastAndHolder) {
  set_schedule("due");
  set_schedule("running", {"--every", "1h"});
  acquired("running", {"--holder", "ana"});
  set_schedule("nightly", {"--cron", "0 3 1 1 *"});
  set_schedule("off", {"--cron", "@daily"});
  ASSERT_EQ(tool({"schedule", "pause", "off"}).exit_code, 0);
  const auto table = tool({"schedule", "ls"}).out;
  EXPECT_TRUE(table.starts_with("NAME     STATE    RULE"));
  for (const auto* part : {"due      due      every 10m-15m  now", "running  running  every 1h       -",
                           "nightly  waiting  0 3 1 1 *      in ", "off      paused   @daily         -", "  ana\n"}) {
    EXPECT_TRUE(contains(table, part));
  }
  EXPECT_EQ(json({"schedule", "ls"}).at("items").as_array().size(), 4U);
}

TEST_P(ScheduleCommands, AWatchedListShowsEveryChange) {
  set_schedule("refresh");
  auto watcher = start({"schedule", "ls", "--watch"});
  EXPECT_TRUE(contains(watcher.read_line(patience).value_or(""), "refresh: due, every 10m-15m"));
  const auto token = acquired("refresh", {"--holder", "ana"});
  EXPECT_TRUE(contains(watcher.read_line(patience).value_or(""), "refresh: running, every 10m-15m, held by ana"));
  ASSERT_EQ(tool({"schedule", "complete", "refresh", "--token", token}).exit_code, 0);
  EXPECT_TRUE(
      contains(watcher.read_line(patience).value_or(""), "refresh: waiting, every 10m-15m, last run completed at "));
}

TEST_P(ScheduleCommands, AnUnknownScheduleIsNotFound) {
  for (const Arguments& act :
       {Arguments{"acquire", "x"}, Arguments{"show", "x"}, Arguments{"next", "x"}, Arguments{"history", "x"},
        Arguments{"trigger", "x"}, Arguments{"pause", "x"}, Arguments{"resume", "x"}, Arguments{"rename", "x", "y"},
        Arguments{"complete", "x", "--token", "1"}, Arguments{"run", "x", "--", "true"}}) {
    Arguments arguments = {"schedule"};
    arguments.insert(arguments.end(), act.begin(), act.end());
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 4) << act.front() << finished.err;
    EXPECT_TRUE(contains(finished.err, "schedule \"x\" does not exist"));
  }
}

TEST_P(ScheduleCommands, NextFollowsTheClockOfItsZoneAcrossDaylightSaving) {
  set_schedule("report", {"--cron", "30 2 * * *", "--tz", "Europe/Berlin"});
  const auto text = tool({"schedule", "next", "report", "-n", "400"}).out;
  EXPECT_TRUE(text.starts_with("Europe/Berlin               UTC                   OCCURRENCE\n")) << text.substr(0, 80);
  // More than a year: once at least a night without half past two, and once a night with two of them.
  for (const auto* part : {" 03:30:00 +02:00  20", " 02:30:00 +02:00  20", " 02:30:00 +01:00  20"}) {
    EXPECT_TRUE(contains(text, part));
  }
  EXPECT_EQ(json({"schedule", "next", "report", "-n", "400"}).at("items").as_array().size(), 400U);
  set_schedule("late", {"--cron", "@daily", "--jitter", "30s"});
  EXPECT_TRUE(contains(tool({"schedule", "next", "late"}).err, "each of them is due up to 30s later; next run: 20"));
  set_schedule("refresh");
  const auto only_one = tool({"schedule", "next", "refresh"});
  EXPECT_TRUE(only_one.out.starts_with("LOCAL TIME")) << only_one.out;
  EXPECT_TRUE(contains(only_one.out, "  now\n"));
}

TEST_P(ScheduleCommands, OccurrencesMissedInAPauseAreInTheHistory) {
  set_schedule("often", {"--cron", "* * * * * *"});
  ASSERT_EQ(tool({"schedule", "pause", "often"}).exit_code, 0);
  ASSERT_TRUE(eventually([&] { return shown("often").at("next_run_in_seconds").to_number<double>() == 0; }, patience));
  ASSERT_EQ(tool({"schedule", "resume", "often"}).exit_code, 0);
  const auto skipped = history("often").at(0);
  EXPECT_EQ(skipped.at("outcome"), "skipped");
  EXPECT_EQ(skipped.at("reason"), "paused");
  EXPECT_GE(skipped.at("missed").as_int64(), 1);
  EXPECT_TRUE(contains(tool({"schedule", "history", "often"}).out, ": paused\n"));
}

TEST_P(ScheduleCommands, AStoreThatIsAwayIsUnreachable) {
  const auto away = "postgresql://nobody@127.0.0.1:1/none?connect_timeout=1";
  const auto marker = folder().file("started");
  EXPECT_EQ(tool({"schedule", "acquire", "refresh", "--db", away}).exit_code, 69);
  EXPECT_EQ(tool({"schedule", "run", "refresh", "--every", "5m", "--db", away, "--", "touch", marker}).exit_code, 69);
  EXPECT_NE(run({"test", "-e", marker}).exit_code, 0);
}

TEST_P(ScheduleCommands, NextSaysWhenTheNextRunIs) {
  const auto saved = tool({"schedule", "set", "refresh", "--every", "10m", "--next", "90m"});
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_TRUE(contains(saved.out, "created refresh  every 10m  next run: "));
  EXPECT_TRUE(contains(saved.out, "(in 1h 29m"));
  EXPECT_EQ(tool({"schedule", "acquire", "refresh"}).exit_code, 3);
  set_schedule("refresh", {"--every", "10m", "--next", "2030-01-01T00:00:00Z"});
  EXPECT_EQ(shown("refresh").at("next_run_at"), "2030-01-01T00:00:00Z");
  EXPECT_EQ(tool({"schedule", "set", "refresh", "--every", "10m", "--next", "now"}).out,
            "changed refresh  every 10m  next run: now\n");
  const auto token = acquired("refresh");
  const auto finished = json({"schedule", "complete", "refresh", "--token", token, "--next", "2030-02-01 10:00"});
  EXPECT_EQ(finished.at("next_run_at"), "2030-02-01T10:00:00Z");
  for (const auto* wrong : {"soon", "10m-15m", "-5m", "2030-13-01T00:00:00Z"}) {
    EXPECT_EQ(tool({"schedule", "set", "other", "--every", "1h", "--next", wrong}).exit_code, 2) << wrong;
  }
  EXPECT_EQ(tool({"schedule", "show", "other"}).exit_code, 4);
}

/// The clock of the server is that of the test: another one than the tool's.
class ScheduleClockCommands : public ToolTest {
 protected:
  [[nodiscard]] std::string url() const override { return store_.url(); }

  TestStore store_{StoreKind::postgres};
};

TEST_F(ScheduleClockCommands, HowLongFromNowIsByTheClockOfTheStore) {
  const auto next_run = [&](const Arguments& arguments) {
    return parse_moment(json(arguments).at("next_run_at").as_string().c_str(), {}).value();
  };
  EXPECT_EQ(next_run({"schedule", "set", "refresh", "--every", "10m", "--next", "90m"}), store_.now() + 90min);
  EXPECT_EQ(next_run({"schedule", "set", "refresh", "--every", "10m", "--next", "now"}), store_.now());
  const auto token = token_in(tool({"schedule", "acquire", "refresh", "-q"}).out);
  EXPECT_EQ(next_run({"schedule", "complete", "refresh", "--token", token, "--next", "30s"}), store_.now() + 30s);
}

TEST_P(ScheduleCommands, AJobKnowsTheScheduleThatEnqueuedIt) {
  set_schedule("nightly", {"--cron", "0 3 * * *", "--next", "0s", "--enqueue", "reports", "news"});
  EXPECT_EQ(tool({"schedule", "daemon", "--once"}).exit_code, 0);
  const auto run = history("nightly").at(0);
  const auto id = std::to_string(run.at("job_id").as_int64());
  const auto job = json({"job", "show", id});
  EXPECT_EQ(job.at("schedule"), "nightly");
  EXPECT_EQ(job.at("occurrence"), run.at("occurrence"));
  EXPECT_TRUE(contains(tool({"job", "show", id}).out, "schedule    nightly\n"));
  const auto worked = tool({"work", "reports", "--once", "--result", "--", "sh", "-c",
                            "echo $LEASEHOLD_JOB_SCHEDULE $LEASEHOLD_JOB_OCCURRENCE"});
  EXPECT_EQ(worked.exit_code, 0) << worked.err;
  EXPECT_EQ(tool({"job", "result", id}).out, "nightly " + std::string(run.at("occurrence").as_string()) + "\n");
}

}  // namespace
}  // namespace leasehold::support

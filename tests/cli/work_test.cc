// `leasehold work` from outside: its command line, its answers, what it hands to commands.
#include "cli/tool.h"

namespace leasehold::support {
namespace {

class WorkCommand : public ToolTest {
 protected:
  std::string added(const std::string& payload = "hello") {
    const auto finished = tool({"job", "add", "q", payload});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out.substr(0, finished.out.find('\n'));
  }
};

TEST_F(WorkCommand, WantsQueuesTheMarkAndACommand) {
  const auto without_queue = tool({"work", "--", "true"});
  EXPECT_EQ(without_queue.exit_code, 2);
  EXPECT_TRUE(contains(without_queue.err, "missing before the --"));
  for (const auto& words : {Arguments{"work", "q", "true"}, Arguments{"work", "q", "--"}, Arguments{"work", "q"}}) {
    const auto without_command = tool(words);
    EXPECT_EQ(without_command.exit_code, 2);
    EXPECT_TRUE(contains(without_command.err, "put -- before the command"));
  }
  EXPECT_EQ(tool({"work", "q", "--once", "--drain", "--", "true"}).exit_code, 2);
}

TEST_F(WorkCommand, OnceReportsThatThereIsNothingToDo) {
  const auto empty = tool({"work", "q", "--once", "--", "true"});
  EXPECT_EQ(empty.exit_code, 3);
  EXPECT_TRUE(contains(empty.err, "has no job ready"));
  const auto as_json = tool({"work", "q", "--once", "--json", "--", "true"});
  EXPECT_EQ(as_json.exit_code, 3);
  EXPECT_TRUE(contains(as_json.out, "\"code\":\"empty\""));
}

TEST_F(WorkCommand, OnceDoesOneJobAndReportsWhetherItCompleted) {
  added();
  added();
  EXPECT_EQ(tool({"work", "q", "--once", "--", "true"}).exit_code, 0);
  EXPECT_EQ(tool({"work", "q", "--once", "--", "false"}).exit_code, 1);
  EXPECT_EQ(tool({"work", "q", "--once", "--", "true"}).exit_code, 3) << "the second one backs off";
}

TEST_F(WorkCommand, DrainDoesAllOfSeveralQueues) {
  for (int i = 0; i < 5; ++i) added();
  ASSERT_EQ(tool({"job", "add", "other", "x"}).exit_code, 0);
  const auto done = tool({"work", "q", "other", "-c", "3", "--drain", "--json", "--", "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(contains(done.out, "\"completed\":6"));
}

TEST_F(WorkCommand, GivesTheCommandItsWordsAsTheyAre) {
  added();
  const auto done = tool({"work", "q", "--once", "--", "printf", "[%s]", "a b", "-c", "--", "[x,y]", "$HOME", ""});
  EXPECT_EQ(done.out, "[a b][-c][--][[x,y]][$HOME][]") << done.err;
}

TEST_F(WorkCommand, TheCommandGetsItsJob) {
  const auto id = added("the payload");
  const auto done = tool({"work", "q", "--once", "--", "sh", "-c",
                          "cat; echo :$LEASEHOLD_JOB_ID:$LEASEHOLD_ATTEMPT:$LEASEHOLD_QUEUE:$LEASEHOLD_DB;"
                          "test -n \"$LEASEHOLD_TOKEN\" && test -n \"$LEASEHOLD_EXPIRES_AT\""});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "the payload:" + id + ":1:q:sqlite:" + file() + "\n");
}

TEST_F(WorkCommand, ACommandMaySettleItsJobByItself) {
  const auto id = added();
  const auto done = tool({"work", "q", "--once", "--", LEASEHOLD_TOOL, "job", "complete"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(contains(tool({"job", "show", id}).out, "completed"));
}

TEST_F(WorkCommand, ExitCode65FailsWithoutARetry) {
  const auto id = added();
  EXPECT_EQ(tool({"work", "q", "--once", "--", "sh", "-c", "echo bad data >&2; exit 65"}).exit_code, 1);
  const auto job = json({"job", "show", id});
  EXPECT_EQ(job.at("state"), "failed") << "not tried again";
  EXPECT_EQ(job.at("attempts"), 1);
  EXPECT_TRUE(contains(tool({"job", "errors"}).out, "exit code 65: bad data"));
}

TEST_F(WorkCommand, VerboseLogsEveryOutcome) {
  const auto id = added();
  const auto done = tool({"work", "q", "--once", "-v", "--", "true"});
  EXPECT_TRUE(contains(done.err, "leasehold: job " + id + " of q: attempt 1 completed after ")) << done.err;
  const auto other = added();
  const auto failed = tool({"work", "q", "--once", "-v", "--", "sh", "-c", "echo no such file >&2; exit 3"});
  EXPECT_TRUE(contains(failed.err, "leasehold: job " + other + " of q: attempt 1 failed after "));
  EXPECT_TRUE(contains(failed.err, ": exit code 3: no such file\n"));
  const auto late = added();
  EXPECT_TRUE(contains(tool({"work", "q", "--once", "-v", "--", "sh", "-c", "exit 75"}).err,
                       "job " + late + " of q: attempt 1 was snoozed for 5s after "));
  added();
  EXPECT_FALSE(contains(tool({"work", "q", "--once", "--", "true"}).err, "attempt 1")) << "not without -v";
}

TEST_F(WorkCommand, TheLastWordsOnStderrAreKeptAndPassedOn) {
  const auto id = added();
  const auto done = tool({"work", "q", "--once", "--", "sh", "-c", "seq 1 100000 >&2; exit 9"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(contains(done.err, "\n50000\n"));
  const auto errors = tool({"job", "show", id, "--json"}).out;
  EXPECT_TRUE(contains(errors, "exit code 9"));
  EXPECT_TRUE(contains(errors, "99999\\n100000\""));
  EXPECT_FALSE(contains(errors, "\\n50000\\n"));
}

TEST_F(WorkCommand, AResultThatIsTooLongIsCut) {
  const auto id = added();
  const auto done = tool({"work", "q", "--once", "--result", "--", "head", "-c", "2000000", "/dev/zero"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "cut after 1 MiB"));
  EXPECT_EQ(tool({"job", "result", id}).out.size(), 1024U * 1024U);
}

TEST_F(WorkCommand, EndsProcessesThatACommandLeavesBehind) {
  added();
  const auto done = tool({"work", "q", "--once", "--", "sh", "-c", "sleep 60 > /dev/null 2>&1 & exit 0"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "left 1 process behind"));
}

TEST_F(WorkCommand, ACursorLineIsSavedForTheNextAttempt) {
  const auto id = added();
  const auto first = tool({"work", "q", "--once", "--", "sh", "-c", "echo 'cursor {\"row\": 1700}' >&3; exit 75"});
  EXPECT_EQ(first.exit_code, 1);
  EXPECT_EQ(first.err.find("descriptor 3"), std::string::npos) << first.err;
  EXPECT_EQ(json({"job", "show", id}).at("cursor").at("row"), 1700);
  ASSERT_EQ(tool({"job", "retry", id}).exit_code, 0);
  EXPECT_EQ(tool({"work", "q", "--once", "--", "sh", "-c", "echo \"<$LEASEHOLD_CURSOR>\""}).out, "<{\"row\": 1700}>\n");
  EXPECT_TRUE(json({"job", "show", id}).at("cursor").is_null()) << "it completed";
}

TEST_F(WorkCommand, ACursorLineThatIsNotJsonIsIgnoredAndReported) {
  const auto id = added();
  const auto done = tool({"work", "q", "--once", "--", "sh", "-c",
                          "echo 'cursor [7]' >&3; echo 'cursor row 8' >&3; echo '50 on' >&3; exit 75"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(contains(done.err, "job " + id + ": ignored a line on descriptor 3: the cursor is not JSON"));
  EXPECT_EQ(json({"job", "show", id}).at("cursor").at(0), 7) << "the one before stays";
}

TEST_F(WorkCommand, TheCommandGetsTheMetadata) {
  const std::string trace = R"({"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})";
  ASSERT_EQ(tool({"job", "add", "q", "x", "--metadata", trace}).exit_code, 0);
  const auto done = tool({"work", "q", "--once", "-v", "--", "sh", "-c", "echo \"$LEASEHOLD_METADATA\""});
  EXPECT_EQ(done.out, trace + "\n");
  EXPECT_TRUE(contains(done.err, "(traceparent 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01): attempt 1"));
}

}  // namespace
}  // namespace leasehold::support

// The job commands: what they print, where, and with which exit code.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

class JobCommands : public StoreToolTest {
 protected:
  /// Adds a job and gives its number.
  std::string added(const std::string& queue, const std::string& payload = "x", const Arguments& more = {}) {
    Arguments arguments = {"job", "add", queue, payload};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out.substr(0, finished.out.find('\n'));
  }

  struct Held {
    std::string id;
    std::string token;
  };
  Held claimed(const std::string& queue, const Arguments& more = {}) {
    Arguments arguments = {"job", "claim", queue, "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    const auto space = finished.out.find(' ');
    return {finished.out.substr(0, space), finished.out.substr(space + 1, finished.out.find('\n') - space - 1)};
  }

  std::string state_of(const std::string& id) { return std::string(json({"job", "show", id}).at("state").as_string()); }
};
LEASEHOLD_ON_BOTH_STORES(JobCommands);

TEST_P(JobCommands, AddPrintsTheNumberAndNothingElse) {
  const auto finished = tool({"job", "add", "mail", R"({"to":"ann"})", "--priority", "-5", "--tag", "a", "--tag", "b"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const auto id = std::to_string(std::stoll(finished.out));
  EXPECT_EQ(finished.out, id + "\n");
  EXPECT_EQ(finished.err, "");
  const auto job = json({"job", "show", id});
  EXPECT_EQ(job.at("payload").at("to"), "ann");
  EXPECT_EQ(job.at("priority"), -5);
  EXPECT_EQ(job.at("tags").as_array().size(), 2U);
}

TEST_P(JobCommands, APayloadComesFromAWordAFileOrAPipeByteForByte) {
  const std::string bytes("\x00\xFF\n[1]\n", 7);
  const auto file = folder().file("payload");
  std::ofstream(file) << bytes;
  const auto piped = tool({"job", "add", "mail"}, {}, bytes);
  const auto dashed = tool({"job", "add", "mail", "-"}, {}, bytes);
  const auto from_file = tool({"job", "add", "mail", "--file", file});
  for (const auto& finished : {piped, dashed, from_file}) {
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(tool({"job", "payload", std::to_string(std::stoll(finished.out))}).out, bytes);
  }
  for (const std::string word : {"", "[1,2]", "{}", "\"quoted\""}) {
    EXPECT_EQ(tool({"job", "payload", added("mail", word)}).out, word);
  }
  EXPECT_EQ(json({"job", "payload", std::to_string(std::stoll(piped.out))}).at("payload_base64"), "AP8KWzFdCg==");
  EXPECT_EQ(tool({"job", "add", "mail", "x", "--file", file}).exit_code, 2);
  EXPECT_EQ(tool({"job", "add", "mail", "--file", folder().file("none")}).exit_code, 2);
  EXPECT_EQ(tool({"job", "add", "mail"}, {}, std::string(1024 * 1024 + 1, 'x')).exit_code, 2);
}

TEST_P(JobCommands, ATakenDedupeKeyGivesTheFirstOnesNumber) {
  const auto first = added("mail", "x", {"--dedupe", "daily"});
  const auto second = tool({"job", "add", "mail", "y", "--dedupe", "daily"});
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_EQ(second.out, first + "\n");
  EXPECT_TRUE(contains(second.err, "nothing was added"));
  EXPECT_EQ(json({"job", "add", "mail", "y", "--dedupe", "daily"}).at("created"), false);
}

TEST_P(JobCommands, ADelayAMomentOrAnotherJobKeepAJobWaiting) {
  EXPECT_EQ(state_of(added("mail", "x", {"--delay", "1h"})), "deferred");
  EXPECT_EQ(state_of(added("mail", "x", {"--at", "2099-01-01T00:00:00Z"})), "deferred");
  EXPECT_EQ(state_of(added("mail", "x", {"--at", "2020-01-01 00:00"})), "available");
  const auto first = added("mail");
  EXPECT_EQ(state_of(added("mail", "x", {"--depends-on", first})), "blocked");
  EXPECT_EQ(tool({"job", "add", "mail", "x", "--depends-on", "999999"}).exit_code, 2);
  EXPECT_EQ(tool({"job", "add", "mail", "x", "--delay", "1h", "--at", "09:30"}).exit_code, 2);
  EXPECT_EQ(tool({"job", "add", "mail", "x", "--at", "tomorrow"}).exit_code, 2);
  EXPECT_EQ(tool({"job", "add", "mail", "x", "--backoff", "1h..5s"}).exit_code, 2);
}

TEST_P(JobCommands, ShowPrintsThePredecessorsAndTheOutlook) {
  const auto first = added("first");
  const auto waits = added("mail", "x", {"--depends-on", first, "--if-failed", "wait"});
  const auto runs = added("mail", "x", {"--depends-on", first, "--if-failed", "run"});
  const auto goes_along = added("mail", "x", {"--depends-on", first});
  EXPECT_NE(tool({"job", "show", goes_along}).out.find("if one fails, this job is cancelled"), std::string::npos);
  const auto job = claimed("first");
  EXPECT_EQ(tool({"job", "fail", job.id, "--token", job.token, "--final"}).exit_code, 0);
  EXPECT_EQ(state_of(goes_along), "cancelled");
  EXPECT_EQ(state_of(runs), "available");
  const auto reported = tool({"job", "show", waits}).out;
  EXPECT_NE(reported.find("waits for job " + first + ", which is failed: retry that job, or cancel this one"),
            std::string::npos)
      << reported;
  const auto seen = json({"job", "show", waits});
  EXPECT_EQ(seen.at("if_failed"), "wait");
  EXPECT_EQ(seen.at("depends_on").at(0).at("state"), "failed");
  EXPECT_TRUE(json({"job", "show", first}).at("if_failed").is_null());
  const auto refused = tool({"job", "retry", goes_along});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.err.find("job " + first), std::string::npos) << refused.err;
}

TEST_P(JobCommands, AJobAfterADeadOneIsCancelledAndTheToolReportsIt) {
  const auto first = added("mail");
  EXPECT_EQ(tool({"job", "cancel", first}).exit_code, 0);
  const auto finished = tool({"job", "add", "mail", "x", "--depends-on", first});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_NE(finished.err.find("is cancelled"), std::string::npos) << finished.err;
  EXPECT_EQ(tool({"job", "add", "mail", "x", "--depends-on", first, "--if-failed", "panic"}).exit_code, 2);
}

TEST_P(JobCommands, AnEnvelopeHasThePredecessorsOfAJob) {
  const auto first = added("first");
  const auto line = R"({"payload":"x","depends_on":[)" + first + R"(],"if_failed":"run"})" + "\n";
  EXPECT_EQ(tool({"job", "import", "mail", "--envelope", "-"}, {}, line).exit_code, 0);
  const auto bad = R"({"payload":"x","if_failed":"panic"})" + std::string("\n");
  EXPECT_EQ(tool({"job", "import", "mail", "--envelope", "-"}, {}, bad).exit_code, 1);
  EXPECT_EQ(tool({"job", "cancel", first}).exit_code, 0);
  EXPECT_EQ(json({"queue", "show", "mail"}).at("available"), 1);
}

TEST_P(JobCommands, ClaimShowsNumberTokenAttemptAndEnd) {
  const auto id = added("mail", R"({"to":"ann"})");
  const auto finished = tool({"job", "claim", "mail", "--ttl", "5m", "--holder", "ana"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(finished.out.starts_with("claimed " + id + "  token "));
  EXPECT_TRUE(contains(finished.out, "attempt 1  until "));
  EXPECT_TRUE(contains(finished.out, "(5m)"));
  EXPECT_EQ(json({"job", "show", id}).at("holder").at("name"), "ana");
}

TEST_P(JobCommands, ClaimAsJsonHasThePayloadsAndOneTokenForAll) {
  added("mail", "low");
  added("mail", "high", {"--priority", "9"});
  added("mail", "\xFF");
  const auto grant = json({"job", "claim", "mail", "-n", "5"});
  const auto& jobs = grant.at("jobs").as_array();
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].at("payload_base64"), "aGlnaA==");
  EXPECT_EQ(jobs[2].at("payload_base64"), "/w==");
  for (const auto& job : jobs) EXPECT_EQ(job.at("token"), grant.at("token"));
  EXPECT_EQ(grant.at("ttl_seconds"), 300);
}

TEST_P(JobCommands, AnEmptyQueueIs3AndALimitedOneIs75) {
  const auto empty = tool({"job", "claim", "merge"});
  EXPECT_EQ(empty.exit_code, 3);
  EXPECT_EQ(empty.out, "");
  EXPECT_EQ(json({"job", "claim", "merge"}, 3).at("error").at("code"), "empty");
  ASSERT_EQ(tool({"queue", "set", "merge", "--max-running", "1"}).exit_code, 0);
  added("merge");
  added("merge");
  claimed("merge", {"--holder", "ana"});
  const auto full = tool({"job", "claim", "merge"});
  EXPECT_EQ(full.exit_code, 75);
  EXPECT_TRUE(contains(full.err, "ana"));
  const auto error = json({"job", "claim", "merge"}, 75).at("error");
  EXPECT_EQ(error.at("code"), "at_capacity");
  EXPECT_EQ(error.at("held_by").at("holder").at("name"), "ana");
  EXPECT_EQ(tool({"job", "claim", "merge", "-E", "0"}).exit_code, 0);
}

TEST_P(JobCommands, ARequestIdMakesRepeatingHarmless) {
  added("mail");
  added("mail");
  const auto first = claimed("mail", {"--request-id", "r1"});
  EXPECT_EQ(claimed("mail", {"--request-id", "r1"}).token, first.token);
}

TEST_P(JobCommands, AWaitingClaimTakesOverWhatHasExpired) {
  const auto id = added("mail");
  const auto late = claimed("mail", {"--ttl", "50ms"});
  const auto heir = claimed("mail", {"--wait", "20s"});
  EXPECT_EQ(heir.id, id);
  for (const auto* verdict : {"complete", "fail", "release"}) {
    const auto refused = tool({"job", verdict, late.id, "--token", late.token});
    EXPECT_EQ(refused.exit_code, 76) << verdict;
    EXPECT_EQ(refused.out, "");
  }
  EXPECT_EQ(tool({"job", "complete", heir.id, "--token", heir.token}).out, "completed " + id + "\n");
  const auto history = json({"job", "show", id}).at("history").as_array();
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].at("outcome"), "expired");
  EXPECT_EQ(history[1].at("outcome"), "completed");
}

TEST_P(JobCommands, HeartbeatSendsProgressAndShowsACancelRequest) {
  added("mail");
  const auto [id, token] = claimed("mail");
  const Environment env = {{"LEASEHOLD_JOB_ID", id}, {"LEASEHOLD_TOKEN", token}};
  const auto beat =
      tool({"job", "heartbeat", "--percent", "40", "--stage", "testing", "--message", "suite 4", "--ttl", "1h"}, env);
  EXPECT_EQ(beat.exit_code, 0) << beat.err;
  EXPECT_TRUE(contains(beat.out, "extended " + id));
  EXPECT_TRUE(contains(tool({"job", "show", id}).out, "progress    40%  testing  suite 4"));
  EXPECT_TRUE(contains(tool({"job", "ls"}).out, "40% testing suite 4"));
  EXPECT_TRUE(contains(tool({"job", "cancel", id, "--reason", "no use"}).out, "requested " + id));
  EXPECT_TRUE(contains(tool({"job", "heartbeat"}, env).out, "cancel requested"));
  EXPECT_EQ(json({"job", "heartbeat", id, "--token", token}).at("cancel_requested"), true);
  EXPECT_TRUE(contains(tool({"job", "release"}, env).out, "cancelled " + id));
  EXPECT_EQ(state_of(id), "cancelled");
}

TEST_P(JobCommands, VerdictsShowTheNewStateOfTheJob) {
  const auto id = added("mail", "x", {"--max-failures", "2", "--backoff", "1h"});
  auto held = claimed("mail");
  EXPECT_EQ(tool({"job", "release", id, "--token", held.token}).out, "returned " + id + ": it is available\n");
  held = claimed("mail");
  const auto snoozed = tool({"job", "snooze", id, "--token", held.token, "--delay", "1h"});
  EXPECT_TRUE(snoozed.out.starts_with("deferred " + id + " until ")) << snoozed.out << snoozed.err;
  EXPECT_EQ(tool({"job", "retry", id}).exit_code, 0);
  held = claimed("mail");
  const auto failed = json({"job", "fail", id, "--token", held.token, "--error", "no route"});
  EXPECT_EQ(failed.at("state"), "deferred");
  EXPECT_TRUE(failed.at("due_at").is_string());
  EXPECT_EQ(tool({"job", "retry", id}).out, "job " + id + " is available\n");
  held = claimed("mail");
  const auto final = tool({"job", "fail", id, "--token", held.token, "--final", "--error-file", "-"}, {}, "gone");
  EXPECT_EQ(final.out, "failed " + id + ": it is a dead letter\n") << final.err;
  EXPECT_TRUE(contains(tool({"job", "errors"}).out, "gone"));
  EXPECT_EQ(json({"job", "errors", "mail"}).at("items").as_array().size(), 2U);
  EXPECT_EQ(json({"job", "show", id}).at("error"), "gone");
}

TEST_P(JobCommands, AVerdictCanBringTheNextJob) {
  const auto first = added("mail", "a");
  const auto second = added("mail", "b");
  const auto third = added("mail", "c");
  auto held = claimed("mail");
  const auto done = tool({"job", "complete", first, "--token", held.token, "--next", "mail", "--holder", "ana"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(done.out.starts_with("completed " + first + "\nclaimed " + second + "  token ")) << done.out;
  EXPECT_EQ(json({"job", "show", second}).at("holder").at("name"), "ana");
  const auto late = tool({"job", "fail", first, "--token", held.token, "--error", "x", "--next", "mail", "-q"});
  EXPECT_EQ(late.exit_code, 76);
  EXPECT_TRUE(contains(late.err, "lost"));
  ASSERT_TRUE(late.out.starts_with(third + " ")) << "the claimed job is reported all the same: " << late.out;
  const auto token = late.out.substr(third.size() + 1, late.out.size() - third.size() - 2);
  const auto last = tool({"job", "complete", third, "--token", token, "--next", "mail"});
  EXPECT_EQ(last.exit_code, 3) << last.err;
  EXPECT_EQ(last.out, "completed " + third + "\n");
  EXPECT_EQ(tool({"job", "release", second, "--token", "1", "--ttl", "5s"}).exit_code, 2) << "--ttl is of the next job";
}

TEST_P(JobCommands, TheResultOfACompletedJobCanBeRead) {
  const auto id = added("mail");
  const auto held = claimed("mail");
  EXPECT_EQ(tool({"job", "result", id}).exit_code, 4);
  const auto done = tool({"job", "complete", id, "--token", held.token, "--result-file", "-"}, {}, "42\n");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(tool({"job", "result", id}).out, "42\n");
  EXPECT_EQ(json({"job", "show", id}).at("result"), 42);
  EXPECT_TRUE(contains(tool({"job", "complete", id, "--token", held.token, "--result", "42\n"}).out, "(repeated)"));
}

TEST_P(JobCommands, ShowPrintsAllDetails) {
  const auto id = added("mail", "some payload", {"--tag", "nightly", "--group", "ann", "--dedupe", "d"});
  auto held = claimed("mail", {"--holder", "ana"});
  tool({"job", "fail", id, "--token", held.token, "--error", "no route", "--delay", "0"});
  claimed("mail", {"--holder", "ben"});
  const auto shown = tool({"job", "show", id});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  for (const auto* part :
       {"state       running", "holder      ben (on ", "expires ", "failures 1 of 10, crashes 0 of 3",
        "tags        nightly", "group       ann", "dedupe key  d", "payload     some payload", "ATTEMPT  OUTCOME",
        "1  failed", "ana", "no route", "2  running"}) {
    EXPECT_TRUE(contains(shown.out, part));
  }
  EXPECT_EQ(tool({"job", "show", "999999"}).exit_code, 4);
  EXPECT_EQ(tool({"job", "show", "x"}).exit_code, 2);
}

TEST_P(JobCommands, LsFiltersAndContinuesAtItsPage) {
  const auto first = added("mail", "x", {"--tag", "a"});
  const auto second = added("mail", "x", {"--delay", "1h"});
  added("other");
  EXPECT_EQ(json({"job", "ls"}).at("items").as_array().size(), 3U);
  EXPECT_EQ(json({"job", "ls", "--queue", "mail"}).at("items").as_array().size(), 2U);
  EXPECT_EQ(json({"job", "ls", "--state", "deferred"}).at("items").at(0).at("id").as_int64(), std::stoll(second));
  EXPECT_EQ(json({"job", "ls", "--tag", "a"}).at("items").at(0).at("id").as_int64(), std::stoll(first));
  const auto page = tool({"job", "ls", "--max", "2"});
  EXPECT_TRUE(contains(page.err, "--page " + second));
  EXPECT_EQ(json({"job", "ls", "--page", second}).at("items").as_array().size(), 1U);
  EXPECT_TRUE(contains(tool({"job", "ls", "--queue", "nothing"}).err, "no jobs"));
  EXPECT_EQ(tool({"job", "ls", "--state", "asleep"}).exit_code, 2);
}

TEST_P(JobCommands, WaitShowsTheEndByItsExitCode) {
  const auto id = added("mail");
  EXPECT_EQ(tool({"job", "wait", id, "--wait", "10ms"}).exit_code, 75);
  auto waiter = Process::start({LEASEHOLD_TOOL, "job", "wait", id, "--db", url()});
  const auto held = claimed("mail");
  tool({"job", "complete", id, "--token", held.token});
  const auto done = waiter.finish(20s);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "completed " + id + "\n");
  const auto other = added("mail");
  tool({"job", "cancel", other});
  EXPECT_EQ(tool({"job", "wait", other}).exit_code, 1);
  EXPECT_EQ(tool({"job", "wait", "999999"}).exit_code, 4);
}

TEST_P(JobCommands, CancelRetryAndRemoveHaveExitCodesOfTheirOwn) {
  const auto id = added("mail");
  EXPECT_EQ(tool({"job", "rm", id}).exit_code, 2);
  EXPECT_EQ(tool({"job", "cancel", id}).out, "cancelled " + id + "\n");
  EXPECT_EQ(tool({"job", "retry", id}).exit_code, 0);
  const auto held = claimed("mail");
  EXPECT_EQ(tool({"job", "retry", id}).exit_code, 75);
  EXPECT_EQ(tool({"job", "rm", id, "--dry-run"}).exit_code, 75);
  EXPECT_EQ(tool({"job", "rm", id, "--yes"}).exit_code, 75);
  tool({"job", "complete", id, "--token", held.token});
  EXPECT_EQ(tool({"job", "cancel", id}).exit_code, 3);
  EXPECT_EQ(tool({"job", "retry", id}).exit_code, 2);
  EXPECT_TRUE(contains(tool({"job", "rm", id, "--dry-run"}).out, "would remove " + id));
  EXPECT_EQ(tool({"job", "rm", id, "--yes"}).out, "removed " + id + "\n");
  EXPECT_EQ(tool({"job", "show", id}).exit_code, 4);
  EXPECT_EQ(tool({"job", "cancel", id}).exit_code, 4);
}

TEST_P(JobCommands, ErrorsAreALineEachAndShowHasTheWholeText) {
  const auto id = added("mail");
  const auto text = "\nfirst line\n  second \x1b[31mline\n\nlast line\n";
  for (int attempt = 1; attempt <= 2; ++attempt) {
    const auto held = claimed("mail");
    ASSERT_EQ(tool({"job", "fail", held.id, "--token", held.token, "--error", text, "--delay", "0s"}).exit_code, 0);
  }
  const auto errors = tool({"job", "errors"}).out;
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 3) << errors;
  EXPECT_TRUE(contains(errors, "first line\n"));
  EXPECT_FALSE(contains(errors, "second"));
  const auto shown = tool({"job", "show", id}).out;
  EXPECT_TRUE(contains(shown, "\nerror of attempts 1 to 2:\n"));
  EXPECT_TRUE(contains(shown, "  first line\n    second \\x1b[31mline\n\n  last line\n"));
  EXPECT_FALSE(contains(shown, "\\x0a"));
}

TEST_P(JobCommands, RedriveWantsAYesAndAQueueOrAll) {
  for (const auto* queue : {"a", "b"}) {
    added(queue);
    const auto held = claimed(queue);
    tool({"job", "fail", held.id, "--token", held.token, "--final"});
  }
  EXPECT_EQ(tool({"job", "redrive", "a"}).exit_code, 2);
  EXPECT_EQ(tool({"job", "redrive", "--yes"}).exit_code, 2);
  EXPECT_EQ(tool({"job", "redrive", "--all", "--dry-run"}).out, "would redrive 2 jobs\n");
  EXPECT_EQ(json({"job", "redrive", "a", "--yes"}).at("redriven"), 1);
  EXPECT_EQ(tool({"job", "redrive", "--all", "--yes"}).out, "redrove 1 job\n");
  EXPECT_EQ(json({"job", "ls", "--state", "available"}).at("items").as_array().size(), 2U);
}

TEST_P(JobCommands, BatchShowCountsTheJobsOfABatch) {
  const auto unknown = tool({"job", "batch", "show", "import"});
  EXPECT_EQ(unknown.exit_code, 4);
  EXPECT_TRUE(contains(unknown.err, "import"));
  EXPECT_EQ(json({"job", "batch", "show", "import"}, 4).at("error").at("code"), "not_found");

  added("q", "1", {"--batch", "import"});
  added("q", "2", {"--batch", "import"});
  const auto last = added("end", "3", {"--on-batch-end", "import"});
  const auto held = claimed("q");
  ASSERT_EQ(tool({"job", "fail", held.id, "--token", held.token, "--final"}).exit_code, 0);
  const auto half = tool({"job", "batch", "show", "import"}).out;
  EXPECT_TRUE(contains(half, "BATCH"));
  EXPECT_TRUE(contains(half, "50%"));
  const auto counted = json({"job", "batch", "show", "import"});
  EXPECT_EQ(counted.at("id"), "import");
  EXPECT_EQ(counted.at("total"), 2);
  EXPECT_EQ(counted.at("unfinished"), 1);
  EXPECT_EQ(counted.at("failed"), 1);
  EXPECT_EQ(counted.at("end_job"), std::stoll(last));
  EXPECT_TRUE(counted.at("ended_at").is_null());
  EXPECT_EQ(json({"job", "ls", "--batch", "import"}).at("items").as_array().size(), 2U);

  const auto other = claimed("q");
  ASSERT_EQ(tool({"job", "complete", other.id, "--token", other.token}).exit_code, 0);
  EXPECT_TRUE(contains(tool({"job", "batch", "show", "import"}).out, "100%"));
  EXPECT_TRUE(json({"job", "batch", "show", "import"}).at("ended_at").is_string());
  EXPECT_EQ(state_of(last), "available");
}

TEST_P(JobCommands, AllChangesEveryJobThatMatchesOnceYesIsGiven) {
  added("mail", "a", {"--tag", "news"});
  added("mail", "b", {"--tag", "news"});
  const auto other = added("mail", "c");
  const auto asked = tool({"job", "cancel", "--all", "--tag", "news"});
  EXPECT_EQ(asked.exit_code, 2);
  EXPECT_TRUE(contains(asked.err, "is about 2 jobs: add --yes"));
  EXPECT_EQ(tool({"job", "cancel", "--all", "--tag", "news", "--dry-run"}).out, "would cancel 2 jobs\n");
  EXPECT_EQ(tool({"job", "cancel", "--all", "--tag", "news", "--yes"}).out, "cancelled 2 jobs\n");
  EXPECT_EQ(state_of(other), "available");
  const auto retried = json({"job", "retry", "--all", "--state", "cancelled", "--yes"});
  EXPECT_EQ(retried.at("matched"), 2);
  EXPECT_EQ(retried.at("changed"), 2);
  EXPECT_EQ(tool({"job", "rm", "--all", "--queue", "mail", "--yes"}).out, "removed 3 jobs\n");
  for (const auto& wrong : std::vector<Arguments>{{"job", "cancel"},
                                                  {"job", "cancel", "17", "--all", "--yes"},
                                                  {"job", "cancel", "17", "--queue", "mail"},
                                                  {"job", "retry", "17", "--yes"},
                                                  {"job", "rm", "--all", "--state", "running", "--yes"}}) {
    EXPECT_EQ(tool(wrong).exit_code, 2);
  }
}

TEST_P(JobCommands, SearchPrintsWhatContainsTheTextAndHowFarItLooked) {
  const auto id = added("mail", R"({"to":"Ann"})");
  added("mail", R"({"to":"ben"})");
  const auto found = tool({"job", "search", "ann"});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_TRUE(contains(found.out, id + "  mail"));
  EXPECT_TRUE(contains(found.err, "found 1 job; looked at 2 jobs, all that there are"));
  const auto answer = json({"job", "search", "ANN", "--queue", "mail", "--enqueued-after", "2000-01-01T00:00:00Z"});
  EXPECT_EQ(answer.at("items").as_array().size(), 1U);
  EXPECT_EQ(answer.at("scanned"), 2);
  EXPECT_EQ(answer.at("complete"), true);
  EXPECT_EQ(json({"job", "ls", "--enqueued-before", "2000-01-01T00:00:00Z"}).at("items").as_array().size(), 0U);
}

TEST_P(JobCommands, LeaseLsFiltersByKindStateAndHolder) {
  added("mail");
  claimed("mail", {"--holder", "ann"});
  EXPECT_EQ(tool({"lock", "acquire", "deploy", "--holder", "ben", "--ttl", "1h"}).exit_code, 0);
  EXPECT_EQ(json({"lease", "ls"}).at("items").as_array().size(), 2U);
  const auto jobs = json({"lease", "ls", "--kind", "job", "--held-by", "ann", "--state", "running"});
  ASSERT_EQ(jobs.at("items").as_array().size(), 1U);
  EXPECT_EQ(jobs.at("items").at(0).at("kind"), "job");
  const auto table = tool({"lease", "ls", "--held-by", "ben"});
  EXPECT_TRUE(contains(table.out, "deploy")) << table.err;
  EXPECT_FALSE(contains(table.out, "job"));
  EXPECT_EQ(tool({"lease", "ls", "--kind", "door"}).exit_code, 2);
}

TEST_P(JobCommands, ALapsedJobCannotBeCancelled) {
  const auto added_late = tool({"job", "add", "mail", "x", "--expires-in", "0s"});
  EXPECT_EQ(added_late.exit_code, 0);
  const auto id = added_late.out.substr(0, added_late.out.find('\n'));
  EXPECT_TRUE(contains(added_late.err, "job " + id + " has lapsed")) << added_late.err;
  const auto cancelled = tool({"job", "cancel", id});
  EXPECT_EQ(cancelled.exit_code, 3);
  EXPECT_EQ(cancelled.out, "");
  EXPECT_TRUE(contains(cancelled.err, "job " + id + " has lapsed already: there is nothing to cancel"))
      << cancelled.err;
  EXPECT_EQ(tool({"recover"}).out, "nothing to recover\n");
}

TEST_P(JobCommands, RecoverCountsLapsedJobs) {
  added("mail", "x", {"--expires-in", "1ms"});
  EXPECT_EQ(tool({"recover", "--dry-run"}).out, "1 job would lapse: not started in time\n");
  EXPECT_EQ(json({"recover", "--dry-run"}).at("lapsed"), 1);
  EXPECT_TRUE(contains(tool({"queue", "show", "mail"}).out, "lapsed"));
  EXPECT_TRUE(contains(tool({"queue", "ls"}).out, "LAPSED"));
  EXPECT_EQ(tool({"recover"}).out, "1 job lapsed: not started in time\n");
  EXPECT_EQ(tool({"recover"}).out, "nothing to recover\n");
}

TEST_P(JobCommands, AClaimAndAHeartbeatShowWhatATimeLimitLeaves) {
  const auto id = added("mail", "x", {"--timeout", "20s"});
  const auto claimed_out = tool({"job", "claim", "mail"}).out;
  EXPECT_TRUE(contains(claimed_out, "(20s left)")) << claimed_out;
  const auto token = std::to_string(json({"job", "show", id}).at("token").as_int64());
  const auto extended = tool({"job", "heartbeat", id, "--token", token, "--ttl", "1h"}).out;
  EXPECT_TRUE(contains(extended, "s left)")) << extended;
  added("many", "x", {"--timeout", "20s"});
  added("many", "x");
  const auto both = tool({"job", "claim", "many", "-n", "2"}).out;
  EXPECT_TRUE(contains(both, "(20s, its time limit)")) << both;
  EXPECT_TRUE(contains(both, "(5m)")) << both;
}

}  // namespace
}  // namespace leasehold::support

// The row commands: what they print, where, and with which exit code.
#include <csignal>
#include <filesystem>

#include "cli/row_tool.h"

namespace leasehold::support {
namespace {

using RowCommands = RowToolTest;
LEASEHOLD_ON_BOTH_STORES(RowCommands);

TEST_P(RowCommands, ClaimPrintsKeyTokenAndRow) {
  adopt_jobs("(1), (2), (3)");
  const auto first = tool({"row", "claim", "jobs", "--holder", "ann", "--ttl", "5m"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(first.out.starts_with("claimed 1  token ")) << first.out;
  EXPECT_TRUE(contains(first.out, "  row  {\"id\":"));
  const auto rest = json({"row", "claim", adopted("jobs"), "-n", "5"}).at("items").as_array();
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].at("key").at(0), "2");
  EXPECT_EQ(rest[0].at("row").at("status"), "RUNNING");
  EXPECT_TRUE(rest[0].at("token").is_int64());
  EXPECT_EQ(tool({"row", "claim", "jobs"}).exit_code, 3);
  EXPECT_EQ(json({"row", "claim", "jobs", "--wait", "10ms"}, 3).at("error").at("code"), "empty");
}

TEST_P(RowCommands, ARefusalNamesTheHolderAndNoToken) {
  adopt_jobs("(1)");
  const auto held = claimed({"--holder", "ann"});
  const auto refused = tool({"row", "claim", "jobs", "1", "--holder", "bob"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_TRUE(contains(refused.err, adopted("jobs") + " \"1\" is held by \"ann\", frees in "));
  EXPECT_FALSE(contains(refused.err, held.token));
  const auto error = json({"row", "claim", "jobs", "1"}, 75).at("error");
  EXPECT_EQ(error.at("code"), "held");
  EXPECT_EQ(error.at("held_by").at("holder").at("name"), "ann");
  EXPECT_TRUE(error.at("held_by").at("token").is_null());
  EXPECT_GT(error.at("held_by").at("retry_in_seconds").to_number<double>(), 0);
  EXPECT_EQ(tool({"row", "claim", "jobs", "1", "-E", "9"}).exit_code, 9);
  EXPECT_EQ(tool({"row", "work", "jobs", "--once", "--", "true"}).exit_code, 3);
  say("complete", held);
  EXPECT_EQ(json({"row", "claim", "jobs", "1"}, 3).at("error").at("code"), "terminal");
}

TEST_P(RowCommands, ARowIsKeptAliveAndFinished) {
  adopt_jobs("(1), (2), (3)");
  const auto a = claimed();
  const auto extended = say("heartbeat", a, {"--ttl", "1h"});
  EXPECT_EQ(extended.exit_code, 0) << extended.err;
  EXPECT_TRUE(extended.out.starts_with("extended 1  until ")) << extended.out;
  EXPECT_EQ(json({"row", "heartbeat", "jobs", "1", "--token", a.token}).at("key").at(0), "1");
  EXPECT_EQ(say("complete", a).out, "completed 1\n");
  EXPECT_EQ(say("complete", a).out, "completed 1\n") << "the same again has the same answer";
  EXPECT_EQ(state_of("1"), "completed");
  EXPECT_EQ(say("fail", claimed(), {"--error", "it's down"}).out, "failed 2\n");
  EXPECT_EQ(scalar("SELECT error FROM {s}.jobs WHERE id = 2"), "it's down");
  const auto c = claimed();
  EXPECT_EQ(json({"row", "release", "jobs", "3", "--token", c.token}).at("outcome"), "released");
  EXPECT_EQ(state_of("3"), "available");
}

TEST_P(RowCommands, ALateVerdictIsLostAndShowsWhy) {
  adopt_jobs("(1)");
  const auto late = claimed({"--holder", "ann"});
  ASSERT_EQ(say("release", late).exit_code, 0);
  const auto heir = claimed({"--holder", "bob"});
  for (const auto* verdict : {"heartbeat", "complete", "fail", "release"}) {
    const auto refused = say(verdict, late);
    EXPECT_EQ(refused.exit_code, 76) << verdict << refused.out << refused.err;
    EXPECT_EQ(refused.out, "");
    EXPECT_FALSE(contains(refused.err, heir.token));
  }
  EXPECT_EQ(json({"row", "complete", "jobs", "1", "--token", late.token}, 76).at("error").at("lost_reason"),
            "superseded");
  EXPECT_EQ(say("complete", heir).exit_code, 0);
}

TEST_P(RowCommands, WrongCommandLinesAreUsageErrors) {
  adopt_jobs("(1)");
  for (const Arguments& words : std::vector<Arguments>{{"row", "claim"},
                                                       {"row", "claim", ""},
                                                       {"row", "claim", "jobs", ""},
                                                       {"row", "claim", "jobs", "1", "2"},
                                                       {"row", "claim", "jobs", "1", "-n", "2"},
                                                       {"row", "claim", "jobs", "-n", "0"},
                                                       {"row", "claim", "jobs", "--ttl", "100ms"},
                                                       {"row", "claim", "jobs", "--holder", ""},
                                                       {"row", "heartbeat", "jobs", "1"},
                                                       {"row", "heartbeat", "jobs", "--token", "10"},
                                                       {"row", "complete", "jobs", "1", "--token", "0"},
                                                       {"row", "show", "jobs"},
                                                       {"row", "ls", "jobs", "--state", ""},
                                                       {"row", "ls", "jobs", "--page", "x"},
                                                       {"row", "work", "jobs"},
                                                       {"row", "work", "", "--", "true"},
                                                       {"row", "work", "jobs", "--once", "--drain", "--", "true"}}) {
    std::string line;
    for (const auto& word : words) line += word + " ";
    EXPECT_EQ(tool(words).exit_code, 2) << line;
  }
  EXPECT_EQ(state_of("1"), "available");
}

TEST_P(RowCommands, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(json({"row", "claim", "jobs"}, 4).at("error").at("code"), "not_found");
  EXPECT_EQ(tool({"row", "work", "jobs", "--", "true"}).exit_code, 4);
  adopt_jobs("(1)");
  const auto other = tool({"row", "ls", "other"});
  EXPECT_EQ(other.exit_code, 4);
  EXPECT_TRUE(contains(other.err, "\"other\" is not adopted: adopted are " + adopted("jobs")));
  EXPECT_EQ(tool({"row", "claim", "jobs", "99"}).exit_code, 4);
  EXPECT_EQ(tool({"row", "show", "jobs", "99"}).exit_code, 4);
  EXPECT_EQ(tool({"row", "complete", "jobs", "99", "--token", "10"}).exit_code, 76);
}

TEST_P(RowCommands, LsWithWatchPrintsALineForEveryChange) {
  adopt_jobs("(1), (2)");
  auto watcher = Process::start({LEASEHOLD_TOOL, "row", "ls", "jobs", "--watch", "--db", url()}, {{"TZ", "UTC"}});
  EXPECT_TRUE(contains(watcher.read_line(20s).value_or(""), "1: available"));
  EXPECT_TRUE(contains(watcher.read_line(20s).value_or(""), "2: available"));
  claimed({"--holder", "ann"});
  EXPECT_TRUE(contains(watcher.read_line(20s).value_or(""), "1: running by ann"));
  watcher.signal(SIGINT);
  EXPECT_EQ(watcher.finish(20s).exit_code, 0);
}

TEST_P(RowCommands, LsAndShowPrintStateAndHolder) {
  adopt_jobs("(1), (2), (3)");
  const auto held = claimed({"--holder", "ann"});
  say("complete", claimed());
  const auto listed = tool({"row", "ls", "jobs"});
  EXPECT_TRUE(contains(listed.out, "1    running    ann "));
  EXPECT_TRUE(contains(listed.out, "2    completed  -"));
  EXPECT_TRUE(contains(listed.out, "3    available  -"));
  EXPECT_EQ(json({"row", "ls", "jobs", "--state", "completed"}).at("items").at(0).at("key").at(0), "2");
  EXPECT_TRUE(contains(tool({"row", "ls", "jobs", "--state", "expired"}).err, "no rows in this state"));
  const auto page = json({"row", "ls", "jobs", "-n", "2"});
  EXPECT_EQ(page.at("items").as_array().size(), 2U);
  EXPECT_EQ(json({"row", "ls", "jobs", "--page", std::string(page.at("next").as_string())}).at("items").at(0).at("key"),
            json({"row", "show", "jobs", "3"}).at("key"));
  const auto shown = tool({"row", "show", "jobs", "1"});
  for (const auto* part : {"key         1\n", "state       running\n", "holder      ann\n"}) {
    EXPECT_TRUE(contains(shown.out, part));
  }
  EXPECT_TRUE(contains(shown.out, "token       " + held.token + "\n"));
}

TEST_P(RowCommands, RecoverFreesNoLiveLease) {
  adopt_jobs("(1)");
  const auto held = claimed({"--holder", "ann"});
  EXPECT_TRUE(tool({"row", "recover", "jobs"}).out.starts_with("nothing to recover"));
  EXPECT_TRUE(json({"row", "recover", "jobs", "--dry-run"}).at("items").as_array().empty());
  EXPECT_EQ(say("complete", held).exit_code, 0);
}

TEST_P(RowCommands, AKeyOfTwoPartsKeepsItsParts) {
  adopt_pairs();
  ASSERT_EQ(tool({"row", "claim", "pairs", "m 1", "c", "--holder", "ann"}).exit_code, 0);
  const auto listed = tool({"row", "ls", "pairs"});
  EXPECT_TRUE(contains(listed.out, "\"m 1\" c  running"));
  EXPECT_TRUE(contains(listed.out, "m \"1 c\"  available"));
  EXPECT_EQ(tool({"row", "claim", "pairs", "m"}).exit_code, 2);
  // The environment of `row work` has the parts one per line.
  const auto beats = tool({"row", "work", "pairs", "--once", "--", "sh", "-c",
                           "printf '%s|' \"$LEASEHOLD_ROW\" | tr '\\n' '/'; " LEASEHOLD_TOOL " row heartbeat"});
  EXPECT_EQ(beats.exit_code, 0) << beats.err;
  EXPECT_TRUE(contains(beats.out, "m/1 c|extended m \"1 c\"")) << beats.err;
}

TEST_P(RowCommands, TheExitCodeOfWorkDecidesAboutTheRow) {
  adopt_jobs("(1)");
  const auto later = tool({"row", "work", "jobs", "--once", "--", "sh", "-c", "exit 75"});
  EXPECT_EQ(later.exit_code, 1) << later.err;
  EXPECT_EQ(state_of("1"), "available");
  const auto done = tool({"row", "work", "jobs", "--once", "--", "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(state_of("1"), "completed");
  EXPECT_EQ(tool({"row", "work", "jobs", "--once", "--", "true"}).exit_code, 3);
  run_sql("INSERT INTO {s}.jobs (id) VALUES (2)");
  const auto failed = tool({"row", "work", "jobs", "--once", "--", "sh", "-c", "echo no route >&2; exit 3"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(state_of("2"), "failed");
  EXPECT_EQ(scalar("SELECT error FROM {s}.jobs WHERE id = 2"), "exit code 3: no route");
}

TEST_P(RowCommands, WorkDrainsAndCounts) {
  adopt_jobs("(1), (2), (3), (4)");
  const auto summary = json({"row", "ls", "jobs"}).at("items").as_array().size();
  EXPECT_EQ(summary, 4U);
  const auto drained =
      tool({"row", "work", "jobs", "--drain", "-c", "2", "--json", "--", "sh", "-c", "test $LEASEHOLD_ROW != 3"});
  EXPECT_EQ(drained.exit_code, 0) << drained.err;
  EXPECT_TRUE(contains(drained.out, R"({"claimed":4,"completed":3,"failed":1,"released":0,"lost":0})"));
}

TEST_P(RowCommands, WorkGivesTheRowOnStdinAndInTheEnvironment) {
  adopt_jobs("(1)");
  const auto ran = tool({"row", "work", "jobs", "--once", "--", "sh", "-c",
                         "cat; echo table=$LEASEHOLD_TABLE row=$LEASEHOLD_ROW key=$LEASEHOLD_KEY; "
                         "test -n \"$LEASEHOLD_EXPIRES_AT\" && test $LEASEHOLD_TOKEN = $LEASEHOLD_ROW_TOKEN && "
                         "test $LEASEHOLD_DB = $LEASEHOLD_ROW_DB && echo the same"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "\"RUNNING\""));
  EXPECT_TRUE(contains(ran.out, "table=" + adopted("jobs") + " row=1 key=1\n"));
  EXPECT_TRUE(contains(ran.out, "the same\n"));
}

TEST_P(RowCommands, AVerdictSetsWhatItsCallerGives) {
  run_sql("CREATE TABLE {s}.jobs (id integer PRIMARY KEY, n integer, note text, done integer)");
  run_sql("INSERT INTO {s}.jobs (id) VALUES (1), (2)");
  const auto file = written("values.toml",
                            "[{s}.jobs]\nshape = \"work\"\norder = \"id\"\nclaimable = \"done IS NULL\"\n"
                            "on_complete = \"done = 1, n = :row_count, note = :note\"\n");
  ASSERT_EQ(tool({"adopt", "apply", file}).exit_code, 0);
  const auto held = claimed();
  const auto unknown = say("complete", held, {"--set", "rows=1"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(contains(unknown.err, "its file names row_count, note")) << unknown.err;
  EXPECT_EQ(say("complete", held, {"--set", "row_count"}).exit_code, 2);
  const auto done = say("complete", held, {"--set", "row_count=41", "--set", "note=a=b"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(scalar("SELECT n || note FROM {s}.jobs WHERE id = 1"), "41a=b");
  const auto inside = tool({"row", "work", "jobs", "--once", "--", "sh", "-c",
                            std::string(LEASEHOLD_TOOL) + " row complete --set row_count=7 >&2"});
  EXPECT_EQ(inside.exit_code, 0) << inside.err;
  EXPECT_EQ(scalar("SELECT n FROM {s}.jobs WHERE id = 2"), "7");
}

TEST_P(RowCommands, InsideOfWorkNoTokenIsNeeded) {
  adopt_jobs("(1), (2)");
  const std::string tool_path = LEASEHOLD_TOOL;
  const auto ran = tool({"row", "work", "jobs", "--once", "--", "sh", "-c",
                         tool_path + " row heartbeat && " + tool_path + " row heartbeat jobs 1 && " + tool_path +
                             " row heartbeat jobs 2; echo code $?; " + tool_path + " row complete"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "extended 1  until "));
  EXPECT_TRUE(contains(ran.out, "code 2\n")) << "of another row, the token at hand says nothing";
  EXPECT_TRUE(contains(ran.err, "LEASEHOLD_TOKEN is the token of the enclosing row"));
  EXPECT_TRUE(contains(ran.out, "completed 1\n"));
}

}  // namespace
}  // namespace leasehold::support

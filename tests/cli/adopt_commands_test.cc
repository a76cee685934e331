// The adopt commands: what they print, where, and with which exit code.
#include <filesystem>

#include "cli/row_tool.h"

namespace leasehold::support {
namespace {

using AdoptCommands = RowToolTest;
LEASEHOLD_ON_BOTH_STORES(AdoptCommands);

TEST_P(AdoptCommands, APlanIsSqlOnStdoutAndNotesOnStderrAndChangesNothing) {
  create_jobs("(1)");
  const auto planned = tool({"adopt", "plan", jobs_file()});
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_TRUE(contains(planned.out, "-- prepare: column "));
  EXPECT_TRUE(contains(planned.out, "ADD COLUMN locked_until"));
  EXPECT_FALSE(contains(planned.out, "advice: "));
  EXPECT_FALSE(contains(planned.out, "(done)"));
  const auto plan = json({"adopt", "plan", jobs_file()});
  EXPECT_FALSE(plan.at("steps").as_array().empty());
  EXPECT_EQ(plan.at("steps").at(0).at("table"), boost::json::value(adopted("jobs")));
  EXPECT_EQ(plan.at("steps").at(0).at("done"), false);
  EXPECT_EQ(json({"adopt", "ls"}).at("items").as_array().size(), 0U);
}

TEST_P(AdoptCommands, AMigrationIsTwoFiles) {
  create_jobs("(1)");
  const auto to = folder().file("migrations/1_leases");
  const auto written = tool({"adopt", "plan", jobs_file(), "--migration", to});
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(written.out, "");
  EXPECT_TRUE(contains(written.err, "wrote " + to + "/up.sql and "));
  EXPECT_GT(std::filesystem::file_size(to + "/up.sql"), 1000U);
  EXPECT_GT(std::filesystem::file_size(to + "/down.sql"), 100U);
  EXPECT_EQ(json({"adopt", "plan", jobs_file(), "--migration", to}).at("down"), boost::json::value(to + "/down.sql"));
  EXPECT_EQ(tool({"adopt", "plan", jobs_file(), "--migration", jobs_file()}).exit_code, 2);
}

TEST_P(AdoptCommands, ApplyPrintsItsStepsAndTheSecondTimeDoesNothing) {
  create_jobs("(1)");
  const auto applied = tool({"adopt", "apply", jobs_file()});
  EXPECT_EQ(applied.exit_code, 0) << applied.err;
  EXPECT_TRUE(applied.out.starts_with("applied ")) << applied.out;
  EXPECT_TRUE(contains(applied.err, "column "));
  EXPECT_EQ(tool({"adopt", "apply", jobs_file()}).out, "nothing to do: the database is as the file says\n");
  EXPECT_TRUE(json({"adopt", "apply", jobs_file()}).at("steps").as_array().empty());
  EXPECT_TRUE(contains(tool({"adopt", "plan", jobs_file()}).out, "(done)"));
}

TEST_P(AdoptCommands, LsShowsTheAdoptedTables) {
  create_jobs("(1)");
  const auto none = tool({"adopt", "ls"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_TRUE(contains(none.err, "no table is adopted"));
  ASSERT_EQ(tool({"adopt", "apply", jobs_file()}).exit_code, 0);
  const auto shown = tool({"adopt", "ls"}).out;
  EXPECT_TRUE(contains(shown, adopted("jobs") + "  work   30s ")) << shown;
  const auto table = json({"adopt", "ls"}).at("items").at(0);
  EXPECT_EQ(table.at("table"), boost::json::value(adopted("jobs")));
  EXPECT_EQ(table.at("ttl_seconds"), 30);
  EXPECT_EQ(table.at("counts").at("available"), 1);
}

TEST_P(AdoptCommands, AStoreBesideAnAdoptedTableHasNoDrift) {
  ASSERT_EQ(tool({"migrate", "up"}).exit_code, 0);
  adopt_jobs("(1)");
  claimed();
  const auto verified = tool({"migrate", "verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  EXPECT_FALSE(contains(tool({"doctor"}).out, "leasehold_adopted"));
  EXPECT_EQ(tool({"adopt", "verify"}).out, "everything is as it was applied\n");
}

TEST_P(AdoptCommands, TryShowsThePromisesAndChangesNothing) {
  adopt_jobs("(1)");
  const auto tried = tool({"adopt", "try", "jobs"});
  EXPECT_EQ(tried.exit_code, 0) << tried.out << tried.err;
  EXPECT_TRUE(contains(tried.out, "complete by the first holder    lost (superseded)\n"));
  EXPECT_TRUE(tried.out.ends_with("all as promised; everything was rolled back\n"));
  const auto steps = json({"adopt", "try", adopted("jobs")});
  for (const auto& step : steps.at("items").as_array()) {
    EXPECT_EQ(step.at("as_promised"), true);
  }
  EXPECT_EQ(state_of("1"), "available");
  say("complete", claimed());
  EXPECT_EQ(json({"adopt", "try", "jobs"}, 3).at("error").at("code"), "empty");
}

TEST_P(AdoptCommands, VerifyFailsWhereAnObjectIsMissing) {
  EXPECT_EQ(tool({"adopt", "verify"}).out, "no table is adopted\n");
  adopt_jobs("(1)");
  EXPECT_EQ(tool({"adopt", "verify"}).out, "everything is as it was applied\n");
  EXPECT_TRUE(json({"adopt", "verify"}).at("items").as_array().empty());
  run_sql("DROP VIEW {s}.jobs_leases");
  const auto found = tool({"adopt", "verify"});
  EXPECT_EQ(found.exit_code, 1);
  EXPECT_TRUE(contains(found.out, "jobs_leases"));
  EXPECT_EQ(json({"adopt", "verify"}, 1).at("items").as_array().size(), 1U);
}

TEST_P(AdoptCommands, RevertNeedsConsentAndTakesEverythingBack) {
  adopt_jobs("(1)");
  const auto asked = tool({"adopt", "revert", "jobs"});
  EXPECT_EQ(asked.exit_code, 2);
  EXPECT_TRUE(contains(asked.err, "add --yes to do it, --dry-run to see what it would do"));
  const auto shown = tool({"adopt", "revert", "jobs", "--dry-run"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "-- revert: "));
  EXPECT_FALSE(contains(shown.out, "(done)"));
  EXPECT_EQ(state_of("1"), "available");
  const auto reverted = tool({"adopt", "revert", "jobs", "--yes"});
  EXPECT_EQ(reverted.exit_code, 0) << reverted.err;
  EXPECT_TRUE(reverted.out.starts_with("reverted jobs: "));
  EXPECT_EQ(tool({"adopt", "revert", "jobs", "--yes"}).exit_code, 4);
  ASSERT_EQ(tool({"adopt", "apply", jobs_file()}).exit_code, 0);
  const auto again = json({"adopt", "revert", "jobs", "--yes"});
  for (const auto& step : again.at("steps").as_array()) {
    EXPECT_EQ(step.at("phase"), "revert");
  }
}

TEST_P(AdoptCommands, ABadFileIsAUsageErrorThatNamesTheLine) {
  create_jobs("(1)");
  EXPECT_EQ(tool({"adopt", "plan"}).exit_code, 2);
  EXPECT_EQ(tool({"adopt", "plan", ""}).exit_code, 2);
  const auto missing = tool({"adopt", "apply", folder().file("nothing.toml")});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_TRUE(contains(missing.err, "nothing.toml: No such file"));
  const auto wrong = written("wrong.toml", "[{s}.jobs]\nshape = \"work\"\nclaimble = \"true\"\n");
  const auto refused = tool({"adopt", "apply", wrong});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "wrong.toml:3: "));
  EXPECT_TRUE(contains(refused.err, "did you mean claimable?"));
  EXPECT_EQ(json({"adopt", "plan", wrong}, 2).at("error").at("code"), "invalid_argument");
}

TEST_P(AdoptCommands, WhatIsNotThereIsNotFound) {
  for (const Arguments& words : {Arguments{"adopt", "try", "jobs"}, {"adopt", "revert", "jobs", "--yes"}}) {
    const auto refused = tool(words);
    EXPECT_EQ(refused.exit_code, 4) << words[1];
    EXPECT_TRUE(contains(refused.err, "\"jobs\" is not adopted: no table is; begin with `leasehold adopt plan FILE`"));
  }
  EXPECT_EQ(tool({"adopt", "try", ""}).exit_code, 2);
  const auto no_file = tool({"adopt", "ls", "--db", "sqlite:" + folder().file("nothing.db")});
  EXPECT_EQ(no_file.exit_code, 4);
  EXPECT_TRUE(contains(no_file.err, "there is no database file "));
  EXPECT_FALSE(std::filesystem::exists(folder().file("nothing.db")));
  EXPECT_EQ(tool({"adopt", "ls", "--db", "sqlite::memory:"}).exit_code, 2);
}

TEST_P(AdoptCommands, OtherWordsAreUnderstood) {
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"adopt", "undo", "jobs"}, "did you mean revert?"},
      {{"adopt", "rollback", "jobs"}, "did you mean revert?"},
      {{"adopt", "down", "jobs"}, "did you mean revert?"},
      {{"adopt", "rm", "jobs"}, "did you mean revert?"},
      {{"adopt", "up", "adopt.toml"}, "did you mean apply?"},
      {{"adopt", "list"}, "did you mean ls?"},
      {{"adopt", "check"}, "did you mean verify?"},
      {{"adopt", "test", "jobs"}, "did you mean try?"},
      {{"adopt", "claim", "jobs"}, "did you mean leasehold row claim?"},
      {{"row", "done", "jobs", "1"}, "did you mean complete?"},
      {{"row", "finish", "jobs", "1"}, "did you mean complete?"},
      {{"row", "unlock", "jobs", "1"}, "did you mean release?"},
      {{"row", "list", "jobs"}, "did you mean ls?"},
      {{"row", "run", "jobs"}, "did you mean work?"},
      {{"row", "renew", "jobs", "1"}, "did you mean heartbeat?"},
      {{"row", "adopt", "jobs"}, "did you mean leasehold adopt apply?"},
  };
  for (const auto& [words, hint] : cases) {
    const auto refused = tool(words);
    EXPECT_EQ(refused.exit_code, 2) << words[1];
    EXPECT_TRUE(contains(refused.err, hint)) << words[1];
  }
}

}  // namespace
}  // namespace leasehold::support

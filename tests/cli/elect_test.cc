// `leasehold elect`: usage, exit codes, what the command gets, and the lines of --json.
#include <filesystem>
#include <sstream>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

class Elect : public StoreToolTest {};
LEASEHOLD_ON_BOTH_STORES(Elect);

TEST_P(Elect, RunsTheCommandWithItsTermAndGivesItsCode) {
  const auto done = tool({"elect", "billing", "--holder", "ana", "--", "sh", "-c",
                          "test $LEASEHOLD_TERM = $LEASEHOLD_TOKEN && echo $LEASEHOLD_KEY $LEASEHOLD_TERM; exit 7"});
  EXPECT_EQ(done.exit_code, 7) << done.err;
  const auto lock = json({"lock", "show", "billing"});
  EXPECT_EQ(lock.at("state"), "free");
  EXPECT_EQ(lock.at("end_reason"), "released");
  EXPECT_EQ(lock.at("holder").at("name"), "ana");
  EXPECT_EQ(done.out, "billing " + std::to_string(lock.at("token").as_int64()) + "\n");
  for (const auto* part : {"billing  candidate\n", "billing  elected  term ", "billing  resigned  term "}) {
    EXPECT_TRUE(contains(done.err, part));
  }
}

TEST_P(Elect, WithJsonEveryChangeOfRoleIsALine) {
  const auto done = tool({"elect", "billing", "--json", "--", "true"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.err, "");
  std::vector<std::string> events;
  std::istringstream lines(done.out);
  for (std::string line; std::getline(lines, line);) {
    const auto reported = boost::json::parse(line);
    EXPECT_EQ(reported.at("name"), "billing");
    EXPECT_EQ(reported.as_object().contains("term"), reported.at("event") != "candidate");
    events.emplace_back(reported.at("event").as_string());
  }
  EXPECT_EQ(events, (std::vector<std::string>{"candidate", "elected", "resigned"}));
}

TEST_P(Elect, ACandidacyThatRunsOutIsHeld) {
  acquired("billing", {"--holder", "ana", "--ttl", "10m"});
  const auto refused = tool({"elect", "billing", "--wait", "200ms", "--", "true"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_TRUE(contains(refused.err, "billing is held by ana"));
  EXPECT_EQ(tool({"elect", "billing", "--wait", "0s", "-E", "0", "--", "true"}).exit_code, 0);
}

TEST_P(Elect, ACommandThatCannotStartWinsNoTerm) {
  EXPECT_EQ(tool({"elect", "billing", "--", folder().file("missing")}).exit_code, 127);
  EXPECT_EQ(tool({"elect", "billing", "--", folder().path().string()}).exit_code, 126);
  EXPECT_EQ(json({"lock", "show", "billing"}).at("state"), "free");
}

TEST_P(Elect, TheLockDelayIsKeptWithTheTerm) {
  const auto script = std::string("\"") + LEASEHOLD_TOOL + "\" lock revoke billing --reason test --yes; exec sleep 60";
  const auto done = tool({"elect", "billing", "--once", "--ttl", "1s", "--lock-delay", "1h", "--", "sh", "-c", script});
  EXPECT_EQ(done.exit_code, 76) << done.err;
  EXPECT_EQ(json({"lock", "show", "billing"}).at("delayed"), true);
}

using ElectUsage = ToolTest;

TEST_F(ElectUsage, WithoutACommandItSaysWhatToWrite) {
  for (const auto& words :
       {Arguments{"elect", "billing"}, Arguments{"elect", "billing", "--"}, Arguments{"elect", "billing", "true"}}) {
    const auto refused = tool(words);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(contains(refused.err, "leasehold elect NAME -- COMMAND..."));
  }
  EXPECT_TRUE(contains(tool({"elect", "--", "true"}).err, "NAME"));
  EXPECT_EQ(tool({"elect", "billing", "--ttl", "0s", "--", "true"}).exit_code, 2);
}

TEST_F(ElectUsage, AnUnreachableStoreIsReportedOnceAndTriedAgainUntilTheWaitRunsOut) {
  const auto marker = folder().file("started");
  const auto refused = tool({"elect", "billing", "--db", "postgresql://nobody@127.0.0.1:1/none?connect_timeout=2",
                             "--wait", "2s", "--", "touch", marker});
  EXPECT_EQ(refused.exit_code, 69) << refused.err;
  const auto first = refused.err.find("; trying again");
  EXPECT_NE(first, std::string::npos) << refused.err;
  EXPECT_EQ(refused.err.find("; trying again", first + 1), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(marker));
}

}  // namespace
}  // namespace leasehold::support

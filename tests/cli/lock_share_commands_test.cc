// Semaphores, shared locks, several locks at once and lock delay, as the tool takes and shows them.
#include "cli/tool.h"

namespace leasehold::support {
namespace {

class LockShareCommands : public StoreToolTest {};
LEASEHOLD_ON_BOTH_STORES(LockShareCommands);

TEST_P(LockShareCommands, PermitsAreGrantedUntilTheCapacityIsReached) {
  const auto first = tool({"lock", "acquire", "gpu", "--permits", "2/3", "--holder", "ana"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(first.out.starts_with("granted gpu  2 of 3 permits  token "));
  const auto refused = tool({"lock", "acquire", "gpu", "--permits", "2/3"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_TRUE(contains(refused.err, "gpu is held by ana"));
  EXPECT_EQ(tool({"lock", "acquire", "gpu", "--permits", "1/3", "--holder", "bob"}).exit_code, 0);
  EXPECT_EQ(tool({"lock", "acquire", "gpu", "--permits", "1/3"}).exit_code, 75);
}

TEST_P(LockShareCommands, EveryFormOfPermitsIsUnderstood) {
  for (const auto& form : {Arguments{"--permits", "2/8"}, Arguments{"--permits", "2 of 8"},
                           Arguments{"--permits", "2", "--capacity", "8"}}) {
    Arguments words{"lock", "acquire", "gpu"};
    words.insert(words.end(), form.begin(), form.end());
    const auto grant = json(words);
    EXPECT_EQ(grant.at("permits"), 2);
    EXPECT_EQ(grant.at("capacity"), 8);
  }
}

TEST_P(LockShareCommands, AnotherCapacityIsAMismatchAndSaysWhichOneCounts) {
  acquired("gpu", {"--permits", "1/8"});
  const auto refused = tool({"lock", "acquire", "gpu", "--permits", "1/4", "--wait", "1h"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.err, "with a capacity of 8"));
  EXPECT_EQ(json({"lock", "acquire", "gpu", "--shared"}, 1).at("error").at("code"), "mismatch");
}

TEST_P(LockShareCommands, SharesExcludeOnlyRequestsForTheWholeLock) {
  const auto ana = acquired("report", {"--shared", "--holder", "ana"});
  const auto bob = tool({"lock", "acquire", "report", "--shared", "--holder", "bob"});
  EXPECT_TRUE(bob.out.starts_with("granted report  shared  token "));
  EXPECT_EQ(tool({"lock", "acquire", "report"}).exit_code, 75);
  EXPECT_EQ(tool({"lock", "heartbeat", "report", "--token", ana}).exit_code, 0);
  EXPECT_EQ(tool({"lock", "release", "report", "--token", ana}).exit_code, 0);
  EXPECT_EQ(tool({"lock", "heartbeat", "report", "--token", ana}).exit_code, 76);
}

TEST_P(LockShareCommands, ShowListsAllHoldersOfShares) {
  acquired("gpu", {"--permits", "2/8", "--holder", "ana"});
  const auto token = acquired("gpu", {"--permits", "3/8", "--holder", "bob", "--ttl", "1h"});
  const auto shown = tool({"lock", "show", "gpu"});
  EXPECT_TRUE(contains(shown.out, "permits     5 of 8 permits taken, by 2 holders"));
  EXPECT_TRUE(contains(shown.out, "HOLDER  HOST"));
  for (const auto* part : {"\nana ", "\nbob ", "in 59m", token.c_str()}) EXPECT_TRUE(contains(shown.out, part));
  const auto all = json({"lock", "show", "gpu"});
  EXPECT_EQ(all.at("holders"), 2);
  EXPECT_EQ(all.at("permits"), 5);
  EXPECT_EQ(all.at("capacity"), 8);
  ASSERT_EQ(all.at("leases").as_array().size(), 2U);
  EXPECT_EQ(all.at("leases").at(0).at("holder").at("name"), "ana");
  EXPECT_EQ(all.at("leases").at(0).at("permits"), 2);
}

TEST_P(LockShareCommands, ShowOfASharedLockSaysHowManyShareIt) {
  acquired("report", {"--shared"});
  acquired("report", {"--shared"});
  EXPECT_TRUE(contains(tool({"lock", "show", "report"}).out, "permits     shared by 2 holders"));
}

TEST_P(LockShareCommands, LsHasAColumnForPermitsOnlyWhereThereAreAny) {
  acquired("deploy", {"--holder", "ana"});
  EXPECT_FALSE(contains(tool({"lock", "ls"}).out, "PERMITS"));
  acquired("gpu", {"--permits", "2/8"});
  acquired("gpu", {"--permits", "1/8"});
  const auto table = tool({"lock", "ls"}).out;
  EXPECT_TRUE(table.starts_with("NAME    STATE    HOLDER     PERMITS  HEARTBEAT"));
  EXPECT_TRUE(contains(table, "gpu     running  2 holders      3/8  "));
  EXPECT_TRUE(contains(table, "deploy  running  ana              -  "));
}

TEST_P(LockShareCommands, RevokeEndsAllSharesOrOne) {
  const auto ana = acquired("gpu", {"--permits", "1/8", "--holder", "ana"});
  const auto bob = acquired("gpu", {"--permits", "1/8", "--holder", "bob"});
  acquired("gpu", {"--permits", "1/8", "--holder", "cat"});
  const auto dry = tool({"lock", "revoke", "gpu", "--reason", "test", "--dry-run"});
  for (const auto* who : {"ana", "bob", "cat"}) {
    EXPECT_TRUE(contains(dry.out, std::string("would revoke gpu: held by ") + who));
  }
  const auto one = tool({"lock", "revoke", "gpu", "--token", ana, "--reason", "test", "--yes"});
  EXPECT_EQ(one.out, "revoked gpu  token " + ana + "  of ana\n") << one.err;
  EXPECT_EQ(tool({"lock", "revoke", "gpu", "--token", ana, "--reason", "test", "--yes"}).exit_code, 76);
  EXPECT_EQ(tool({"lock", "revoke", "gpu", "--token", ana, "--reason", "test", "--dry-run"}).exit_code, 3);
  EXPECT_EQ(tool({"lock", "heartbeat", "gpu", "--token", bob}).exit_code, 0);
  const auto all = tool({"lock", "revoke", "gpu", "--reason", "test", "--yes"});
  EXPECT_TRUE(contains(all.out, " of cat, and of 1 other\n"));
  EXPECT_EQ(json({"lock", "show", "gpu"}).at("holders"), 0);
}

TEST_P(LockShareCommands, SeveralLocksAreTakenAllOrNone) {
  acquired("b", {"--holder", "bob"});
  const auto refused = tool({"lock", "acquire", "a", "b", "c"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_TRUE(contains(refused.err, "b is held by bob"));
  EXPECT_EQ(tool({"lock", "show", "a"}).exit_code, 4);
  const auto grant = json({"lock", "acquire", "c", "a", "--holder", "ana"});
  EXPECT_EQ(grant.at("names"), boost::json::parse(R"(["c","a"])"));
  const auto token = std::to_string(grant.at("token").as_int64());
  EXPECT_EQ(tool({"lock", "heartbeat", "a", "--token", token}).exit_code, 0);
  EXPECT_EQ(tool({"lock", "release", "a", "--token", token}).exit_code, 0);
  EXPECT_EQ(json({"lock", "show", "c"}).at("state"), "free");
  EXPECT_TRUE(tool({"lock", "acquire", "c", "a", "d"}).out.starts_with("granted c, a and d  token "));
}

TEST_P(LockShareCommands, LocksHeldTogetherAreShownBeforeAndAfterTheirEnd) {
  const auto token = acquired("a", {"b", "c", "--holder", "ana"});
  EXPECT_TRUE(contains(tool({"lock", "show", "b"}).out, "together    with a and c\n"));
  EXPECT_EQ(json({"lock", "show", "b"}).at("together"), boost::json::parse(R"(["a","c"])"));
  const Arguments revoke{"lock", "revoke", "a", "--reason", "test"};
  const auto with = [&](const char* option) {
    auto words = revoke;
    words.emplace_back(option);
    return words;
  };
  EXPECT_TRUE(contains(tool(with("--dry-run")).out, ", together with b and c\n"));
  EXPECT_EQ(json(with("--dry-run")).at("together"), boost::json::parse(R"(["b","c"])"));
  EXPECT_EQ(tool(with("--yes")).out, "revoked a  token " + token + "  of ana, together with b and c\n");
  EXPECT_EQ(json({"lock", "show", "b"}).at("together").as_array().size(), 0U);
  acquired("a", {"b"});
  EXPECT_EQ(json(with("--yes")).at("together"), boost::json::parse(R"(["b"])"));
}

TEST_P(LockShareCommands, RunHoldsSeveralLocksAndNamesThem) {
  const auto done = tool({"lock", "run", "b", "a", "--", "sh", "-c", "echo $LEASEHOLD_KEY; echo \"$LEASEHOLD_KEYS\""});
  EXPECT_EQ(done.out, "b\nb\na\n") << done.err;
  EXPECT_EQ(json({"lock", "ls", "--held"}).at("items").as_array().size(), 0U);
}

TEST_P(LockShareCommands, AfterARevokeTheDelayKeepsItClosedAndTheRefusalSaysUntilWhen) {
  acquired("deploy", {"--lock-delay", "1h", "--holder", "ana"});
  ASSERT_EQ(tool({"lock", "revoke", "deploy", "--reason", "test", "--yes"}).exit_code, 0);
  const auto refused = tool({"lock", "acquire", "deploy"});
  EXPECT_EQ(refused.exit_code, 75);
  for (const auto* part : {"deploy: not free before ", ", in 59m", "lock delay", "ana"}) {
    EXPECT_TRUE(contains(refused.err, part));
  }
  const auto error = json({"lock", "acquire", "deploy"}, 75).at("error");
  EXPECT_TRUE(error.at("retry_at").is_string());
  EXPECT_TRUE(error.at("retry_in_seconds").is_number());
  const auto shown = tool({"lock", "show", "deploy"});
  EXPECT_TRUE(contains(shown.out, "delayed     not free before "));
  EXPECT_TRUE(contains(tool({"lock", "ls"}).out, ": lock delay"));
  EXPECT_EQ(json({"lock", "show", "deploy"}).at("delayed"), true);
}

TEST_P(LockShareCommands, ARefusalIncludesTheDelayAfterTheEndOfTheLease) {
  acquired("deploy", {"--lock-delay", "1h", "--ttl", "10m"});
  const std::string reported = "then 1h lock delay unless it is released\n";
  EXPECT_TRUE(contains(tool({"lock", "show", "deploy"}).out, reported));
  EXPECT_TRUE(contains(tool({"lock", "acquire", "deploy"}).err, reported));
  EXPECT_TRUE(contains(tool({"lock", "ls"}).out, "s + 1h delay"));
  acquired("gpu", {"--lock-delay", "1h", "--ttl", "10m", "--permits", "1/2"});
  EXPECT_TRUE(contains(tool({"lock", "show", "gpu"}).out, "s + 1h delay"));
}

TEST_P(LockShareCommands, AfterAReleaseThereIsNoDelay) {
  const auto token = acquired("deploy", {"--lock-delay", "1h"});
  ASSERT_EQ(tool({"lock", "release", "deploy", "--token", token}).exit_code, 0);
  EXPECT_EQ(tool({"lock", "acquire", "deploy"}).exit_code, 0);
}

using LockShareUsage = ToolTest;

TEST_F(LockShareUsage, WordsThatDoNotFitTogetherAreRefused) {
  const std::vector<std::pair<Arguments, std::string>> cases{
      {{"gpu", "--permits", "2"}, "the capacity is missing"},
      {{"gpu", "--permits", "two"}, "write --permits 2/8"},
      {{"gpu", "--permits", "2/"}, "write --permits 2/8"},
      {{"gpu", "--permits", "2/8x"}, "write --permits 2/8"},
      {{"gpu", "--permits", "2/8", "--capacity", "9"}, "--permits has another capacity"},
      {{"gpu", "--capacity", "9"}, "--permits is missing"},
      {{"gpu", "--permits", "2/8", "--shared"}, "remove --shared or --permits"},
      {{"gpu", "--permits", "9/8"}, "9 permits are more than the capacity of 8"},
      {{"gpu", "--permits", "0/8"}, "permits are between 1 and 1000000000, not 0"},
      {{"a", "b", "--shared"}, "name one"},
      {{"a", "b", "--permits", "1/2"}, "name one"},
      {{"a", "a"}, "is named twice"},
      {{"a", "[b,c]"}, "cannot be in brackets"},
      {{"a", "--lock-delay", "31d"}, "lock delay"},
  };
  for (const auto& [more, reported] : cases) {
    Arguments words{"lock", "acquire"};
    words.insert(words.end(), more.begin(), more.end());
    const auto refused = tool(words);
    EXPECT_EQ(refused.exit_code, 2) << reported << refused.out;
    EXPECT_TRUE(contains(refused.err, reported));
  }
}

TEST_F(LockShareUsage, OfALoneNameNothingIsReadInto) {
  EXPECT_EQ(json({"lock", "acquire", "[a,b]"}).at("name"), "[a,b]");
  EXPECT_TRUE(contains(tool({"lock", "run", "[c,d]", "--", "printenv", "LEASEHOLD_KEY"}).out, "[c,d]\n"));
}

}  // namespace
}  // namespace leasehold::support

// The rate commands: callers get turns in the order of their calls; what the commands print.
#include "cli/tool.h"

namespace leasehold::support {
namespace {

using RateCommands = StoreToolTest;
LEASEHOLD_ON_BOTH_STORES(RateCommands);

TEST_P(RateCommands, TakeWaitsForItsTurn) {
  const auto first = json({"rate", "take", "api", "--every", "150ms", "--holder", "ana"});
  EXPECT_LT(first.at("waited_seconds").to_number<double>(), 0.1);
  const auto second = json({"rate", "take", "api", "--holder", "ben"});
  EXPECT_EQ(second.at("every_seconds"), 0.15);
  const auto shown = json({"rate", "show", "api"});
  EXPECT_EQ(shown.at("taken"), 2);
  EXPECT_EQ(shown.at("holder").at("name"), "ben");
  EXPECT_EQ(shown.at("taken_at"), second.at("at"));
  const auto reported = tool({"rate", "take", "api"});
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_TRUE(reported.out.starts_with("took api  at ")) << reported.out;
  EXPECT_TRUE(contains(reported.out, "  waited "));
}

TEST_P(RateCommands, ATurnThatIsTooFarAwayIs75AndTakesNothing) {
  ASSERT_EQ(tool({"rate", "take", "api", "--every", "1h"}).exit_code, 0);
  const auto refused = tool({"rate", "take", "api", "--wait", "0"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err, "");
  const auto error = json({"rate", "take", "api", "--wait", "10s"}, 75).at("error");
  EXPECT_EQ(error.at("code"), "rate_limited");
  EXPECT_TRUE(error.at("retry_at").is_string());
  EXPECT_EQ(tool({"rate", "take", "api", "--wait", "0", "-E", "9"}).exit_code, 9);
  EXPECT_EQ(json({"rate", "show", "api"}).at("taken"), 1);
}

TEST_P(RateCommands, ABurstIsTakenAtOnce) {
  ASSERT_EQ(tool({"rate", "set", "mail", "--every", "1h", "--burst", "3"}).exit_code, 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(tool({"rate", "take", "mail", "--wait", "0"}).exit_code, 0);
  EXPECT_EQ(tool({"rate", "take", "mail", "--wait", "0"}).exit_code, 75);
}

TEST_P(RateCommands, ARateThatWasNeverSetIsNotFound) {
  EXPECT_EQ(tool({"rate", "take", "nobody"}).exit_code, 4);
  EXPECT_EQ(tool({"rate", "show", "nobody"}).exit_code, 4);
  EXPECT_EQ(tool({"rate", "rm", "nobody"}).exit_code, 4);
}

TEST_P(RateCommands, SetShowLsAndRmShowIt) {
  EXPECT_TRUE(contains(tool({"rate", "ls"}).err, "no rates"));
  const auto set = tool({"rate", "set", "api", "--every", "750ms"});
  for (const auto* part :
       {"rate        api\n", "every       750ms\n", "burst       1\n", "next        at once\n", "taken       0\n"}) {
    EXPECT_TRUE(contains(set.out, part));
  }
  ASSERT_EQ(tool({"rate", "take", "api", "--every", "1h", "--holder", "ana"}).exit_code, 0);
  const auto shown = tool({"rate", "show", "api"});
  EXPECT_TRUE(contains(shown.out, "every       1h\n"));
  EXPECT_TRUE(contains(shown.out, "by ana (on "));
  EXPECT_TRUE(contains(shown.out, "next "));
  const auto table = tool({"rate", "ls"});
  EXPECT_TRUE(contains(table.out, "NAME  EVERY  BURST  NEXT"));
  EXPECT_TRUE(contains(table.out, "in 59m"));
  EXPECT_EQ(json({"rate", "ls"}).at("items").as_array().size(), 1U);
  EXPECT_EQ(tool({"rate", "rm", "api"}).out, "removed api\n");
  EXPECT_TRUE(json({"rate", "ls"}).at("items").as_array().empty());
}

TEST_P(RateCommands, AMeaninglessRateIsAUsageError) {
  for (const Arguments& arguments : std::vector<Arguments>{{"rate", "take"},
                                                           {"rate", "take", "api", "--every", "often"},
                                                           {"rate", "take", "api", "--every", "0"},
                                                           {"rate", "take", "api", "--burst", "0"},
                                                           {"rate", "set", "api"}}) {
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 2) << finished.out << finished.err;
  }
}

}  // namespace
}  // namespace leasehold::support

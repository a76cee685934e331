// Reading records back, the ledger, and what is left to judge when a store forgets.
#include "history/final_state.h"
#include "history/story.h"

namespace leasehold::history {
namespace {

TEST(Records, AnActWithoutAnEndMayHaveHappened) {
  History history;
  add_lines(history, "hello 3 1000 pid=7\nstart 3 1 2000 lock acquire k\nend 3 1 30");
  ASSERT_EQ(history.acts.size(), 1U);
  EXPECT_EQ(history.acts.front().answer, Answer::may_have);
  EXPECT_EQ(history.acts.front().end, never);
  EXPECT_EQ(history.last_words.at(3), 2000);
}

TEST(Records, ACallThatDidNotHappenIsNoPartOfTheHistory) {
  History history;
  add_lines(history, "start 3 1 2000 lock acquire k\nend 3 1 3000 unavailable\n");
  EXPECT_TRUE(history.acts.empty());
}

TEST(Records, ALineThatIsNoneIsRefused) {
  History history;
  EXPECT_THROW(add_lines(history, "begin 3 1\n"), std::runtime_error);
  EXPECT_THROW(add_lines(history, "end 3 9 2000 ok\n"), std::runtime_error);
}

History two_writes() {
  return Story("lock")
      .did(1, 10, 20, "acquire", "", "ok token=100 at=15 expires=515")
      .did(1, 30, 40, "write", "token=100", "ok n=1")
      .did(1, 50, 60, "write", "token=100", "in_doubt")
      .history();
}

const LedgerRow first{.key = "k", .token = 100, .n = 1, .process = 1, .act = 2};
const LedgerRow second{.key = "k", .token = 100, .n = 2, .process = 1, .act = 3};

TEST(LedgerRows, TheyShowWhetherAWriteInDoubtHappened) {
  auto happened = two_writes();
  settle_doubts(happened, {first, second});
  ASSERT_EQ(happened.acts.size(), 3U);
  EXPECT_EQ(happened.acts.back().answer, Answer::ok);
  EXPECT_EQ(happened.acts.back().reported.n, 2);
  auto did_not = two_writes();
  settle_doubts(did_not, {first});
  EXPECT_EQ(did_not.acts.size(), 2U);
}

TEST(LedgerRows, AMissingOneAStrangeOneAndAFallingTokenAreFound) {
  EXPECT_TRUE(judge_ledger(two_writes(), {first, second}, false).empty());
  const auto missing = judge_ledger(two_writes(), {}, false);
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_NE(missing.front().find("acknowledged write 1 is missing"), std::string::npos);
  EXPECT_TRUE(judge_ledger(two_writes(), {}, true).empty());

  const auto strange = judge_ledger(two_writes(), {first, {.key = "k", .token = 100, .n = 2, .process = 9}}, false);
  ASSERT_EQ(strange.size(), 1U);
  EXPECT_NE(strange.front().find("it was never requested"), std::string::npos);

  auto stale = second;
  stale.token = 99;
  const auto falling = judge_ledger(two_writes(), {first, stale}, false);
  ASSERT_EQ(falling.size(), 1U);
  EXPECT_NE(falling.front().find("less than that of the write before"), std::string::npos);
}

TEST(ForgetfulStore, MayLoseAGrantButNeverRepeatsAToken) {
  // p2 does not know of p1's grant: an asynchronous standby took over.
  const auto forgotten = [](const std::string& token) {
    return Story("lock")
        .did(1, 10, 20, "acquire", "", "ok token=100 at=15 expires=515")
        .did(2, 30, 40, "acquire", "", "ok at=35 expires=535 token=" + token)
        .history();
  };
  EXPECT_EQ(check(forgotten("101")).verdict(), Verdict::violated);
  EXPECT_EQ(check_tokens(forgotten("101")).verdict(), Verdict::linearizable);
  EXPECT_EQ(check_tokens(forgotten("100")).verdict(), Verdict::violated);
  EXPECT_EQ(check_tokens(forgotten("99")).verdict(), Verdict::violated);
}

}  // namespace
}  // namespace leasehold::history

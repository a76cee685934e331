// What a pattern of an API token allows.
#include <gtest/gtest.h>

#include "leasehold/access.h"

namespace leasehold {
namespace {

using Patterns = std::vector<std::string>;

TEST(TokenPatternTest, NoPatternAndTheStarAllowEverything) {
  EXPECT_TRUE(may_touch(Patterns{}, "queue", "mail"));
  EXPECT_TRUE(may_touch(Patterns{}, "", ""));
  EXPECT_TRUE(may_touch(Patterns{"*"}, "lock", ""));
  EXPECT_TRUE(may_touch(Patterns{"*"}, "", ""));
}

TEST(TokenPatternTest, ANameWithoutAStarAllowsThatNameOnly) {
  EXPECT_TRUE(may_touch(Patterns{"lock:deploy"}, "lock", "deploy"));
  EXPECT_FALSE(may_touch(Patterns{"lock:deploy"}, "lock", "deploy2"));
  EXPECT_FALSE(may_touch(Patterns{"lock:deploy"}, "lock", "a-deploy"));
  EXPECT_FALSE(may_touch(Patterns{"lock:deploy"}, "lock", "Deploy"));
  EXPECT_FALSE(may_touch(Patterns{"lock:deploy"}, "queue", "deploy"));
}

TEST(TokenPatternTest, AStarStandsForAnyCharacters) {
  EXPECT_TRUE(may_touch(Patterns{"queue:mail*"}, "queue", "mail"));
  EXPECT_TRUE(may_touch(Patterns{"queue:mail*"}, "queue", "mail-eu:1"));
  EXPECT_FALSE(may_touch(Patterns{"queue:mail*"}, "queue", "e-mail"));
  EXPECT_TRUE(may_touch(Patterns{"queue:*mail"}, "queue", "e-mail"));
  EXPECT_FALSE(may_touch(Patterns{"queue:*mail"}, "queue", "mails"));
  EXPECT_TRUE(may_touch(Patterns{"queue:a*b*c"}, "queue", "a-b-b-c"));
  EXPECT_TRUE(may_touch(Patterns{"queue:a*b*c"}, "queue", "abc"));
  EXPECT_FALSE(may_touch(Patterns{"queue:a*b*c"}, "queue", "acb"));
  EXPECT_TRUE(may_touch(Patterns{"queue:**"}, "queue", "x"));
}

TEST(TokenPatternTest, OtherCharactersStandForThemselves) {
  EXPECT_FALSE(may_touch(Patterns{"queue:mai?"}, "queue", "mail"));
  EXPECT_FALSE(may_touch(Patterns{"queue:mai."}, "queue", "mail"));
  EXPECT_FALSE(may_touch(Patterns{"queue:mai[l]"}, "queue", "mail"));
  EXPECT_TRUE(may_touch(Patterns{"queue:50%_x"}, "queue", "50%_x"));
  EXPECT_TRUE(may_touch(Patterns{"lock:a:b"}, "lock", "a:b"));
}

TEST(TokenPatternTest, AllThingsOfAKindNeedAPatternForAllOfThem) {
  EXPECT_TRUE(may_touch(Patterns{"queue:*"}, "queue", ""));
  EXPECT_FALSE(may_touch(Patterns{"queue:mail*"}, "queue", ""));
  EXPECT_FALSE(may_touch(Patterns{"queue:*"}, "lock", ""));
  EXPECT_FALSE(may_touch(Patterns{"queue:*", "lock:*"}, "", "")) << "the whole store is more than all queues and locks";
}

TEST(TokenPatternTest, OneOfSeveralPatternsIsEnough) {
  const Patterns only{"queue:mail*", "lock:deploy"};
  EXPECT_TRUE(may_touch(only, "queue", "mail"));
  EXPECT_TRUE(may_touch(only, "lock", "deploy"));
  EXPECT_FALSE(may_touch(only, "lock", "mail"));
  EXPECT_FALSE(may_touch(only, "rate", "mail"));
}

TEST(TokenPatternTest, APatternWithManyStarsIsMatchedInReasonableTime) {
  std::string pattern = "queue:";
  for (int i = 0; i < 100; ++i) pattern += "a*";
  EXPECT_FALSE(may_touch(Patterns{pattern + "b"}, "queue", std::string(500, 'a')));
}

}  // namespace
}  // namespace leasehold

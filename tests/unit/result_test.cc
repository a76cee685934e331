// A Result that is used without being checked, and how tokens are written.
#include "leasehold/result.h"

#include <gtest/gtest.h>

#include <sstream>

namespace leasehold {
namespace {

Error held() { return {.code = Errc::held, .message = "deploy is held by ana"}; }

TEST(ResultDeathTest, TheValueOfAFailureStopsWithTheErrorsText) {
  Result<std::string> failed = held();
  const auto& unchanged = failed;
  const auto* const text = "without checking it.*held: deploy is held by ana";
  EXPECT_DEATH(static_cast<void>(failed.value()), text);
  EXPECT_DEATH(static_cast<void>(unchanged.value()), text);
  EXPECT_DEATH(static_cast<void>(std::move(failed).value()), text);
  EXPECT_DEATH(static_cast<void>(*failed), text);
  EXPECT_DEATH(static_cast<void>(failed->size()), text);
  EXPECT_DEATH(static_cast<void>(unchanged->size()), text);
  EXPECT_DEATH(Result<void>(held()).value(), text);
}

TEST(ResultDeathTest, TheErrorOfASuccessStops) {
  Result<int> number = 7;
  const Result<void> nothing;
  EXPECT_DEATH(static_cast<void>(number.error()), "it holds a value");
  EXPECT_DEATH(static_cast<void>(std::move(number).error()), "it holds a value");
  EXPECT_DEATH(static_cast<void>(nothing.error()), "it holds a value");
}

TEST(Result, GivesWhatItHolds) {
  Result<std::string> name = std::string("deploy");
  EXPECT_EQ(*name, "deploy");
  EXPECT_EQ(name->size(), 6U);
  EXPECT_EQ(std::move(name).value(), "deploy");
  EXPECT_EQ(Result<int>(held()).error().code, Errc::held);
  Result<void>().value();
}

TEST(Token, IsWrittenAsItsNumber) {
  std::ostringstream out;
  out << Token{1763200000000000};
  EXPECT_EQ(out.str(), "1763200000000000");
}

}  // namespace
}  // namespace leasehold

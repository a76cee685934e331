#include "lease/call.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/fault_backend.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

/// Gives these answers in turn; `success` stands for an answer that is no error.
constexpr auto success = Errc::internal;

Result<int> ask(std::vector<Errc> answers) {
  std::size_t asked = 0;
  // Nothing is asked of it.
  FaultBackend nowhere(nullptr);
  return lease::StoreCall(nowhere, BootClock::now() + 10s).repeat(lease::IfLost::ask_again, [&]() -> Result<int> {
    const auto code = answers.at(asked++);
    if (code == success) return 7;
    return Error{.code = code, .message = "no"};
  });
}

Errc code_of(const Result<int>& answer) { return answer ? success : answer.error().code; }

TEST(RetryTest, AnAnswerThatGotLostIsAskedForAgain) {
  EXPECT_EQ(code_of(ask({Errc::in_doubt, success})), success);
  EXPECT_EQ(code_of(ask({Errc::in_doubt, Errc::in_doubt, Errc::lost})), Errc::lost);
}

TEST(RetryTest, AnActThatCertainlyDidNotHappenIsReportedSo) {
  EXPECT_EQ(code_of(ask({Errc::unavailable})), Errc::unavailable);
  EXPECT_EQ(code_of(ask({Errc::busy, Errc::unavailable})), Errc::unavailable);
}

TEST(RetryTest, Promise10_AStoreThatIsGoneAfterALostAnswerLeavesItInDoubt) {
  EXPECT_EQ(code_of(ask({Errc::in_doubt, Errc::unavailable})), Errc::in_doubt);
  EXPECT_EQ(code_of(ask({Errc::in_doubt, Errc::busy, Errc::unavailable})), Errc::in_doubt);
}

}  // namespace
}  // namespace leasehold::support

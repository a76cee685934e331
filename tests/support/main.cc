// Runs the tests, or the role this executable was started for (see process.h).
//
// With LEASEHOLD_TEST_SECONDS a case that takes longer ends the program and is named: the cases of a shard share one
// process, so ctest cannot tell which of them hangs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "support/process.h"

namespace {

std::string answered_when_late;

extern "C" void end_late_case(int) {
  static_cast<void>(::write(STDOUT_FILENO, answered_when_late.data(), answered_when_late.size()));
  ::_exit(1);
}

class CaseLimit : public ::testing::EmptyTestEventListener {
 public:
  explicit CaseLimit(unsigned seconds) : seconds_(seconds) { std::signal(SIGALRM, end_late_case); }

 private:
  void OnTestStart(const ::testing::TestInfo& test) override {
    answered_when_late = std::string("\nstill running after ") + std::to_string(seconds_) +
                         " s: " + test.test_suite_name() + "." + test.name() + "\n";
    ::alarm(seconds_);
  }
  void OnTestEnd(const ::testing::TestInfo&) override { ::alarm(0); }

  const unsigned seconds_;
};

}  // namespace

int main(int argc, char** argv) {
  // A child that dies early must fail its test, not end all of them.
  std::signal(SIGPIPE, SIG_IGN);
  if (const auto code = leasehold::support::run_role()) return *code;
  ::testing::InitGoogleTest(&argc, argv);
  if (const auto* seconds = std::getenv("LEASEHOLD_TEST_SECONDS")) {
    ::testing::UnitTest::GetInstance()->listeners().Append(new CaseLimit(static_cast<unsigned>(std::atoi(seconds))));
  }
  return RUN_ALL_TESTS();
}

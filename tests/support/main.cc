// Runs the tests, or the role this executable was started for (see process.h).
#include <gtest/gtest.h>

#include <csignal>

#include "support/process.h"

int main(int argc, char** argv) {
  // A child that dies early must fail its test, not end all of them.
  std::signal(SIGPIPE, SIG_IGN);
  if (const auto code = leasehold::support::run_role()) return *code;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

// Is the process that wrote its pid somewhere still there? Only a certain "gone" may take work away from it.
#include "base/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leasehold/lease.h"
#include "support/process.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

LEASEHOLD_ROLE(tells_its_start) {
  printf("%lld\n", static_cast<long long>(Holder::self().process_start));
  fflush(stdout);
  return getchar() == EOF ? 0 : 1;
}

class ProcessTest : public ::testing::Test {
 protected:
  Process child_ = Process::self("tells_its_start");
  std::int64_t start_ = std::stoll(child_.read_line(10s).value_or("0"));
};

TEST_F(ProcessTest, ALivingOneIsAlive) {
  EXPECT_EQ(look_for_process(child_.pid(), start_), Liveness::alive);
  EXPECT_EQ(look_for_process(getpid(), Holder::self().process_start), Liveness::alive);
}

TEST_F(ProcessTest, OneThatEndedIsGone) {
  const auto pid = child_.pid();
  child_.close_input();
  ASSERT_EQ(child_.finish(10s).exit_code, 0);
  EXPECT_EQ(look_for_process(pid, start_), Liveness::gone);
}

TEST_F(ProcessTest, AZombieIsGone) {
  child_.close_input();
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child_.pid()), &ended, WEXITED | WNOWAIT), 0) << "dead, but not buried";
  EXPECT_EQ(look_for_process(child_.pid(), start_), Liveness::gone);
}

TEST_F(ProcessTest, AStoppedOneIsAlive) {
  child_.signal(SIGSTOP);
  EXPECT_EQ(look_for_process(child_.pid(), start_), Liveness::alive);
  child_.signal(SIGCONT);
}

TEST_F(ProcessTest, ALaterProcessWithTheSamePidIsAnotherOne) {
  EXPECT_EQ(look_for_process(child_.pid(), start_ - 1), Liveness::gone);
}

TEST_F(ProcessTest, AProcessWithoutAValidPidAndStartTimeIsNotJudged) {
  EXPECT_EQ(look_for_process(0, start_), Liveness::cannot_tell);
  EXPECT_EQ(look_for_process(-1, start_), Liveness::cannot_tell);
  EXPECT_EQ(look_for_process(child_.pid(), 0), Liveness::cannot_tell);
  EXPECT_EQ(look_for_process(std::int64_t{1} << 40, start_), Liveness::cannot_tell);
}

TEST_F(ProcessTest, AHolderSaysWherePidsMeanTheSame) {
  EXPECT_EQ(Holder::self().boot_id, boot_id_of(process_space()));
  EXPECT_NE(process_space().find('/'), std::string::npos) << "a pid means nothing in another container";
}

TEST_F(ProcessTest, AHoldersMachineDigestDoesNotRevealTheBootId) {
  const auto shown = Holder::self().boot_id;
  EXPECT_EQ(shown.size(), 32U);
  EXPECT_EQ(shown.find(process_space().substr(0, 8)), std::string::npos);
  EXPECT_EQ(boot_id_of(""), "");
  EXPECT_EQ(boot_id_of("abc"), "ba7816bf8f01cfea414140de5dae2223") << "as boot_id_of says in SQL";
}

}  // namespace
}  // namespace leasehold::support

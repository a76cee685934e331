// What a wrapper learns when a command's guardian is killed or could not be started.
#include "run/guarded_command.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>

namespace leasehold::run {
namespace {

/// Until it has ended, at most ten seconds.
std::optional<Ending> await_end(GuardedCommand& command) {
  for (int i = 0; i < 100; ++i) {
    if (auto ending = command.take_messages()) return ending;
    pollfd said{.fd = command.fd(), .events = POLLIN, .revents = 0};
    ::poll(&said, 1, 100);
  }
  return std::nullopt;
}

/// The only child of the warden, once it is there.
pid_t guardian_of(const Warden& warden) {
  for (int i = 0; i < 1000; ++i) {
    const auto children = descendants(warden.process().pid);
    if (!children.empty()) return children.front().pid;
    ::poll(nullptr, 0, 10);
  }
  return 0;
}

// Else a command that has its guardian killed each time would be given back, and tried again, for ever.
TEST(GuardedCommandTest, AGuardianThatIsKilledBeforeItsCommandHasStartedIsNoShortage) {
  const auto warden = Warden::fork({"true"});
  ASSERT_TRUE(warden) << warden.error().message;
  auto channel = (*warden)->new_guardian({});
  ASSERT_TRUE(channel) << channel.error().message;
  GuardedCommand command(**warden, std::move(*channel));
  const auto guardian = guardian_of(**warden);
  ASSERT_GT(guardian, 0);
  ASSERT_EQ(::kill(guardian, SIGSTOP), 0) << "it reads nothing more";
  command.extend(BootClock::now());
  ASSERT_EQ(::kill(guardian, SIGKILL), 0);
  const auto ending = await_end(command);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->kind, Ending::Kind::guardian_died);
  EXPECT_FALSE(ending->out_of_resources());
}

}  // namespace
}  // namespace leasehold::run

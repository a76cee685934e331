// A keeper that ends while news is on its way. AddressSanitizer sees what goes wrong there.
#include "runtime/worker/lease_keeper.h"

#include <gtest/gtest.h>

namespace leasehold::worker {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<LiveLease> lease() {
  const auto until = BootClock::now() + 1h;
  return LiveLease::start(
      1h, until, [until] { return Result<Beat>(Beat{.trusted_until = until}); }, [](const LiveLease&) {});
}

// The end of a watch waits for a running callback. So here the end itself calls back, for all of them: none may look
// at another that is gone already.
TEST(LeaseKeeperTest, NewsThatComesWhileItEndsFindsNoLeaseThatIsGone) {
  std::vector<LiveLease::OnNews> reported;
  int ends = 0;
  const LeaseKeeper::Watch watch = [&](LiveLease::OnNews on_news) {
    reported.push_back(std::move(on_news));
    return std::shared_ptr<void>(nullptr, [&](void*) {
      ++ends;
      for (const auto& tell : reported) tell({.ended = true});
    });
  };
  {
    LeaseKeeper keeper({.on_beat = [](const Result<Beat>&) {}});
    for (int i = 0; i < 3; ++i) keeper.keep(lease(), watch);
  }
  EXPECT_EQ(ends, 3);
}

}  // namespace
}  // namespace leasehold::worker

// A session that keeps itself alive while its agent is busy. Heartbeats run in real time here, while the store's clock
// stands still unless the test moves it. Promise 9.
#include <gtest/gtest.h>

#include <atomic>

#include "support/process.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class SessionHoldTest : public SessionStoreTest {
 protected:
  static SessionOptions short_lived(const std::string& who) {
    auto options = session_of(who);
    options.ttl = 900ms;
    return options;
  }
};
LEASEHOLD_ON_BOTH_STORES(SessionHoldTest);

// As 40 minutes are to a threshold of 300 seconds: eight times as long. (session_busy_test.cc has the 40 minutes.)
TEST_P(SessionHoldTest, AnAgentBusyForEightThresholdsKeepsItsClaim) {
  backlog({"SD-1"});
  join("bob");
  auto held = must(sessions().hold(short_lived("ann"), by("ann")));
  const auto mine = take("ann", "SD-1");
  std::atomic<int> beats{0};
  held.on_extended([&](const Grant&) { ++beats; });
  const auto began = now();
  while (now() - began < 8 * 900ms) {
    const int seen = beats;
    ASSERT_TRUE(eventually([&] { return beats > seen; }));
    advance(800ms);
  }
  EXPECT_TRUE(fails(try_take("bob", "SD-1"), Errc::held));
  EXPECT_EQ(status("ann"), SessionState::idle) << "alive, and nothing was said about work";
  EXPECT_FALSE(held.stop_token().stop_requested());
  EXPECT_TRUE(ok(items().done("SD-1", mine.token)));
  EXPECT_TRUE(ok(held.release()));
  EXPECT_EQ(status("ann"), SessionState::released);
}

TEST_P(SessionHoldTest, ItsEndReleasesWhatItHas) {
  backlog({"SD-1"});
  {
    const auto held = must(sessions().hold(session_of("ann"), by("ann")));
    take("ann", "SD-1");
    EXPECT_EQ(held.grant().key, "ann");
  }
  EXPECT_EQ(status("ann"), SessionState::released);
  EXPECT_EQ(state("SD-1"), ItemState::open);
  auto held = must(sessions().hold(session_of("ann"), by("ann")));
  must(sessions().close("ann", held.token(), "reported the reason before"));
  EXPECT_TRUE(ok(held.release())) << "closing twice is closing once";
  EXPECT_EQ(session("ann").end_detail, "reported the reason before");
}

TEST_P(SessionHoldTest, Promise09_ItIsStoppedWhenAnOperatorRevokesIt) {
  auto held = must(sessions().hold(short_lived("ann"), by("ann")));
  must(sessions().revoke("ann", "make way"));
  ASSERT_TRUE(eventually([&] { return held.stop_token().stop_requested(); }));
  ASSERT_TRUE(eventually([&] { return held.lost().has_value(); }));
  EXPECT_EQ(held.lost()->lost_reason, LostReason::revoked);
}

TEST_P(SessionHoldTest, HoldIsRefusedLikeOpen) {
  join("ann");
  EXPECT_TRUE(fails(sessions().hold(session_of("ann"), by("ann")), Errc::held));
  auto options = session_of("bob");
  options.ttl = 1ms;
  EXPECT_TRUE(fails(sessions().hold(options, by("bob")), Errc::invalid_argument));
}

}  // namespace
}  // namespace leasehold::support

// An agent that is busy for longer than the threshold: its heartbeats say that it is alive, but not that it works.
#include <gtest/gtest.h>

#include <atomic>

#include "support/process.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class SessionBusyTest : public SessionStoreTest {
 protected:
  /// The heartbeats of `session run`, at another pace: the heartbeats come a few milliseconds apart,
  /// while the test moves the store's clock by a third of the threshold for each.
  HeldLease hurried(const Grant& session) {
    const auto at_that_pace = [](Grant grant) {
      grant.ttl = 60ms;
      grant.trusted_until = BootClock::now() + 1h;
      return grant;
    };
    return {at_that_pace(session),
            [this, at_that_pace](const Grant& held) -> Result<Grant> {
              auto extended = sessions().heartbeat(held.key, held.token);
              if (!extended) return extended;
              return at_that_pace(*extended);
            },
            [](const Grant&) { return Result<void>(); }};
  }
};
LEASEHOLD_ON_BOTH_STORES(SessionBusyTest);

TEST_P(SessionBusyTest, AnAgentThatIsBusyForFortyMinutesKeepsItsItem) {
  backlog({"SD-1"});
  const auto ann = must(sessions().open({.id = "ann", .ttl = 5min}));
  take("ann", "SD-1");
  join("ben");
  {
    auto held = hurried(ann);
    std::atomic<int> beats{0};
    held.on_extended([&](const Grant&) { ++beats; });
    for (int third = 0; third < 24; ++third) {
      advance(100s);
      const int seen = beats;
      ASSERT_TRUE(eventually([&] { return beats > seen + 1; }));
    }
    EXPECT_FALSE(held.stop_token().stop_requested());
    const auto info = session("ann");
    EXPECT_EQ(info.state, SessionState::idle) << "alive, but without a sign of work";
    EXPECT_EQ(info.progress_age(), 40min);
    EXPECT_EQ(info.heartbeat_age(), 0s);
    must(sessions().open({.id = "cat"}));
    const auto refused = try_take("cat", "SD-1");
    ASSERT_TRUE(fails(refused, Errc::held));
    EXPECT_EQ(refused.error().held_by->store_now - *refused.error().held_by->taken_at, 40min);
  }
  advance(301s);
  must(sessions().open({.id = "dan"}));
  EXPECT_EQ(take("dan", "SD-1").previous_session, "ann") << "it fell silent";
}

}  // namespace
}  // namespace leasehold::support

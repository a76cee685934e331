// A machine that was restarted: no process that opened a session in that file can be alive, so what they had is free.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ClaimRebootTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = test_store_.open();
    for (const auto* key : {"SD-1", "SD-2"}) must(store.items().add(key));
    before_ = must(store.sessions().open(session_of("ann"), by("ann")));
    first_ = must(store.claims().take("SD-1", "ann"));
    must(store.claims().take("SD-2", "ann"));
    test_store_.clock().reboot("boot-2");
  }

  TestStore test_store_{StoreKind::sqlite};
  Grant before_;
  Claim first_;
};

TEST_F(ClaimRebootTest, ItemsOfSessionsFromBeforeTheRebootAreTakenAtOnce) {
  auto store = test_store_.open();
  const auto stale = must(store.items().show("SD-1"));
  EXPECT_EQ(stale.state, ItemState::stale);
  EXPECT_EQ(stale.session, "");
  EXPECT_EQ(must(store.sessions().show("ann")).state, SessionState::stale);
  EXPECT_TRUE(lost(store.sessions().heartbeat("ann", before_.token), LostReason::expired));
  must(store.sessions().open(session_of("bob"), by("bob")));
  const auto next = must(store.claims().take("SD-1", "bob"));
  EXPECT_GT(next.token, first_.token);
  EXPECT_EQ(next.previous_session, "ann");
  EXPECT_EQ(must(store.items().show("SD-2")).state, ItemState::open) << "all it had is free";
  EXPECT_TRUE(lost(store.claims().release("SD-1", "ann", first_.token), LostReason::superseded));
}

TEST_F(ClaimRebootTest, TheSameIdMayGoOnWithWhatItHad) {
  auto store = test_store_.open();
  EXPECT_GT(must(store.sessions().open(session_of("ann"), by("ann"))).token, before_.token);
  const auto again = must(store.claims().take("SD-1", "ann"));
  EXPECT_FALSE(again.replayed);
  EXPECT_GT(again.token, first_.token);
}

TEST_F(ClaimRebootTest, RecoverFreesIt) {
  auto store = test_store_.open();
  EXPECT_EQ(must(store.recover()).claims, 2);
  EXPECT_EQ(must(store.items().show("SD-1")).state, ItemState::open);
  EXPECT_EQ(must(store.recover()).claims, 0);
}

TEST_F(ClaimRebootTest, DoneAndRemoveAreNotHeldUp) {
  auto store = test_store_.open();
  EXPECT_TRUE(ok(store.items().done("SD-1")));
  EXPECT_TRUE(ok(store.items().remove("SD-2")));
  EXPECT_TRUE(must(store.claims().list()).empty());
}

}  // namespace
}  // namespace leasehold::support

// Two hosts share a store: a host does not guess whether the other's processes live.
#include <gtest/gtest.h>

#include "support/dead_holder.h"
#include "support/session_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class SessionHosts : public ::testing::TestWithParam<StoreKind> {
 protected:
  SessionHosts() : test_store_(GetParam(), {.real_time = true}), store_(test_store_.open()) {
    must(store_.sessions().open({.id = "ben"}));
  }

  /// A session that has SD-1, of a process that is gone by now.
  void open_ann(const std::string& boot_id, Duration ttl) const {
    Mortal ann("ann");
    auto holder = ann.holder();
    if (!boot_id.empty()) holder.boot_id = boot_id;
    must(store_.sessions().open({.id = "ann", .ttl = ttl}, {.holder = holder}));
    must(store_.claims().take("SD-1", "ann", {.create = true}));
    ann.die();
  }

  TestStore test_store_;
  Store store_;
};
LEASEHOLD_ON_BOTH_STORES(SessionHosts);

TEST_P(SessionHosts, OnThisHostADeadProcessFreesItsItemAtOnce) {
  open_ann("", 5min);
  EXPECT_EQ(must(store_.sessions().show("ann")).state, SessionState::stale);
  const auto claim = store_.claims().take("SD-1", "ben");
  ASSERT_TRUE(ok(claim));
  EXPECT_EQ(claim->previous_session, "ann");
}

TEST_P(SessionHosts, OnAnotherHostItIsTakenAfterTheThresholdAndNotBefore) {
  open_ann("another-boot/1/1", 4s);
  EXPECT_EQ(must(store_.sessions().show("ann")).state, SessionState::active) << "cannot tell is not dead";
  EXPECT_TRUE(fails(store_.claims().take("SD-1", "ben"), Errc::held));
  EXPECT_EQ(must(store_.recover()).claims, 0);
  const auto stale_at = must(store_.sessions().show("ann")).expires_at;
  const auto claim = store_.claims().take("SD-1", "ben", {.wait = 20s});
  ASSERT_TRUE(ok(claim));
  EXPECT_GE(claim->taken_at, stale_at);
  EXPECT_EQ(claim->previous_session, "ann");
}

}  // namespace
}  // namespace leasehold::support

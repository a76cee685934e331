// Promise 11: a refusal says what a person asks next.
#include <gtest/gtest.h>

#include "storage/query.h"
#include "storage/statements.h"
#include "support/lock_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class RefusalTest : public StoreTest {
 protected:
  /// Stands in line as a program would that died right after.
  void stand_in_line(const std::string& name, const std::string& request_id, Duration patience) {
    const auto backend = under_test().open_backend();
    const auto answer = storage::query_one(
        *backend, sql::LockWait{.name = name, .holder = "waiter", .request_id = request_id, .patience = patience},
        BootClock::now() + 5s);
    ASSERT_TRUE(ok(answer));
    backend->close();
  }
};
LEASEHOLD_ON_BOTH_STORES(RefusalTest);

TEST_P(RefusalTest, Promise11_HeldSaysWhoWhereSinceWhenAndUntilWhen) {
  const auto grant = take(locks(), "deploy", {.ttl = 60s}, by("alice"));
  advance(10s);
  ASSERT_TRUE(ok(locks().heartbeat("deploy", grant.token)));
  advance(20s);
  const auto refused = locks().acquire("deploy", {}, by("bob"));
  ASSERT_TRUE(fails(refused, Errc::held));
  ASSERT_TRUE(refused.error().held_by.has_value());
  const auto& current = *refused.error().held_by;
  EXPECT_EQ(current.state, LeaseState::running);
  EXPECT_EQ(current.key, "deploy");
  EXPECT_EQ(current.holder.name, "alice");
  EXPECT_EQ(current.holder.host, "host-of-alice");
  EXPECT_EQ(current.holder.pid, 4711);
  EXPECT_EQ(current.holder.tty, "pts/7");
  EXPECT_EQ(current.acquired_at, test_start);
  EXPECT_EQ(current.heartbeat_age(), Duration(20s));
  EXPECT_EQ(current.expires_at, test_start + 70s);
  EXPECT_EQ(current.retry_in(), Duration(40s));
  EXPECT_NE(refused.error().message.find("alice"), std::string::npos) << refused.error().message;
}

TEST_P(RefusalTest, Promise11_ARefusalChangesNothing) {
  take(locks(), "deploy", {.ttl = 60s}, by("alice"));
  const auto before = dump();
  EXPECT_TRUE(fails(locks().acquire("deploy", {}, by("bob")), Errc::held));
  EXPECT_EQ(dump(), before);
}

TEST_P(RefusalTest, Promise11_BusyWhenOthersStandInLine) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  stand_in_line("deploy", "first-in-line", 5s);
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  const auto refused = locks().acquire("deploy", {}, by("bob"));
  ASSERT_TRUE(fails(refused, Errc::busy)) << "no caller may jump the line";
  EXPECT_EQ(status_of(store()).waiters, 1);
  EXPECT_EQ(locks().show("deploy")->waiters, 1);
}

TEST_P(RefusalTest, TheFirstInLineIsGrantedByItsRequestId) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  stand_in_line("deploy", "first-in-line", 5s);
  stand_in_line("deploy", "second-in-line", 5s);
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  AcquireOptions second{};
  second.request_id = "second-in-line";
  EXPECT_TRUE(fails(locks().acquire("deploy", second, by("bob")), Errc::busy));
  AcquireOptions first{};
  first.request_id = "first-in-line";
  EXPECT_TRUE(ok(locks().acquire("deploy", first, by("carol"))));
  EXPECT_EQ(status_of(store()).waiters, 1) << "its new holder has left the line";
}

TEST_P(RefusalTest, AWaiterWhoDiedDoesNotBlockTheRest) {
  const auto grant = take(locks(), "deploy", {.ttl = 1h}, by("alice"));
  stand_in_line("deploy", "dies-in-line", 5s);
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  EXPECT_TRUE(fails(locks().acquire("deploy", {}, by("bob")), Errc::busy));
  advance(5s);
  EXPECT_TRUE(ok(locks().acquire("deploy", {}, by("bob"))));
}

TEST_P(RefusalTest, AHeldLockIsNotTakenByTheFirstInLine) {
  take(locks(), "deploy", {}, by("alice"));
  stand_in_line("deploy", "first-in-line", 5s);
  AcquireOptions first{};
  first.request_id = "first-in-line";
  EXPECT_TRUE(fails(locks().acquire("deploy", first, by("carol")), Errc::held));
}

TEST_P(RefusalTest, RevokingAFreeLockIsRefusedAndChangesNothing) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  const auto before = dump();
  EXPECT_FALSE(locks().revoke("deploy", "why not").ok());
  EXPECT_EQ(dump(), before);
}

TEST_P(RefusalTest, RevokeGivesTheLeaseItEndedAndKeepsTheReason) {
  const auto grant = take(locks(), "deploy", {.ttl = 1h}, by("alice"));
  advance(1min);
  const auto ended = locks().revoke("deploy", "the host is on fire");
  ASSERT_TRUE(ok(ended));
  EXPECT_EQ(ended->holder.name, "alice");
  EXPECT_EQ(ended->token, grant.token);
  EXPECT_EQ(ended->end_reason, "revoked");
  EXPECT_EQ(ended->end_detail, "the host is on fire");
  EXPECT_EQ(ended->ended_at, now());
  EXPECT_EQ(locks().show("deploy")->end_detail, "the host is on fire");
  EXPECT_TRUE(ok(locks().acquire("deploy", {}, by("bob"))));
}

}  // namespace
}  // namespace leasehold::support

// Real processes that die, freeze and wake up again. Short leases in real time: a test cannot move the clock of
// a process that was killed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <thread>

#include "support/lock_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

std::string word(const Error& error) {
  return error.lost_reason ? std::string("lost ") + to_string(*error.lost_reason) : to_string(error.code);
}

/// Holds the lock with heartbeats until it must stop, then tries what a late holder would.
LEASEHOLD_ROLE(holder) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  auto held = store->locks().hold("deploy", {.ttl = 500ms}, by("child"));
  if (!held) return 1;
  const auto token = held->token();
  std::cout << token.value << std::endl;
  eventually([&] { return held->stop_token().stop_requested(); }, 60s);
  const auto beat = store->locks().heartbeat("deploy", token);
  const auto release = store->locks().release("deploy", token);
  std::cout << (beat ? "extended" : word(beat.error())) << std::endl;
  std::cout << (release ? "released" : word(release.error())) << std::endl;
  return 0;
}

class StoreCrashTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  Process start_holder() {
    auto child = Process::self("holder", {{"STORE_URL", store_.url()}});
    const auto line = child.read_line(10s);
    if (!line) throw std::runtime_error("the holder did not start");
    token_.value = std::stoll(*line);
    return child;
  }
  static AcquireOptions patient() { return {.ttl = 30s, .wait = 20s}; }

  TestStore store_{GetParam(), {.real_time = true}};
  Store opened_ = store_.open();
  Token token_;
};
LEASEHOLD_ON_BOTH_STORES(StoreCrashTest);

TEST_P(StoreCrashTest, AKilledHolderIsTakenOverAfterItsLeaseRanOut) {
  const auto locks = opened_.locks();
  auto child = start_holder();
  EXPECT_TRUE(fails(locks.acquire("deploy", {}, by("parent")), Errc::held));
  child.signal(SIGKILL);
  const auto grant = locks.acquire("deploy", patient(), by("parent"));
  ASSERT_TRUE(ok(grant));
  EXPECT_GT(grant->token, token_);
  EXPECT_TRUE(lost(locks.heartbeat("deploy", token_), LostReason::superseded));
  EXPECT_TRUE(lost(locks.release("deploy", token_), LostReason::superseded)) << "a late write must be refused";
  EXPECT_EQ(opened_.events()->back().what, "reclaimed");
  EXPECT_EQ(name_of(opened_.events()->back().previous_holder), "child");
}

TEST_P(StoreCrashTest, AFrozenHolderLearnsThatItLostTheLease) {
  auto child = start_holder();
  store_.freeze(child.pid());
  const auto grant = opened_.locks().acquire("deploy", patient(), by("parent"));
  ASSERT_TRUE(ok(grant));
  EXPECT_GT(grant->token, token_);
  child.signal(SIGCONT);
  EXPECT_EQ(child.read_line(10s), "lost superseded");
  EXPECT_EQ(child.read_line(10s), "lost superseded");
  EXPECT_EQ(child.finish(10s).exit_code, 0);
  EXPECT_TRUE(ok(opened_.locks().heartbeat("deploy", grant->token))) << "the new holder noticed nothing";
}

TEST_P(StoreCrashTest, ALivingHolderKeepsItBeyondItsTtl) {
  auto child = start_holder();
  AcquireOptions options{};
  options.wait = 1200ms;
  EXPECT_TRUE(fails(opened_.locks().acquire("deploy", options, by("parent")), Errc::held));
}

/// Takes and gives back one lock, forever: to be killed at any moment.
LEASEHOLD_ROLE(busy_worker) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  std::cout << "working" << std::endl;
  for (;;) {
    const auto grant = store->locks().acquire("shared", {.ttl = 200ms, .wait = 1s});
    if (grant) static_cast<void>(store->locks().release("shared", grant->token));
  }
}

TEST_P(StoreCrashTest, KillingWorkersAtAnyMomentLeavesAWorkingStore) {
  for (int round = 0; round < 3; ++round) {
    std::vector<Process> workers;
    for (int i = 0; i < 3; ++i) workers.push_back(Process::self("busy_worker", {{"STORE_URL", store_.url()}}));
    for (auto& worker : workers) ASSERT_EQ(worker.read_line(10s), "working");
    const auto events = status_of(opened_).events;
    ASSERT_TRUE(eventually([&] { return status_of(opened_).events > events + 20; }));
    for (auto& worker : workers) worker.signal(SIGKILL);
    workers.clear();
    AcquireOptions options{};
    options.wait = 20s;
    const auto grant = opened_.locks().acquire("shared", options, by("parent"));
    ASSERT_TRUE(ok(grant));
    ASSERT_TRUE(ok(opened_.locks().release("shared", grant->token)));
  }
  EXPECT_EQ(store_.scalar("SELECT count(*) FROM (SELECT token FROM " + store_.table("event") +
                          " WHERE what IN ('acquired', 'reclaimed') GROUP BY token HAVING count(*) > 1) AS twice"),
            "0")
      << "a token was given twice";
}

/// Freezes with the write gate of the file in its hands.
LEASEHOLD_ROLE(gate_keeper) {
  const int gate = ::open(env("GATE").c_str(), O_RDWR | O_CLOEXEC);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  if (gate < 0 || ::fcntl(gate, F_SETLKW, &whole) != 0) return 1;
  std::cout << "locked" << std::endl;
  ::raise(SIGSTOP);
  return 0;
}

TEST(SqliteGateTest, AStoppedProcessDoesNotBlockTheOthersForEver) {
  TestStore store(StoreKind::sqlite, {.real_time = true});
  auto opened = store.open();
  take(opened.locks(), "before");
  const auto gate = store.path() + "-gate";
  ASSERT_TRUE(std::filesystem::exists(gate));
  auto keeper = Process::self("gate_keeper", {{"GATE", gate}});
  ASSERT_EQ(keeper.read_line(10s), "locked");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ok(opened.locks().acquire("lock-" + std::to_string(i), {}, by("parent"))));
  keeper.signal(SIGCONT);
}

}  // namespace
}  // namespace leasehold::support

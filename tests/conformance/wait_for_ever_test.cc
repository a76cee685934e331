// Every call that waits can wait for ever, and its stop token ends it.
#include <gtest/gtest.h>

#include <future>

#include "store/store.h"
#include "support/chunk_helpers.h"
#include "support/fault_backend.h"
#include "support/process.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

constexpr Duration for_ever = Duration::max();

class WaitForEverTest : public SessionStoreTest {
 protected:
  void SetUp() override {
    SessionStoreTest::SetUp();
    calls_ = std::make_shared<FaultBackend>(under_test().open_backend());
    waiting_.emplace(store_over(calls_, {}));
  }

  /// The store that the waiting callers use.
  Store& waiting() { return *waiting_; }

  /// The answer to a call that is stopped after it has sent this statement so often; only waiting calls send it.
  template <typename Waiting>
  auto answer_when_stopped(const std::string& statement, int times, Waiting call) {
    std::stop_source stop;
    auto answer = std::async(std::launch::async, [&] { return call(stop.get_token()); });
    EXPECT_TRUE(eventually([&] { return calls_->calls(statement) >= times; })) << "it did not wait";
    stop.request_stop();
    return answer.get();
  }

 private:
  std::shared_ptr<FaultBackend> calls_;
  std::optional<Store> waiting_;
};
LEASEHOLD_ON_BOTH_STORES(WaitForEverTest);

TEST_P(WaitForEverTest, ForALock) {
  support::take(locks(), "deploy", {}, by("ann"));
  const auto refused = answer_when_stopped("lock_show", 1, [&](const std::stop_token& stop) {
    return waiting().locks().acquire("deploy", {.wait = for_ever}, {.holder = holder("bob"), .stop = stop});
  });
  EXPECT_TRUE(fails(refused, Errc::held));
}

TEST_P(WaitForEverTest, ToLead) {
  const auto ann = must(Election(locks(), "leader").campaign({}, {.holder = holder("ann")}));
  const auto refused = answer_when_stopped("lock_show", 1, [&](const std::stop_token& stop) {
    return Election(waiting().locks(), "leader").campaign({}, {.holder = holder("bob"), .stop = stop});
  });
  EXPECT_TRUE(fails(refused, Errc::held));
}

TEST_P(WaitForEverTest, ForAJob) {
  const auto refused = answer_when_stopped("job_claim", 2, [&](const std::stop_token& stop) {
    return waiting().jobs().claim("mail", {.wait = for_ever}, {.stop = stop});
  });
  EXPECT_TRUE(fails(refused, Errc::empty));
}

TEST_P(WaitForEverTest, UntilAJobComes) {
  auto claimed = std::async(std::launch::async, [&] { return waiting().jobs().claim("mail", {.wait = for_ever}); });
  const auto id = add(jobs(), "mail");
  const auto grant = claimed.get();
  ASSERT_TRUE(ok(grant));
  EXPECT_EQ(ids_of(*grant), std::vector{id});
}

TEST_P(WaitForEverTest, ForTheEndOfAJob) {
  const auto id = add(jobs(), "mail");
  const auto refused = answer_when_stopped(
      "job_show", 2, [&](const std::stop_token& stop) { return waiting().jobs().wait(id, for_ever, {.stop = stop}); });
  EXPECT_TRUE(fails(refused, Errc::busy));
}

TEST_P(WaitForEverTest, ForAChunk) {
  plan_numbers(store().chunks(), "orders", 1);
  must(store().chunks().claim("orders", {}, {.holder = holder("ann")}));
  const auto refused = answer_when_stopped("chunk_claim", 2, [&](const std::stop_token& stop) {
    return waiting().chunks().claim("orders", {.wait = for_ever}, {.holder = holder("bob"), .stop = stop});
  });
  EXPECT_TRUE(fails(refused, Errc::held));
}

TEST_P(WaitForEverTest, ForAnItem) {
  backlog({"SD-1"});
  join("ann");
  join("bob");
  take("ann", "SD-1");
  const auto refused = answer_when_stopped("claim_take", 2, [&](const std::stop_token& stop) {
    return waiting().claims().take("SD-1", "bob", {.wait = for_ever}, {.stop = stop});
  });
  EXPECT_TRUE(fails(refused, Errc::held));
}

TEST_P(WaitForEverTest, ForATurnAtALimit) {
  must(store().rates().take("api", {.every = 1h}));
  const auto refused = answer_when_stopped("rate_take", 1, [&](const std::stop_token& stop) {
    return waiting().rates().take("api", {.wait = for_ever}, {.stop = stop});
  });
  EXPECT_TRUE(fails(refused, Errc::busy));
}

}  // namespace
}  // namespace leasehold::support

// Promise 11: a refusal names the holder and contains no proof, so no caller can act in the holder's place.
#include <gtest/gtest.h>

#include "support/chunk_helpers.h"
#include "support/lock_helpers.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class RefusalProofTest : public SessionStoreTest {
 protected:
  Jobs jobs() { return store().jobs(); }
  Chunks chunks() { return store().chunks(); }
  Schedules schedules() { return store().schedules(); }

  /// It names the holder and contains no proof.
  template <typename T>
  static void expect_no_proof(const Result<T>& refused, Errc code, const std::string& holder, Token token) {
    ASSERT_TRUE(fails(refused, code));
    const auto& error = refused.error();
    ASSERT_TRUE(error.held_by.has_value()) << error.message;
    EXPECT_EQ(error.held_by->holder.name, holder);
    EXPECT_EQ(error.held_by->token, Token{}) << error.message;
    EXPECT_EQ(error.held_by->holder.instance, "") << error.message;
    EXPECT_EQ(error.message.find(std::to_string(token.value)), std::string::npos) << error.message;
  }
};
LEASEHOLD_ON_BOTH_STORES(RefusalProofTest);

TEST_P(RefusalProofTest, Promise11_OfALock) {
  const auto lock = support::take(locks(), "deploy", {.ttl = 1h}, by("ann"));
  expect_no_proof(locks().acquire("deploy", {}, by("bob")), Errc::held, "ann", lock.token);
  expect_no_proof(locks().acquire("deploy", {}, by("ann")), Errc::reentry, "ann", lock.token);
  expect_no_proof(locks().acquire_all({"deploy", "other"}, {}, by("bob")), Errc::held, "ann", lock.token);
  expect_no_proof(locks().heartbeat("deploy", Token{1}), Errc::lost, "ann", lock.token);
  expect_no_proof(locks().release("deploy", Token{1}), Errc::lost, "ann", lock.token);
  AcquireOptions waiting{};
  waiting.wait = 20ms;
  expect_no_proof(locks().acquire("deploy", waiting, by("bob")), Errc::held, "ann", lock.token);
}

TEST_P(RefusalProofTest, Promise11_OfAShareOfALock) {
  AcquireOptions some{.ttl = 1h};
  some.share = Share{.permits = 2, .capacity = 2};
  const auto share = support::take(locks(), "pool", some, by("ann"));
  AcquireOptions more{};
  more.share = Share{.permits = 1, .capacity = 2};
  expect_no_proof(locks().acquire("pool", more, by("bob")), Errc::held, "ann", share.token);
  more.share->capacity = 3;
  expect_no_proof(locks().acquire("pool", more, by("bob")), Errc::mismatch, "ann", share.token);
  expect_no_proof(locks().acquire("pool", {}, by("bob")), Errc::held, "ann", share.token);
}

TEST_P(RefusalProofTest, Promise11_OfAJob) {
  must(store().queues().set("mail", {.max_running = 1}));
  must(jobs().enqueue("mail", NewJob{.payload = "a"}));
  must(jobs().enqueue("mail", NewJob{.payload = "b"}));
  const auto grant = must(jobs().claim("mail", {}, {.holder = holder("ann")}));
  const auto refused = jobs().claim("mail", {}, {.holder = holder("bob")});
  expect_no_proof(refused, Errc::at_capacity, "ann", grant.token);
  EXPECT_EQ(refused.error().held_by->key, std::to_string(grant.jobs.front().id)) << "the refusal names the running job";
  expect_no_proof(jobs().complete(grant.jobs.front().id, Token{1}), Errc::lost, "ann", grant.token);
}

TEST_P(RefusalProofTest, Promise11_OfAChunk) {
  plan_numbers(chunks(), "orders", 1, {});
  const auto grant = must(chunks().claim("orders", {}, {.holder = holder("ann")}));
  const auto& chunk = grant.chunks.front();
  const auto refused = chunks().claim("orders", {}, {.holder = holder("bob")});
  expect_no_proof(refused, Errc::held, "ann", chunk.token);
  EXPECT_EQ(refused.error().held_by->key, "orders/" + chunk.key) << "the refusal names the held chunk";
  expect_no_proof(chunks().complete("orders", chunk.key, Token{1}), Errc::lost, "ann", chunk.token);
}

TEST_P(RefusalProofTest, Promise11_OfASessionOrAnItem) {
  backlog({"SD-1", "SD-2", "SD-3"});
  const auto ann = join_exclusive("ann");
  join("ben");
  const auto claim = take("ann", "SD-1");
  expect_no_proof(sessions().open(session_of("ann"), by("ann")), Errc::held, "ann", ann.token);
  expect_no_proof(sessions().heartbeat("ann", Token{1}), Errc::lost, "ann", ann.token);
  expect_no_proof(claims().take("SD-1", "ben"), Errc::held, "ann", claim.token);
  expect_no_proof(claims().take("SD-2", "ann"), Errc::at_capacity, "ann", claim.token);
  expect_no_proof(claims().release("SD-1", "ben", Token{1}), Errc::lost, "ann", claim.token);
  expect_no_proof(claims().transfer("SD-1", "ben", Token{1}), Errc::lost, "ann", claim.token);
  expect_no_proof(items().done("SD-1"), Errc::held, "ann", claim.token);
  const auto bens = take("ben", "SD-3");
  expect_no_proof(claims().switch_to("SD-3", bens.token, "SD-1"), Errc::held, "ann", claim.token);
}

TEST_P(RefusalProofTest, Promise11_OfASchedule) {
  must(schedules().set("refresh", due_now(every_ten_minutes())));
  const auto run = must(schedules().acquire("refresh", {.now = true}, by("ann")));
  expect_no_proof(schedules().acquire("refresh", {.now = true}, by("bob")), Errc::held, "ann", run.grant.token);
  expect_no_proof(schedules().heartbeat("refresh", Token{1}), Errc::lost, "ann", run.grant.token);
  expect_no_proof(schedules().release("refresh", Token{1}), Errc::lost, "ann", run.grant.token);
}

// Its id can be seen, and so can the instance of its process; neither lets anybody else close it.
TEST_P(RefusalProofTest, Promise04_TheProofOfASharedLeaseIsNeverShown) {
  const auto worker = holder("ann");
  const auto lease = must(jobs().open_lease(1min, {.holder = worker}));
  const auto loader = must(chunks().open_lease(1min, {.holder = worker}));
  EXPECT_NE(lease.instance, worker.instance);
  EXPECT_NE(loader.instance, lease.instance);
  auto guessed = lease;
  guessed.instance = worker.instance;
  EXPECT_TRUE(fails(jobs().close(guessed), Errc::lost));
  EXPECT_TRUE(fails(jobs().extend(guessed), Errc::lost));
  EXPECT_TRUE(ok(jobs().close(lease)));
  EXPECT_TRUE(ok(chunks().close(loader)));
}

TEST_P(RefusalProofTest, Promise04_ALeaseOfOneClaimIsEndedByItsTokenOnly) {
  must(jobs().enqueue("mail", NewJob{.payload = "a"}));
  plan_numbers(chunks(), "orders", 1, {});
  const auto job = must(jobs().claim("mail", {}, {.holder = holder("ann")}));
  const auto chunk = must(chunks().claim("orders", {}, {.holder = holder("ann")}));
  const auto before = dump();
  for (const auto& guess : {std::string(), holder("ann").instance}) {
    EXPECT_TRUE(fails(jobs().close(SharedLease{.id = job.lease_id, .instance = guess}), Errc::lost));
    EXPECT_TRUE(fails(chunks().close(SharedLease{.id = chunk.lease_id, .instance = guess}), Errc::lost));
  }
  EXPECT_EQ(dump(), before);
}

}  // namespace
}  // namespace leasehold::support

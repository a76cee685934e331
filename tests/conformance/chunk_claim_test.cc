// Claims of chunks: order, by key, many at once, old chunks, and refusals.
#include <gtest/gtest.h>

#include "support/chunk_fixture.h"

namespace leasehold::support {
namespace {

class ChunkClaimTest : public ChunkStoreTest {
 protected:
  Result<ChunkGrant> claim_old(const std::string& who, Duration age, const std::string& key = {}, int max = 1) {
    auto options = loading(max);
    options.older_than = age;
    options.key = key;
    return chunks().claim("orders", options, by(who));
  }
};
LEASEHOLD_ON_BOTH_STORES(ChunkClaimTest);

TEST_P(ChunkClaimTest, TheOrderIsThatOfThePlan) {
  plan_as("1", {{"z", "1"}, {"m", "2"}, {"a", "3"}});
  EXPECT_EQ(claim("ann").key, "z");
  EXPECT_EQ(keys_of(claim_many("bob", 5)), (Keys{"m", "a"}));
}

TEST_P(ChunkClaimTest, ABackedOffChunkComesAfterOnesThatNeverFailed) {
  plan(3);
  ASSERT_TRUE(ok(fail(claim("ann"))));
  advance(2s);
  EXPECT_EQ(keys_of(claim_many("ann", 3)), (Keys{"2", "3", "1"}));
}

TEST_P(ChunkClaimTest, OneLeaseForAllThatIsTakenTogether) {
  plan(3);
  const auto grant = claim_many("ann", 3, 30s);
  EXPECT_EQ(keys_of(grant), (Keys{"1", "2", "3"}));
  EXPECT_EQ(grant.expires_at, now() + 30s);
  EXPECT_EQ(grant.holder.name, "ann");
  EXPECT_FALSE(grant.solo);
  advance(20s);
  ASSERT_TRUE(ok(save(grant.chunks[0])));
  advance(20s);
  for (const auto& each : grant.chunks)
    EXPECT_EQ(state(each.key), ChunkState::running) << "a heartbeat of one is for all";
  for (const auto& each : grant.chunks) ASSERT_TRUE(ok(complete(each)));
  EXPECT_EQ(under_test().scalar("SELECT end_reason FROM " + under_test().table("lease")), "completed")
      << "the lease ends with its last chunk";
}

TEST_P(ChunkClaimTest, TheSetsTtlIsTheDefault) {
  plan(2, {.default_ttl = 7min});
  EXPECT_EQ(must(chunks().claim("orders")).ttl, Duration(7min));
  EXPECT_EQ(must(chunks().claim("orders", {.ttl = 1s})).ttl, Duration(1s));
}

TEST_P(ChunkClaimTest, TheGrantHasWhatALoaderNeeds) {
  plan(1);
  const auto first = claim("ann");
  EXPECT_EQ(first.set, "orders");
  EXPECT_EQ(first.spec, "1");
  EXPECT_EQ(first.attempt, 1);
  EXPECT_EQ(first.position, 0);
  EXPECT_EQ(first.rows, 0);
  EXPECT_EQ(first.hash, chunk("1").hash);
  EXPECT_EQ(name_of(first.previous_holder), "");
  EXPECT_FALSE(first.cursor || first.synced_at);
  ASSERT_TRUE(ok(release(first, {.cursor = R"({"p":1})", .rows = 5})));
  const auto second = claim("bob");
  EXPECT_EQ(second.cursor, R"({"p":1})");
  EXPECT_EQ(second.rows, 5);
  EXPECT_EQ(second.attempt, 2);
  EXPECT_EQ(name_of(second.previous_holder), "ann");
  EXPECT_EQ(host_of(second.previous_holder), "host-of-ann");
}

TEST_P(ChunkClaimTest, Promise03_EveryGrantHasAGreaterToken) {
  plan(1);
  Token last{};
  for (int i = 0; i < 5; ++i) {
    const auto held = claim("ann");
    EXPECT_GT(held.token, last) << "also where the clock stands still";
    last = held.token;
    ASSERT_TRUE(ok(release(held)));
  }
}

TEST_P(ChunkClaimTest, ByKeyAlsoWhileItBacksOff) {
  plan(2);
  EXPECT_EQ(claim_key("ann", "2").key, "2");
  ASSERT_TRUE(ok(fail(claim_key("ann", "1"))));
  EXPECT_EQ(state("1"), ChunkState::deferred);
  EXPECT_EQ(claim_key("bob", "1").attempt, 2);
}

TEST_P(ChunkClaimTest, ByKeyFromADeadHolder) {
  plan(2);
  const auto first = claim_key("ann", "2");
  ASSERT_TRUE(ok(save(first, {.cursor = "9"})));
  advance(31s);
  EXPECT_EQ(claim_key("bob", "2").cursor, "9");
}

TEST_P(ChunkClaimTest, Promise08_FinishedOrUnknownChunksAreNotClaimed) {
  plan(3);
  load("1");
  ASSERT_TRUE(ok(chunks().skip("orders", "2", "not needed")));
  ASSERT_TRUE(ok(fail(claim_key("ann", "3"), Verdict::fail_finally())));
  for (const auto* key : {"1", "2", "3"}) EXPECT_TRUE(fails(try_claim("bob", key), Errc::terminal)) << key;
  EXPECT_TRUE(fails(try_claim("bob", "4"), Errc::not_found));
  EXPECT_TRUE(fails(chunks().claim("nothing", {}), Errc::not_found));
}

TEST_P(ChunkClaimTest, Promise11_HeldNamesTheHolderThatFreesFirst) {
  plan(2);
  claim("ann", 60s);
  claim("bob", 30s);
  const auto refused = try_claim("eve");
  ASSERT_TRUE(fails(refused, Errc::held));
  ASSERT_TRUE(refused.error().held_by);
  EXPECT_EQ(refused.error().held_by->holder.name, "bob");
  EXPECT_EQ(refused.error().held_by->key, "orders/2");
  EXPECT_EQ(refused.error().retry_at, now() + 30s);
  const auto by_key = try_claim("eve", "1");
  ASSERT_TRUE(fails(by_key, Errc::held));
  EXPECT_EQ(by_key.error().held_by->holder.name, "ann");
  EXPECT_EQ(by_key.error().retry_in, Duration(60s));
}

TEST_P(ChunkClaimTest, HeldAndBackingOffReportsTheEarlierOne) {
  plan(2);
  claim("ann", 30s);
  ASSERT_TRUE(ok(fail(claim("bob"))));
  const auto refused = try_claim("eve");
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(refused.error().retry_at, now() + 2s);
}

TEST_P(ChunkClaimTest, EmptyIsOnlyReturnedWhenItIsTrue) {
  plan(1);
  ASSERT_TRUE(ok(fail(claim("ann"))));
  const auto backing_off = try_claim("bob");
  ASSERT_TRUE(fails(backing_off, Errc::empty));
  EXPECT_EQ(backing_off.error().retry_in, Duration(2s));
  advance(2s);
  ASSERT_TRUE(ok(complete(claim("bob"))));
  const auto done = try_claim("bob");
  ASSERT_TRUE(fails(done, Errc::empty));
  EXPECT_FALSE(done.error().retry_at) << "nothing will come";
}

TEST_P(ChunkClaimTest, AnOldChunkIsLoadedAgainFromTheBeginning) {
  plan(2);
  load("2", 20);
  const auto first_sync = now();
  advance(1h);
  load("1", 10);
  EXPECT_TRUE(fails(claim_old("ann", 2h), Errc::empty));
  const auto again = must(claim_old("ann", 30min)).chunks.at(0);
  EXPECT_EQ(again.key, "2") << "the oldest first";
  EXPECT_EQ(again.attempt, 1);
  EXPECT_EQ(again.rows, 0);
  EXPECT_FALSE(again.cursor);
  EXPECT_EQ(again.synced_at, first_sync) << "until it is completed again";
  EXPECT_EQ(progress().rows, 10) << "a new pass counts anew";
  EXPECT_EQ(progress().state, ChunkSetState::running);
  ASSERT_TRUE(ok(complete(again, {.rows = 21})));
  EXPECT_EQ(chunk("2").synced_at, now());
  EXPECT_EQ(progress().rows, 31);
}

TEST_P(ChunkClaimTest, OpenChunksGoBeforeOldOnes) {
  plan(2);
  load("1");
  advance(1h);
  EXPECT_EQ(keys_of(must(claim_old("ann", 1s, {}, 5))), Keys{"2"});
  EXPECT_EQ(keys_of(must(claim_old("ann", 1s, {}, 5))), Keys{"1"});
}

TEST_P(ChunkClaimTest, ByKeyWhenItIsOldEnough) {
  plan(1);
  load("1");
  advance(10min);
  EXPECT_TRUE(fails(claim_old("ann", 10min + 1us, "1"), Errc::terminal));
  EXPECT_TRUE(ok(claim_old("ann", 10min, "1"))) << "to the microsecond";
}

TEST_P(ChunkClaimTest, SkippedAndExhaustedOnesAreNeverOld) {
  plan(2);
  ASSERT_TRUE(ok(chunks().skip("orders", "1", "not needed")));
  ASSERT_TRUE(ok(fail(claim("ann"), Verdict::fail_finally())));
  advance(24h);
  EXPECT_TRUE(fails(claim_old("ann", 1s), Errc::empty));
  EXPECT_TRUE(fails(claim_old("ann", 1s, "1"), Errc::terminal));
}

TEST_P(ChunkClaimTest, Promise13_AClaimRepeatedGivesTheFirstAnswerAgain) {
  plan(4);
  auto options = loading(2);
  options.request_id = "once";
  const auto first = must(chunks().claim("orders", options, by("ann")));
  advance(10s);
  const auto again = must(chunks().claim("orders", options, by("ann")));
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(keys_of(again), keys_of(first));
  EXPECT_EQ(again.chunks[1].token, first.chunks[1].token);
  EXPECT_EQ(again.expires_at, first.expires_at) << "what remains, not more";
  ASSERT_TRUE(ok(complete(first.chunks[0])));
  EXPECT_EQ(keys_of(must(chunks().claim("orders", options, by("ann")))), Keys{"2"})
      << "what is settled is not given again";
  ASSERT_TRUE(ok(complete(first.chunks[1])));
  EXPECT_TRUE(lost(chunks().claim("orders", options, by("ann")), LostReason::finished));
}

TEST_P(ChunkClaimTest, Promise13_ARepeatedClaimWhoseLeaseRanOutIsLost) {
  plan(1);
  auto options = loading();
  options.request_id = "once";
  must(chunks().claim("orders", options, by("ann")));
  advance(30s);
  EXPECT_TRUE(lost(chunks().claim("orders", options, by("ann")), LostReason::expired));
}

TEST_P(ChunkClaimTest, AttachedChunksLiveWithTheirLoader) {
  plan(3);
  const auto lease = must(chunks().open_lease(30s, by("ann")));
  const auto attach = [&] { return chunks().claim("orders", {}, {.holder = holder("ann"), .lease = lease}); };
  const auto first = must(attach()).chunks.at(0);
  ASSERT_TRUE(ok(complete(first)));
  EXPECT_TRUE(ok(attach())) << "the lease of a loader does not end with a chunk";
  ASSERT_TRUE(ok(chunks().close(lease)));
  EXPECT_TRUE(ok(chunks().close(lease))) << "closing twice is closing";
  EXPECT_TRUE(lost(attach(), LostReason::finished));
  EXPECT_TRUE(lost(chunks().extend(lease), LostReason::finished));
  EXPECT_EQ(chunk("2").crashes, 0);
}

TEST_P(ChunkClaimTest, AClaimCannotAttachToAnExpiredOrForeignLease) {
  plan(1);
  auto lease = must(chunks().open_lease(30s, by("ann")));
  auto stolen = lease;
  stolen.instance = "somebody else";
  EXPECT_TRUE(lost(chunks().claim("orders", {}, {.lease = stolen}), LostReason::superseded));
  EXPECT_TRUE(lost(chunks().extend(stolen), LostReason::superseded));
  EXPECT_TRUE(fails(chunks().close(stolen), Errc::lost));
  advance(30s);
  EXPECT_TRUE(lost(chunks().claim("orders", {}, {.lease = lease}), LostReason::expired));
  EXPECT_TRUE(lost(chunks().extend(lease), LostReason::expired)) << "Promise 5";
}

}  // namespace
}  // namespace leasehold::support

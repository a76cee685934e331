// On the same host a dead process makes its session stale at once; "cannot tell" never reads as dead. Promise 10.
#include <gtest/gtest.h>

#include <map>

#include "store/store.h"
#include "support/dead_holder.h"
#include "support/fault_backend.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ClaimDeadProcessTest : public SessionStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    backlog({"SD-1", "SD-2"});
    join("bob");
  }
  /// A session that the store believes alive for an hour.
  Grant join_as(const std::string& id, const Holder& holder) {
    return must(sessions().open({.id = id, .ttl = 1h}, {.holder = holder}));
  }
  /// The same, of a process that lives until the test ends it.
  Grant join_mortal(const std::string& id) { return join_as(id, mortals_.try_emplace(id, id).first->second.holder()); }
  void die(const std::string& id) { mortals_.at(id).die(); }
  /// One that had these items when its process ended.
  Grant leave_behind(const std::string& id, std::initializer_list<std::string> keys) {
    auto session = join_mortal(id);
    for (const auto& key : keys) take(id, key);
    die(id);
    return session;
  }

 private:
  std::map<std::string, Mortal> mortals_;
};
LEASEHOLD_ON_BOTH_STORES(ClaimDeadProcessTest);

TEST_P(ClaimDeadProcessTest, ItsItemIsTakenAtOnce) {
  const auto ann = join_mortal("ann");
  const auto late = take("ann", "SD-1");
  take("ann", "SD-2");
  die("ann");
  const auto next = take("bob", "SD-1");
  EXPECT_GT(next.token, late.token);
  EXPECT_EQ(next.previous_session + " " + name_of(next.previous_holder), "ann ann");
  EXPECT_EQ(state("SD-2"), ItemState::open) << "all it had is free";
  EXPECT_EQ(session("ann").end_reason + ": " + session("ann").end_detail, "expired: process gone");
  EXPECT_TRUE(lost(beat(ann), LostReason::expired));
  EXPECT_TRUE(lost(release(late), LostReason::superseded));
  EXPECT_EQ(recovered("process_gone").claims, 2);
}

// As while its heartbeater closes the session: that one holds the lease's row, so the first tries to end it find
// nothing.
TEST_P(ClaimDeadProcessTest, ItsItemIsTakenAtOnceAlsoWhereTheFirstTriesToEndItsLeaseFindNothing) {
  leave_behind("ann", {"SD-1"});
  auto faults = std::make_shared<FaultBackend>(under_test().open_backend());
  faults->fail_next(Fault::fail_before_send, 2, "lease_suspects");
  auto store = store_over(faults, {});
  EXPECT_TRUE(ok(store.claims().take("SD-1", "bob")));
  EXPECT_EQ(faults->failures(), 2);
}

TEST_P(ClaimDeadProcessTest, ItIsShownAsStaleEverywhereAndNothingIsWritten) {
  leave_behind("ann", {"SD-1"});
  take("bob", "SD-2");
  const auto before = dump();
  EXPECT_EQ(status("ann"), SessionState::stale);
  const auto stale = must(sessions().list({.state = SessionState::stale}));
  ASSERT_EQ(stale.size(), 1U);
  EXPECT_EQ(stale[0].id, "ann");
  EXPECT_EQ(state("SD-1"), ItemState::stale);
  EXPECT_EQ(state("SD-2"), ItemState::claimed);
  EXPECT_EQ(claim("SD-1").held_by.state, LeaseState::expired);
  EXPECT_EQ(claim("SD-2").held_by.state, LeaseState::running);
  for (const auto& shown : must(claims().list())) {
    EXPECT_EQ(shown.held_by.state, shown.key == "SD-1" ? LeaseState::expired : LeaseState::running) << shown.key;
  }
  for (const auto& shown : must(store().leases())) {
    const bool of_ann = shown.key == "SD-1" || shown.key == "ann";
    EXPECT_EQ(shown.state, of_ann ? LeaseState::expired : LeaseState::running) << shown.kind << " " << shown.key;
  }
  EXPECT_EQ(dump(), before);
}

TEST_P(ClaimDeadProcessTest, ItsItemsAreListedAsStaleAndNotAsClaimed) {
  const auto listed = [this](ItemState state, int limit = 100) {
    Words keys;
    for (const auto& item : must(items().list({.state = state, .max = limit}))) keys.push_back(item.key);
    return keys;
  };
  backlog({"a", "b", "c", "d", "e", "f"});
  leave_behind("ann", {"a", "c", "e"});
  must(sessions().open({.id = "silent", .ttl = 5s}, {.holder = holder("silent")}));
  take("silent", "b");
  take("bob", "d");
  take("bob", "f");
  advance(6s);
  EXPECT_EQ(listed(ItemState::claimed), (Words{"d", "f"}));
  EXPECT_EQ(listed(ItemState::claimed, 1), Words{"d"}) << "the limit counts what is shown";
  EXPECT_EQ(listed(ItemState::stale), (Words{"a", "b", "c", "e"}));
  EXPECT_EQ(listed(ItemState::stale, 2), (Words{"a", "b"}));
  EXPECT_EQ(listed(ItemState::open), (Words{"SD-1", "SD-2"}));
}

TEST_P(ClaimDeadProcessTest, ItGetsNothingAnyMoreWhateverItsLeaseSays) {
  const auto ann = join_mortal("ann");
  const auto held = take("ann", "SD-1");
  const auto of_bob = take("bob", "SD-2");
  must(items().add("SD-3"));
  die("ann");
  EXPECT_TRUE(fails(claims().take("new", "ann", {.create = true}), Errc::unregistered));
  EXPECT_TRUE(fails(items().show("new"), Errc::not_found)) << "a refusal adds nothing";
  EXPECT_TRUE(fails(try_take("ann", "SD-3"), Errc::unregistered));
  EXPECT_TRUE(fails(claims().transfer("SD-2", "ann", of_bob.token), Errc::unregistered));
  EXPECT_TRUE(lost(claims().switch_to("SD-1", held.token, "SD-3"), LostReason::expired));
  EXPECT_TRUE(lost(beat(ann), LostReason::expired));
  EXPECT_EQ(state("SD-1"), ItemState::open);
  EXPECT_EQ(state("SD-3"), ItemState::open);
  EXPECT_EQ(item("SD-2").session, "bob");
}

TEST_P(ClaimDeadProcessTest, ItIsRefusedAFreeItemAndTheItemStaysFree) {
  leave_behind("ann", {});
  EXPECT_TRUE(fails(try_take("ann", "SD-1"), Errc::unregistered));
  EXPECT_EQ(state("SD-1"), ItemState::open);
  EXPECT_EQ(session("ann").end_detail, "process gone");
  EXPECT_TRUE(ok(try_take("bob", "SD-1")));
}

TEST_P(ClaimDeadProcessTest, ItIsRefusedAHeldItemBecauseItIsGone) {
  take("bob", "SD-1");
  leave_behind("ann", {});
  EXPECT_TRUE(fails(try_take("ann", "SD-1"), Errc::unregistered));
  EXPECT_EQ(item("SD-1").session, "bob");
}

// The grant names the session's process, so that a take is one round trip.
TEST_P(ClaimDeadProcessTest, AGrantNeedsNoOtherRead) {
  auto faults = std::make_shared<FaultBackend>(under_test().open_backend());
  faults->fail_next(Fault::fail_before_send, 1, "session_list");
  auto store = store_over(faults, {});
  EXPECT_TRUE(ok(store.claims().take("SD-1", "bob")));
  EXPECT_EQ(faults->failures(), 0);
}

TEST_P(ClaimDeadProcessTest, ASwitchOfItsClaimIsRefused) {
  join_mortal("ann");
  const auto held = take("ann", "SD-1");
  die("ann");
  EXPECT_TRUE(lost(claims().switch_to("SD-1", held.token, "SD-2"), LostReason::expired));
  EXPECT_EQ(state("SD-2"), ItemState::open);
}

TEST_P(ClaimDeadProcessTest, AnotherSessionsHeartbeatDoesNotKeepItAlive) {
  const auto ann = join_mortal("ann");
  take("ann", "SD-1");
  must(beat(ann));
  die("ann");
  EXPECT_TRUE(lost(beat(ann), LostReason::expired));
  EXPECT_TRUE(lost(sessions().park("ann", ann.token, 1h), LostReason::expired));
  EXPECT_EQ(session("ann").end_detail, "process gone");
  EXPECT_EQ(state("SD-1"), ItemState::open);
}

TEST_P(ClaimDeadProcessTest, ItsIdIsFreeAndNothingItHadStandsInTheWay) {
  must(items().add("child", {.parent = "SD-1"}));
  leave_behind("ann", {"SD-1"});
  EXPECT_TRUE(ok(try_take("bob", "child"))) << "the dead block nothing";
  leave_behind("cid", {"SD-2"});
  EXPECT_TRUE(ok(sessions().open(session_of("cid"), by("cid"))));
  leave_behind("dan", {"SD-2"});
  EXPECT_TRUE(ok(items().done("SD-2")));
  must(items().add("SD-3"));
  leave_behind("eve", {"SD-3"});
  EXPECT_TRUE(ok(items().remove("SD-3")));
}

TEST_P(ClaimDeadProcessTest, AReusedPidIsNotMistakenForTheHolder) {
  auto before = Holder::self("me, in an earlier life");
  before.process_start -= 1;
  join_as("ann", before);
  EXPECT_EQ(status("ann"), SessionState::stale);
  EXPECT_TRUE(fails(try_take("ann", "SD-1"), Errc::unregistered));
}

TEST_P(ClaimDeadProcessTest, TheLivingAndThoseOfOtherHostsAndBootsKeepTheirs) {
  join_as("me", Holder::self("me"));
  auto elsewhere = dead_holder("another boot");
  elsewhere.boot_id = "another boot";
  join_as("elsewhere", elsewhere);
  auto says_too_little = dead_holder("says too little");
  says_too_little.process_start = 0;
  join_as("little", says_too_little);
  auto no_pid = dead_holder("no pid");
  no_pid.pid = 0;
  join_as("nameless", no_pid);
  for (const std::string id : {"me", "elsewhere", "little", "nameless"}) {
    must(items().add("of " + id));
    take(id, "of " + id);
    EXPECT_TRUE(fails(try_take("bob", "of " + id), Errc::held)) << id;
    EXPECT_EQ(status(id), SessionState::active) << id;
  }
  EXPECT_EQ(must(store().recover()).claims, 0);
  EXPECT_EQ(recovered("process_gone").claims, 0);
}

TEST_P(ClaimDeadProcessTest, RecoverFindsItToo) {
  leave_behind("ann", {"SD-1", "SD-2"});
  const auto freed = must(store().recover());
  EXPECT_EQ(freed.leases, 1);
  EXPECT_EQ(freed.claims, 2);
  EXPECT_EQ(must(store().recover()).claims, 0);
  EXPECT_EQ(state("SD-1"), ItemState::open);
  EXPECT_EQ(last_event("SD-1").what + ": " + last_event("SD-1").detail, "expired: process gone");
}

}  // namespace
}  // namespace leasehold::support

// Sessions and claims over a network that breaks: nothing is lost, nothing counts twice. Promises 10 and 13.
#include <gtest/gtest.h>

#include "support/broken_store.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ClaimDoubtTest : public WithBrokenStore<SessionStoreTest> {
 protected:
  void SetUp() override {
    WithBrokenStore::SetUp();
    backlog({"SD-1", "SD-2", "SD-3"});
    ann_ = join("ann");
  }
  /// The next answer of this statement never comes.
  void lose_reply(const std::string& statement) { faults_->fail_next(Fault::lose_reply, 1, statement); }

  Grant ann_;
};
LEASEHOLD_ON_BOTH_STORES(ClaimDoubtTest);

TEST_P(ClaimDoubtTest, Promise13_ASessionsRepeatedActCountsOnceAfterALostReply) {
  lose_reply("session_open");
  const auto bob = must(broken_->sessions().open(session_of("bob"), by("bob")));
  EXPECT_TRUE(bob.replayed);
  EXPECT_EQ(faults_->calls("session_open"), 2);
  EXPECT_EQ(story("bob"), Words{"opened"});
  lose_reply("session_heartbeat");
  EXPECT_TRUE(ok(broken_->sessions().heartbeat("bob", bob.token, {.progress = "half"})));
  lose_reply("session_park");
  EXPECT_TRUE(ok(broken_->sessions().park("bob", bob.token, 1h)));
  take("bob", "SD-1");
  lose_reply("session_close");
  EXPECT_EQ(must(broken_->sessions().close("bob", bob.token, "bye")).items, Words{"SD-1"});
  EXPECT_EQ(faults_->failures(), 4);
  EXPECT_EQ(story("bob").back(), "closed");
}

TEST_P(ClaimDoubtTest, Promise13_AnOwnersRepeatedActCountsOnceAfterALostReply) {
  join("bob");
  const auto claims = broken_->claims();
  lose_reply("claim_take");
  const auto first = must(claims.take("SD-1", "ann"));
  EXPECT_TRUE(first.replayed);
  lose_reply("claim_switch");
  const auto second = must(claims.switch_to("SD-1", first.token, "SD-2"));
  EXPECT_EQ(item("SD-2").token, second.token);
  lose_reply("claim_release");
  EXPECT_TRUE(ok(claims.release("SD-2", "ann", second.token, "why")));
  lose_reply("item_done");
  const auto third = take("ann", "SD-3");
  EXPECT_TRUE(ok(broken_->items().done("SD-3", third.token)));
  EXPECT_EQ(faults_->failures(), 4);
  EXPECT_EQ(story("SD-1"), (Words{"added", "claimed", "switched"}));
  EXPECT_EQ(story("SD-2"), (Words{"added", "claimed", "released"}));
  EXPECT_EQ(story("SD-3"), (Words{"added", "claimed", "completed"}));
}

TEST_P(ClaimDoubtTest, Promise13_AHandOverWhoseReplyWasLostIsAnsweredAgain) {
  join("bob");
  const auto mine = take("ann", "SD-1");
  lose_reply("claim_transfer");
  const auto given = must(broken_->claims().transfer("SD-1", "bob", mine.token));
  EXPECT_TRUE(given.replayed);
  EXPECT_EQ(given.token, item("SD-1").token);
  EXPECT_EQ(story("SD-1"), (Words{"added", "claimed", "transferred"})) << "it happened once";
}

TEST_P(ClaimDoubtTest, AnOperatorsActIsNotRepeatedBehindItsBack) {
  take("ann", "SD-1");
  take("ann", "SD-2");
  lose_reply("claim_revoke");
  EXPECT_TRUE(fails(broken_->claims().revoke("SD-1", "why"), Errc::in_doubt));
  EXPECT_EQ(faults_->calls("claim_revoke"), 1) << "a second one would hit the next owner";
  lose_reply("claim_transfer");
  EXPECT_TRUE(fails(broken_->claims().transfer("SD-3", "ann"), Errc::in_doubt));
  lose_reply("session_revoke");
  EXPECT_TRUE(fails(broken_->sessions().revoke("ann", "why"), Errc::in_doubt));
  EXPECT_EQ(status("ann"), SessionState::released);
}

TEST_P(ClaimDoubtTest, Promise10_AnUnreachableStoreIsNeverFreeNorLost) {
  const auto held = take("ann", "SD-1");
  const auto before = dump();
  faults_->fail_always(Fault::fail_before_send);
  const auto sessions = broken_->sessions();
  const auto items = broken_->items();
  const auto claims = broken_->claims();
  const auto unavailable = [](const auto& result) { EXPECT_TRUE(fails(result, Errc::unavailable)); };
  unavailable(sessions.open(session_of("bob"), by("bob")));
  unavailable(sessions.hold(session_of("bob"), by("bob")));
  unavailable(sessions.heartbeat("ann", ann_.token));
  unavailable(sessions.park("ann", ann_.token, 1h));
  unavailable(sessions.close("ann", ann_.token));
  unavailable(sessions.revoke("ann", "why"));
  unavailable(sessions.show("ann"));
  unavailable(sessions.list());
  unavailable(items.add("SD-9"));
  unavailable(items.show("SD-1"));
  unavailable(items.list());
  unavailable(items.done("SD-1", held.token));
  unavailable(items.reopen("SD-1"));
  unavailable(items.remove("SD-2"));
  unavailable(claims.take("SD-2", "ann"));
  unavailable(claims.release("SD-1", "ann", held.token));
  unavailable(claims.switch_to("SD-1", held.token, "SD-2"));
  unavailable(claims.transfer("SD-1", "ann", held.token));
  unavailable(claims.revoke("SD-1", "why"));
  unavailable(claims.show("SD-1"));
  unavailable(claims.list());
  EXPECT_EQ(dump(), before);
}

}  // namespace
}  // namespace leasehold::support

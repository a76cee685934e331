// How a session ends: closed, revoked, or silent for too long; what a late caller gets. Promises 4 and 5.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class SessionEndTest : public SessionStoreTest {
 protected:
  Result<SessionClosed> close(const Grant& session, std::string_view reason = {}) {
    return sessions().close(session.key, session.token, reason);
  }
  void keeping_up_is_lost(const Grant& late, LostReason why) {
    const auto before = dump();
    EXPECT_TRUE(lost(beat(late), why));
    EXPECT_TRUE(lost(progress(late, "late"), why));
    EXPECT_TRUE(lost(sessions().park(late.key, late.token, 1h), why));
    EXPECT_EQ(dump(), before);
  }
};
LEASEHOLD_ON_BOTH_STORES(SessionEndTest);

TEST_P(SessionEndTest, ClosingReleasesAllItHasWithTheReason) {
  backlog({"SD-1", "SD-2", "SD-3"});
  const auto ann = join("ann");
  const auto released = take("ann", "SD-3");
  must(release(released, "first"));
  take("ann", "SD-2");
  take("ann", "SD-1");
  join("bob");
  take("bob", "SD-3");
  auto closed = must(close(ann, "going home"));
  EXPECT_EQ(closed.items, (Words{"SD-1", "SD-2"}));
  for (const std::string key : {"SD-1", "SD-2"}) {
    EXPECT_EQ(state(key), ItemState::open);
    EXPECT_EQ(ending(key), "released: going home");
    EXPECT_EQ(claim(key).ended_at, now());
    EXPECT_EQ(story(key), (Words{"added", "claimed", "released"}));
    EXPECT_EQ(last_event(key).detail, "going home");
  }
  EXPECT_EQ(item("SD-3").session, "bob") << "others keep theirs";
  EXPECT_EQ(session("ann").claims, 0);
  EXPECT_EQ(story("ann"), (Words{"opened", "closed"}));
  EXPECT_EQ(last_event("ann").detail, "going home");
}

TEST_P(SessionEndTest, Promise13_ClosingTwiceIsClosingOnce) {
  backlog({"SD-1"});
  const auto ann = join("ann");
  take("ann", "SD-1");
  must(close(ann, "done"));
  const auto before = dump();
  EXPECT_EQ(must(close(ann, "again")).items, Words{"SD-1"}) << "those that ended with it";
  EXPECT_EQ(dump(), before);
}

TEST_P(SessionEndTest, AStaleSessionMayCloseUntilItIsTakenBack) {
  backlog({"SD-1"});
  const auto ann = join("ann");
  take("ann", "SD-1");
  advance(1h);
  EXPECT_EQ(must(close(ann, "late, but true")).items, Words{"SD-1"});
  EXPECT_EQ(ending("SD-1"), "released: late, but true");
  EXPECT_EQ(status("ann"), SessionState::released);
}

TEST_P(SessionEndTest, Promise04_ClosingWithAnotherTokenIsLost) {
  const auto ann = join("ann");
  advance(30s);
  const auto anew = join("ann");
  const auto before = dump();
  EXPECT_TRUE(lost(close(ann), LostReason::superseded));
  EXPECT_TRUE(lost(sessions().close("ann", Token{1}), LostReason::superseded));
  EXPECT_TRUE(fails(sessions().close("nobody", Token{1}), Errc::not_found));
  EXPECT_EQ(dump(), before);
  must(sessions().revoke("ann", "stop"));
  EXPECT_TRUE(lost(close(anew), LostReason::revoked));
  const auto bob = join("bob");
  advance(30s);
  must(store().recover());
  EXPECT_TRUE(lost(close(bob), LostReason::expired));
  EXPECT_TRUE(lost(close(anew), LostReason::revoked)) << "the true reason, also later";
}

TEST_P(SessionEndTest, Promise05_AHeartbeatExtendsAndNeverRevives) {
  const auto ann = join("ann");
  for (int i = 0; i < 3; ++i) {
    advance(30s - 1us);
    const auto extended = must(beat(ann));
    EXPECT_EQ(extended.expires_at, now() + 30s);
    EXPECT_EQ(extended.token, ann.token);
  }
  advance(30s);
  keeping_up_is_lost(ann, LostReason::expired);
  EXPECT_EQ(status("ann"), SessionState::stale);
}

TEST_P(SessionEndTest, Promise04_AnEndedSessionLearnsWhy) {
  const auto closed = join("ann");
  must(close(closed));
  keeping_up_is_lost(closed, LostReason::finished);
  const auto revoked = join("bob");
  must(sessions().revoke("bob", "too hot in here"));
  keeping_up_is_lost(revoked, LostReason::revoked);
  const auto reported = beat(revoked);
  ASSERT_TRUE(fails(reported, Errc::lost));
  EXPECT_NE(reported.error().message.find("too hot in here"), std::string::npos) << reported.error().message;
  const auto before = join("cid");
  must(close(before));
  join("cid");
  keeping_up_is_lost(before, LostReason::superseded);
  const auto reaped = join("dan");
  advance(30s);
  must(store().recover());
  keeping_up_is_lost(reaped, LostReason::expired);
  EXPECT_TRUE(fails(sessions().heartbeat("nobody", Token{1}), Errc::not_found));
  EXPECT_TRUE(fails(sessions().park("nobody", Token{1}, 1s), Errc::not_found));
}

TEST_P(SessionEndTest, AnOperatorRevokesASessionWithAllItHas) {
  backlog({"SD-1", "SD-2"});
  join("ann");
  take("ann", "SD-2");
  take("ann", "SD-1");
  EXPECT_EQ(must(sessions().revoke("ann", "make way")).items, (Words{"SD-1", "SD-2"}));
  EXPECT_EQ(ending("SD-1"), "revoked: make way");
  EXPECT_EQ(state("SD-2"), ItemState::open);
  EXPECT_EQ(story("SD-1"), (Words{"added", "claimed", "revoked"}));
  EXPECT_EQ(story("ann"), (Words{"opened", "revoked"}));
  EXPECT_EQ(last_event("ann").detail, "make way");
  EXPECT_TRUE(fails(sessions().revoke("ann", "again"), Errc::not_found));
  EXPECT_TRUE(fails(sessions().revoke("nobody", "why"), Errc::not_found));
  join("bob");
  EXPECT_TRUE(ok(try_take("bob", "SD-1"))) << "free for everybody else";
}

TEST_P(SessionEndTest, ANewOpeningOfARevokedSessionStartsClean) {
  backlog({"SD-1"});
  join("ann");
  take("ann", "SD-1");
  must(sessions().revoke("ann", "make way"));
  join("ann");
  EXPECT_TRUE(ok(try_take("ann", "SD-1"))) << "the revoke concerned the previous opening";
}

}  // namespace
}  // namespace leasehold::support

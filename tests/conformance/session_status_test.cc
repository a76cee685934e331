// Alive and working are two figures, one threshold judges both, and each word begins at an exact moment. Promise 1.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class SessionStatusTest : public SessionStoreTest {
 protected:
  Result<Grant> park(const Grant& session, Duration silence) {
    return sessions().park(session.key, session.token, silence);
  }
};
LEASEHOLD_ON_BOTH_STORES(SessionStatusTest);

TEST_P(SessionStatusTest, Promise01_SilentForItsTtlItIsStaleToTheMicrosecond) {
  join("ann");
  advance(30s - 1us);
  EXPECT_EQ(status("ann"), SessionState::active);
  EXPECT_EQ(session("ann").until_stale(), Duration(1us));
  advance(1us);
  const auto stale = session("ann");
  EXPECT_EQ(stale.state, SessionState::stale);
  EXPECT_FALSE(stale.ended_at) << "the state is derived, not written";
  advance(10s);
  EXPECT_EQ(session("ann").until_stale(), Duration(-10s));
}

TEST_P(SessionStatusTest, AliveWithoutProgressForItsTtlItIsIdle) {
  const auto ann = join("ann");
  advance(20s);
  must(beat(ann));
  advance(10s - 1us);
  EXPECT_EQ(status("ann"), SessionState::active);
  advance(1us);
  const auto idle = session("ann");
  EXPECT_EQ(idle.state, SessionState::idle);
  EXPECT_EQ(idle.heartbeat_age(), Duration(10s));
  EXPECT_EQ(idle.progress_age(), Duration(30s));
  must(progress(ann, "page 3 of 9"));
  const auto working = session("ann");
  EXPECT_EQ(working.state, SessionState::active);
  EXPECT_EQ(working.progress, "page 3 of 9");
  EXPECT_EQ(working.progress_age(), Duration(0));
  must(beat(ann));
  EXPECT_EQ(session("ann").progress, "page 3 of 9") << "a heartbeat without progress says nothing about work";
  must(progress(ann));
  EXPECT_EQ(session("ann").progress, "") << "work without a note";
}

TEST_P(SessionStatusTest, OneThresholdJudgesBothAndAHeartbeatMayChangeIt) {
  const auto ann = join("ann");
  const auto longer = must(sessions().heartbeat("ann", ann.token, {.ttl = 100s}));
  EXPECT_EQ(longer.ttl, Duration(100s));
  EXPECT_EQ(longer.expires_at, now() + 100s);
  advance(99s);
  EXPECT_EQ(status("ann"), SessionState::active);
  EXPECT_EQ(must(beat(ann)).expires_at, now() + 100s) << "the new one stays";
  advance(1s);
  EXPECT_EQ(status("ann"), SessionState::idle) << "100 seconds without progress";
  advance(99s);
  EXPECT_EQ(status("ann"), SessionState::stale) << "100 seconds without a heartbeat";
}

TEST_P(SessionStatusTest, TakingAnItemIsProgress) {
  backlog({"SD-1", "SD-2"});
  const auto ann = join("ann");
  advance(20s);
  must(beat(ann));
  const auto claim = take("ann", "SD-1");
  EXPECT_EQ(session("ann").progress_age(), Duration(0));
  advance(20s);
  must(claims().switch_to("SD-1", claim.token, "SD-2"));
  EXPECT_EQ(session("ann").progress_age(), Duration(0));
  EXPECT_EQ(session("ann").heartbeat_age(), Duration(20s)) << "and no heartbeat";
  const auto bob = join("bob");
  advance(5s);
  must(claims().transfer("SD-2", "bob"));
  EXPECT_EQ(session("bob").progress_age(), Duration(0));
  EXPECT_EQ(session("bob").heartbeat_age(), Duration(5s));
}

TEST_P(SessionStatusTest, AParkedSessionIsIdleAndNotStaleBeforeItsSilenceIsOver) {
  const auto ann = join("ann");
  advance(10s);
  EXPECT_EQ(must(park(ann, 1h)).expires_at, now() + 1h);
  EXPECT_EQ(status("ann"), SessionState::idle) << "at once, whatever its progress";
  EXPECT_EQ(session("ann").parked_until, now() + 1h);
  EXPECT_EQ(session("ann").heartbeat_age(), Duration(0)) << "parking shows that it is alive";
  advance(30min);
  EXPECT_EQ(must(beat(ann)).expires_at, now() + 30min) << "a heartbeat does not bring the end nearer";
  advance(30min - 1us);
  EXPECT_EQ(status("ann"), SessionState::idle);
  advance(1us);
  EXPECT_EQ(status("ann"), SessionState::stale);
  EXPECT_TRUE(lost(beat(ann), LostReason::expired));
}

TEST_P(SessionStatusTest, AShortSilenceIsNoEarlierEnd) {
  const auto ann = join("ann");
  EXPECT_EQ(must(park(ann, 10s)).expires_at, now() + 30s);
  advance(10s - 1us);
  EXPECT_EQ(status("ann"), SessionState::idle);
  advance(1us);
  EXPECT_EQ(status("ann"), SessionState::active);
}

TEST_P(SessionStatusTest, ProgressATakeOrZeroEndsParking) {
  backlog({"SD-1"});
  const auto ann = join("ann");
  must(park(ann, 1h));
  must(beat(ann));
  EXPECT_TRUE(session("ann").parked_until) << "a heartbeat without progress does not";
  EXPECT_EQ(must(progress(ann)).expires_at, now() + 30s);
  EXPECT_FALSE(session("ann").parked_until);
  EXPECT_EQ(status("ann"), SessionState::active);
  must(park(ann, 1h));
  EXPECT_EQ(must(park(ann, 0s)).expires_at, now() + 30s);
  EXPECT_FALSE(session("ann").parked_until);
  must(park(ann, 1h));
  take("ann", "SD-1");
  EXPECT_FALSE(session("ann").parked_until) << "it works again";
  EXPECT_EQ(status("ann"), SessionState::active);
}

TEST_P(SessionStatusTest, ClosedAndRevokedAreReleasedTakenBackIsStale) {
  const auto ann = join("ann");
  join("bob");
  join("cid");
  must(sessions().close("ann", ann.token, "lunch"));
  must(sessions().revoke("bob", "make way"));
  advance(30s);
  must(store().recover());
  EXPECT_EQ(status("ann"), SessionState::released);
  EXPECT_EQ(session("ann").end_reason + ": " + session("ann").end_detail, "released: lunch");
  EXPECT_EQ(session("ann").ended_at, now() - 30s);
  EXPECT_EQ(status("bob"), SessionState::released);
  EXPECT_EQ(session("bob").end_reason + ": " + session("bob").end_detail, "revoked: make way");
  EXPECT_EQ(status("cid"), SessionState::stale);
  EXPECT_EQ(session("cid").end_reason, "expired");
}

}  // namespace
}  // namespace leasehold::support

// How a session begins: its face, its id, and openings that meet one another.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class SessionOpenTest : public SessionStoreTest {};
LEASEHOLD_ON_BOTH_STORES(SessionOpenTest);

TEST_P(SessionOpenTest, ASessionShowsWhatItWasOpenedWith) {
  const auto grant = must(sessions().open({.id = "s-1",
                                           .ttl = 60s,
                                           .label = "fixing the parser",
                                           .codebase = "~/src/parser",
                                           .track = "backend",
                                           .metadata = R"({ "model": "x" })",
                                           .exclusive = true,
                                           .max_age = 8h},
                                          {.holder = holder("ann")}));
  EXPECT_EQ(grant.key, "s-1");
  EXPECT_EQ(grant.expires_at, now() + 60s);
  const auto info = session("s-1");
  EXPECT_EQ(info.state, SessionState::active);
  EXPECT_EQ(info.token, grant.token);
  EXPECT_EQ(info.holder.name + " " + info.holder.host + " " + info.holder.tty, "ann host-of-ann pts/7");
  EXPECT_EQ(info.holder.boot_id + " " + info.holder.instance, "boot-of-ann instance-of-ann");
  EXPECT_EQ(info.holder.pid, 4711);
  EXPECT_EQ(info.holder.process_start, 99);
  EXPECT_EQ(info.label + ", " + info.codebase + ", " + info.track, "fixing the parser, ~/src/parser, backend");
  EXPECT_EQ(info.metadata, R"({ "model": "x" })") << "byte for byte";
  EXPECT_TRUE(info.exclusive);
  EXPECT_EQ(info.ttl, Duration(60s));
  EXPECT_EQ(info.opened_at, now());
  EXPECT_EQ(info.heartbeat_at, now());
  EXPECT_EQ(info.progress_at, now());
  EXPECT_EQ(info.progress, "");
  EXPECT_EQ(info.ends_by, now() + 8h);
  EXPECT_FALSE(info.parked_until || info.ended_at || info.item_taken_at);
  EXPECT_EQ(info.claims, 0);
  EXPECT_EQ(info.item + info.end_reason + info.end_detail, "");
}

TEST_P(SessionOpenTest, WithoutAnIdOneIsDrawn) {
  const auto first = must(sessions().open());
  const auto second = must(sessions().open());
  EXPECT_NE(first.key, second.key);
  EXPECT_EQ(session(first.key).ttl, Duration(300s)) << "stale after 300 seconds unless it says otherwise";
  EXPECT_EQ(session(first.key).holder.pid, Holder::self().pid);
  EXPECT_TRUE(fails(sessions().show("nobody"), Errc::not_found));
}

TEST_P(SessionOpenTest, Promise11_TheIdOfALivingSessionIsHeld) {
  const auto ann = join("ann");
  advance(10s);
  const auto before = dump();
  const auto options = session_of("ann");
  const auto refused = sessions().open(options, by("eve"));
  ASSERT_TRUE(fails(refused, Errc::held));
  ASSERT_TRUE(refused.error().held_by);
  EXPECT_EQ(refused.error().held_by->kind, "session");
  EXPECT_EQ(refused.error().held_by->holder.name, "ann");
  EXPECT_EQ(refused.error().held_by->retry_in(), Duration(20s));
  EXPECT_EQ(dump(), before);
  advance(20s - 1us);
  EXPECT_TRUE(fails(sessions().open(options, by("eve")), Errc::held)) << "to the microsecond";
  advance(1us);
  EXPECT_TRUE(ok(sessions().open(options, by("eve"))));
}

TEST_P(SessionOpenTest, AStaleIdIsOpenedAnewAndWhatItHadIsFree) {
  backlog({"SD-1", "SD-2"});
  const auto stale = join("ann");
  take("ann", "SD-1");
  take("ann", "SD-2");
  advance(30s);
  auto options = session_of("ann");
  options.label = "another face";
  options.exclusive = true;
  const auto anew = must(sessions().open(options, by("bob")));
  EXPECT_GT(anew.token, stale.token);
  const auto info = session("ann");
  EXPECT_EQ(info.holder.name + ", " + info.label, "bob, another face");
  EXPECT_TRUE(info.exclusive);
  EXPECT_EQ(info.opened_at, now());
  EXPECT_EQ(info.claims, 0);
  EXPECT_EQ(state("SD-1"), ItemState::open);
  EXPECT_EQ(state("SD-2"), ItemState::open);
  EXPECT_EQ(claim("SD-1").end_reason, "expired");
  EXPECT_TRUE(lost(beat(stale), LostReason::superseded));
  EXPECT_EQ(story("ann"), (Words{"opened", "expired", "opened"}));
}

TEST_P(SessionOpenTest, AClosedOrRevokedIdMayBeOpenedAgain) {
  const auto first = join("ann");
  must(sessions().close("ann", first.token));
  const auto second = join("ann");
  EXPECT_GT(second.token, first.token) << "also where the clock stands still";
  EXPECT_FALSE(second.replayed);
  must(sessions().revoke("ann", "make way"));
  EXPECT_GT(join("ann").token, second.token);
  EXPECT_EQ(status("ann"), SessionState::active);
  EXPECT_FALSE(session("ann").ended_at);
}

TEST_P(SessionOpenTest, Promise13_AnOpenRepeatedGivesTheFirstAnswerAgain) {
  auto options = session_of("ann");
  options.request_id = "once";
  const auto first = must(sessions().open(options, by("ann")));
  advance(10s);
  const auto before = dump();
  const auto again = must(sessions().open(options, by("ann")));
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.token, first.token);
  EXPECT_EQ(again.expires_at, first.expires_at) << "what remains, not more";
  EXPECT_EQ(dump(), before);
  ASSERT_TRUE(ok(sessions().close("ann", first.token)));
  EXPECT_TRUE(lost(sessions().open(options, by("ann")), LostReason::finished));
  EXPECT_EQ(status("ann"), SessionState::released) << "a repeated call opens nothing anew";
}

TEST_P(SessionOpenTest, Promise13_ARepeatedOpenOfAnEndedSessionIsLost) {
  auto options = session_of("ann");
  options.request_id = "once";
  must(sessions().open(options, by("ann")));
  advance(30s);
  EXPECT_TRUE(lost(sessions().open(options, by("ann")), LostReason::expired));
  join("ann");
  EXPECT_TRUE(fails(sessions().open(options, by("ann")), Errc::lost)) << "another session has the id by now";
  options.id = "bob";
  options.request_id = "twice";
  must(sessions().open(options, by("ann")));
  must(sessions().revoke("bob", "stop"));
  EXPECT_TRUE(lost(sessions().open(options, by("ann")), LostReason::revoked));
}

TEST_P(SessionOpenTest, NothingGetsPastTheGreatestAge) {
  auto options = session_of("ann");
  options.max_age = 70s;
  const auto ann = must(sessions().open(options, by("ann")));
  advance(25s);
  ASSERT_TRUE(ok(beat(ann)));
  advance(25s);
  EXPECT_EQ(must(beat(ann)).expires_at, now() + 20s) << "not the whole ttl: the end is near";
  EXPECT_EQ(must(sessions().park("ann", ann.token, 1h)).expires_at, now() + 20s);
  EXPECT_EQ(must(progress(ann)).expires_at, now() + 20s);
  advance(20s - 1us);
  EXPECT_EQ(status("ann"), SessionState::active);
  EXPECT_TRUE(ok(beat(ann)));
  advance(1us);
  EXPECT_EQ(status("ann"), SessionState::stale);
  EXPECT_TRUE(lost(beat(ann), LostReason::expired));
  options.id = "short";
  options.max_age = 10s;
  EXPECT_EQ(must(sessions().open(options, by("ann"))).expires_at, now() + 10s)
      << "an age below the ttl counts from the start";
}

}  // namespace
}  // namespace leasehold::support

// Lists of sessions, and sessions in other views.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class SessionListTest : public SessionStoreTest {
 protected:
  void open_at(const std::string& id, const std::string& codebase, const std::string& track) {
    auto options = session_of(id);
    options.codebase = codebase;
    options.track = track;
    must(sessions().open(options, by(id)));
  }
  Words listed(const SessionFilter& filter = {}) {
    Words ids;
    for (const auto& info : must(sessions().list(filter))) ids.push_back(info.id);
    return ids;
  }
};
LEASEHOLD_ON_BOTH_STORES(SessionListTest);

TEST_P(SessionListTest, ThoseSilentForLongestComeLast) {
  const auto ann = join("ann");
  join("bob");
  advance(10s);
  join("cid");
  EXPECT_EQ(listed(), (Words{"cid", "ann", "bob"})) << "equal ones by name";
  advance(1s);
  must(beat(ann));
  EXPECT_EQ(listed(), (Words{"ann", "cid", "bob"}));
  EXPECT_EQ(listed({.max = 2}), (Words{"ann", "cid"}));
  advance(1h);
  EXPECT_EQ(listed(), (Words{"ann", "cid", "bob"})) << "stale ones stay until they are taken back";
}

TEST_P(SessionListTest, HostCodebaseTrackAndStatusNarrowIt) {
  open_at("ann", "parser", "backend");
  open_at("bob", "parser", "frontend");
  open_at("cid", "lexer", "backend");
  EXPECT_EQ(listed({.host = "host-of-bob"}), Words{"bob"});
  EXPECT_EQ(listed({.codebase = "parser"}), (Words{"ann", "bob"}));
  EXPECT_EQ(listed({.track = "backend"}), (Words{"ann", "cid"}));
  EXPECT_EQ(listed({.codebase = "parser", .track = "backend"}), Words{"ann"});
  EXPECT_EQ(listed({.codebase = "nothing"}), Words{});
  must(sessions().park("bob", session("bob").token, 1h));
  advance(20s);
  must(sessions().heartbeat("cid", session("cid").token));
  advance(10s);
  join("dan");
  must(sessions().close("dan", session("dan").token));
  EXPECT_EQ(listed({.state = SessionState::stale}), Words{"ann"});
  EXPECT_EQ(listed({.state = SessionState::idle}), (Words{"bob", "cid"}));
  EXPECT_EQ(listed({.state = SessionState::active}), Words{});
  EXPECT_EQ(listed({.state = SessionState::released}), Words{"dan"});
  EXPECT_EQ(listed({.state = SessionState::idle, .max = 1}), Words{"bob"}) << "the limit counts what is shown";
}

TEST_P(SessionListTest, ThoseThatEndedAreShownOnRequest) {
  const auto ann = join("ann");
  join("bob");
  must(sessions().close("ann", ann.token));
  EXPECT_EQ(listed(), Words{"bob"});
  advance(30s);
  must(store().recover());
  EXPECT_EQ(listed(), Words{});
  EXPECT_EQ(listed({.released = true}), (Words{"ann", "bob"}));
}

TEST_P(SessionListTest, ItShowsWhatASessionHasAndTookLast) {
  backlog({"SD-1", "SD-2", "SD-3"});
  join("ann");
  take("ann", "SD-2");
  advance(1s);
  const auto last = take("ann", "SD-1");
  advance(1s);
  const auto info = must(sessions().list()).at(0);
  EXPECT_EQ(info.claims, 2);
  EXPECT_EQ(info.item, "SD-1");
  EXPECT_EQ(info.item_taken_at, now() - 1s);
  must(release(last));
  EXPECT_EQ(session("ann").claims, 1);
  EXPECT_EQ(session("ann").item, "SD-2");
  EXPECT_EQ(session("ann").item_taken_at, now() - 2s);
}

TEST_P(SessionListTest, TheViewOfLeasesShowsSessionsAndItems) {
  backlog({"SD-1"});
  join("ann");
  take("ann", "SD-1");
  const auto seen = [&](const std::string& kind) {
    const auto row =
        under_test().rows("SELECT key, holder FROM " + under_test().view("leases") + " WHERE kind = '" + kind + "'");
    return row.size() == 1 ? *row[0][0] + " " + *row[0][1] : std::to_string(row.size()) + " rows";
  };
  EXPECT_EQ(seen("session"), "ann ann");
  EXPECT_EQ(seen("item"), "SD-1 ann");
  EXPECT_EQ(status_of(store()).held_leases, 2);
  advance(30s);
  EXPECT_EQ(status_of(store()).held_leases, 0);
  EXPECT_EQ(status_of(store()).expired_leases, 2);
}

TEST_P(SessionListTest, PruneForgetsOldSessionsAndEndedClaimsAndNothingAlive) {
  backlog({"SD-1", "SD-2"});
  const auto closed = join("closed");
  must(release(take("closed", "SD-1")));
  must(sessions().close("closed", closed.token));
  join("silent");
  join("silent-with-item");
  const auto stale = take("silent-with-item", "SD-2");
  auto living = session_of("living");
  living.ttl = 240h;
  must(sessions().open(living, by("living")));
  const auto held = take("living", "SD-1");
  advance(48h);
  ASSERT_TRUE(ok(store().prune(1h)));
  EXPECT_TRUE(fails(sessions().show("closed"), Errc::not_found));
  EXPECT_TRUE(fails(sessions().show("silent"), Errc::not_found));
  EXPECT_EQ(status("silent-with-item"), SessionState::stale) << "a takeover has to name the previous owner";
  EXPECT_EQ(state("SD-2"), ItemState::stale);
  EXPECT_EQ(must(claims().list({.ended = true})).size(), 2U) << "the active ones";
  EXPECT_EQ(item("SD-1").session, "living");
  EXPECT_TRUE(ok(release(held)));
  EXPECT_TRUE(ok(release(stale))) << "it was not taken over";
  ASSERT_TRUE(ok(store().prune(1h)));
  EXPECT_EQ(state("SD-1"), ItemState::open);
}

TEST_P(SessionListTest, Promise03_TokensGrowOnAfterAPrune) {
  backlog({"SD-1"});
  const auto ann = join("ann");
  const auto claim = take("ann", "SD-1");
  must(release(claim));
  must(sessions().close("ann", ann.token));
  advance(1us);
  ASSERT_TRUE(ok(store().prune(0s)));
  EXPECT_GT(join("ann").token, ann.token);
  EXPECT_GT(take("ann", "SD-1").token, claim.token);
}

}  // namespace
}  // namespace leasehold::support

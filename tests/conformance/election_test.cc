// Elections: of all candidates one leads, until it resigns or is lost; every term is greater than the one before.
#include <gtest/gtest.h>

#include <mutex>

#include "support/gate.h"
#include "support/lock_family_fixture.h"
#include "support/pictures.h"

namespace leasehold::support {
namespace {

class ElectionTest : public LockFamilyTest {
 protected:
  [[nodiscard]] Election election() { return {locks(), "leader"}; }

  /// Campaigns on a thread of its own, from the next place in line on.
  class Candidate {
   public:
    Candidate(ElectionTest& test, const CampaignOptions& options, const Call& call) {
      const auto places = status_of(test.store()).waiters + 1;
      thread_ = std::jthread(
          [this, election = test.election(), options, call] { answer_ = election.campaign(options, call); });
      EXPECT_TRUE(test.in_line(places));
    }
    /// Once it was elected or refused.
    Result<Leadership>& answer() {
      if (thread_.joinable()) thread_.join();
      return *answer_;
    }

   private:
    std::optional<Result<Leadership>> answer_;
    std::jthread thread_;
  };
};
LEASEHOLD_ON_BOTH_STORES(ElectionTest);

TEST_P(ElectionTest, TheFirstCandidateLeads) {
  EXPECT_TRUE(fails(election().leader(), Errc::not_found)) << "there was never a leader";
  const auto ann = election().campaign({}, by("ann"));
  ASSERT_TRUE(ok(ann));
  EXPECT_FALSE(ann->stop_token().stop_requested());
  EXPECT_FALSE(ann->lost().has_value());
  const auto leader = must(election().leader());
  EXPECT_EQ(leader.state, LeaseState::running);
  EXPECT_EQ(leader.holder.name, "ann");
  EXPECT_EQ(leader.token, ann->term());
}

TEST_P(ElectionTest, ResigningAgainGivesTheFirstAnswerAgain) {
  auto ann = must(election().campaign({}, by("ann")));
  must(locks().revoke("leader", "step down"));
  EXPECT_TRUE(lost(ann.resign(), LostReason::revoked));
  EXPECT_TRUE(lost(ann.resign(), LostReason::revoked));
}

TEST_P(ElectionTest, ACandidateThatDoesNotWaitLearnsTheLeader) {
  const auto ann = election().campaign({}, by("ann"));
  ASSERT_TRUE(ok(ann));
  const CampaignOptions hasty{.wait = 0s};
  const auto refused = election().campaign(hasty, by("bob"));
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(refused.error().held_by->holder.name, "ann");
}

TEST_P(ElectionTest, Promise03_WhenTheLeaderResignsTheNextOneLeadsWithAGreaterTerm) {
  auto ann = election().campaign({}, by("ann"));
  ASSERT_TRUE(ok(ann));
  Candidate bob(*this, {}, by("bob"));
  Candidate cat(*this, {}, by("cat"));
  const auto term = ann->term();
  ASSERT_TRUE(ok(ann->resign()));
  ASSERT_TRUE(ok(bob.answer()));
  EXPECT_GT(bob.answer()->term(), term);
  EXPECT_EQ(must(election().leader()).holder.name, "bob") << "in the order in which they came";
  ASSERT_TRUE(ok(bob.answer()->resign()));
  ASSERT_TRUE(ok(cat.answer()));
  EXPECT_GT(cat.answer()->term(), bob.answer()->term());
}

TEST_P(ElectionTest, ADestroyedLeadershipResigns) {
  { ASSERT_TRUE(ok(election().campaign({}, by("ann")))); }
  EXPECT_EQ(must(election().leader()).end_reason, "released");
}

TEST_P(ElectionTest, ALeaderKeepsItselfElected) {
  auto ann = election().campaign({.ttl = 300ms}, by("ann"));
  ASSERT_TRUE(ok(ann));
  Gate extended;
  ann->on_extended([&](const Grant&) { extended.open(); });
  EXPECT_TRUE(extended.wait());
}

TEST_P(ElectionTest, Promise05_ARevokedLeaderLearnsOfTheRevoke) {
  auto ann = election().campaign({.ttl = 300ms}, by("ann"));
  ASSERT_TRUE(ok(ann));
  Gate stopped;
  const std::stop_callback on_stop(ann->stop_token(), [&] { stopped.open(); });
  ASSERT_TRUE(ok(locks().revoke("leader", "step down")));
  ASSERT_TRUE(stopped.wait());
  ASSERT_TRUE(ann->lost().has_value());
  EXPECT_EQ(ann->lost()->lost_reason, LostReason::revoked);
  EXPECT_FALSE(ann->resign().ok()) << "there is nothing left to give back";
}

TEST_P(ElectionTest, Promise06_ASilentLeaderIsFollowedByTheNext) {
  // Its process has died, so no heartbeat comes.
  const auto dead = take(locks(), "leader", {.ttl = 30s}, by("ann"));
  Candidate bob(*this, {}, by("bob"));
  advance(30s);
  ASSERT_TRUE(ok(bob.answer()));
  EXPECT_GT(bob.answer()->term(), dead.token);
}

TEST_P(ElectionTest, AfterASilentLeaderNoneLeadsUntilTheDelayIsOver) {
  take(locks(), "leader", delayed(AcquireOptions{.ttl = 10s}, 5s), by("ann"));
  advance(12s);
  const CampaignOptions hasty{.wait = 0s};
  const auto refused = election().campaign(hasty, by("bob"));
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(refused.error().retry_at, test_start + 15s);
  advance(3s);
  EXPECT_TRUE(ok(election().campaign(hasty, by("bob"))));
}

TEST_P(ElectionTest, ACampaignSetsTheDelayAfterItsTerm) {
  auto ann = election().campaign({.lock_delay = 5s}, by("ann"));
  ASSERT_TRUE(ok(ann));
  ASSERT_TRUE(ok(locks().revoke("leader", "step down")));
  EXPECT_TRUE(must(election().leader()).delayed);
  EXPECT_EQ(must(election().leader()).free_at, now() + 5s);
}

TEST_P(ElectionTest, ACandidateMayWithdraw) {
  const auto ann = election().campaign({}, by("ann"));
  ASSERT_TRUE(ok(ann));
  std::stop_source stop;
  auto call = by("bob");
  call.stop = stop.get_token();
  Candidate bob(*this, {}, call);
  stop.request_stop();
  EXPECT_TRUE(fails(bob.answer(), Errc::held));
  EXPECT_EQ(status_of(store()).waiters, 0);
}

TEST_P(ElectionTest, ALeaderCannotCampaignAgain) {
  const auto ann = election().campaign({}, by("ann"));
  ASSERT_TRUE(ok(ann));
  EXPECT_TRUE(fails(election().campaign({}, by("ann")), Errc::reentry)) << "it would wait for itself";
}

TEST_P(ElectionTest, ObserversSeeEveryLeader) {
  Pictures observed(
      [election = election()](std::stop_token stop, const Locks::Seen& seen) { return election.observe(stop, seen); });
  EXPECT_EQ(observed.after(1), Names({"not_found"}));
  auto ann = election().campaign({}, by("ann"));
  ASSERT_TRUE(ok(ann));
  EXPECT_EQ(observed.after(2).back(), "running ann");
  ASSERT_TRUE(ok(ann->resign()));
  EXPECT_EQ(observed.after(3).back(), "free ann");
  const auto bob = election().campaign({}, by("bob"));
  ASSERT_TRUE(ok(bob));
  EXPECT_EQ(observed.after(4).back(), "running bob");
}

LEASEHOLD_ROLE(leads_in_turn) {
  auto store = Store::open(env("URL"));
  if (!store) return 1;
  const Election election(store->locks(), "leader");
  for (int turn = 0; turn < 5; ++turn) {
    auto leadership = election.campaign({.wait = 60s});
    if (!leadership || !leadership->resign()) return 2;
  }
  return 0;
}

TEST_P(ElectionTest, ProcessesLeadOneAfterTheOther) {
  TestStore real(GetParam(), {.real_time = true});
  std::vector<Process> processes;
  for (int i = 0; i < 3; ++i) processes.push_back(Process::self("leads_in_turn", {{"URL", real.url()}}));
  for (auto& process : processes) EXPECT_EQ(process.finish(60s).exit_code, 0);
  Token latest;
  std::string expected = "acquired";
  const auto events = must(real.open().events({.max = 1000}));
  EXPECT_EQ(events.size(), 30U);
  for (const auto& event : events) {
    EXPECT_EQ(event.what, expected);
    const bool elected = event.what == "acquired";
    EXPECT_TRUE(elected ? event.token > latest : event.token == latest) << "terms grow";
    latest = event.token;
    expected = elected ? "released" : "acquired";
  }
}

}  // namespace
}  // namespace leasehold::support

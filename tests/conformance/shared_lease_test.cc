// One lease for many claims: what lives and dies together. Promises 4, 7 and 9.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class SharedLeaseTest : public StoreTest {
 protected:
  SharedLease open_as(const std::string& name, Duration ttl = 30s) { return must(jobs().open_lease(ttl, by(name))); }
  Result<JobGrant> attach(const SharedLease& lease, int max = 1) {
    return jobs().claim("q", {.max = max}, {.lease = lease});
  }
};
LEASEHOLD_ON_BOTH_STORES(SharedLeaseTest);

TEST_P(SharedLeaseTest, OneHeartbeatKeepsAllItsJobs) {
  add_many(jobs(), "q", 4);
  const auto lease = open_as("worker");
  const auto first = must(attach(lease));
  advance(20s);
  const auto more = must(attach(lease, 3));
  const auto extended = must(jobs().extend(lease));
  EXPECT_EQ(extended.heartbeat.expires_at, now() + 30s);
  EXPECT_TRUE(extended.cancelled.empty());
  advance(25s);
  EXPECT_EQ(state_of(jobs(), first.jobs[0].id), JobState::running);
  EXPECT_EQ(state_of(jobs(), more.jobs[2].id), JobState::running);
  EXPECT_EQ(name_of(must(jobs().show(first.jobs[0].id)).holder), "worker");
}

TEST_P(SharedLeaseTest, ItOutlivesItsJobs) {
  add_many(jobs(), "q", 2);
  const auto lease = open_as("worker");
  const auto job = must(attach(lease)).jobs[0];
  must(jobs().complete(job.id, job.token));
  EXPECT_TRUE(ok(jobs().extend(lease)));
  EXPECT_TRUE(ok(attach(lease)));
}

TEST_P(SharedLeaseTest, AllItsJobsReturnWhenItExpires) {
  add_many(jobs(), "q", 3);
  const auto lease = open_as("worker");
  const auto grant = must(attach(lease, 2));
  const auto other = must(attach(lease));
  advance(31s);
  EXPECT_TRUE(lost(jobs().extend(lease), LostReason::expired));
  EXPECT_EQ(must(store().recover()).jobs, 3);
  EXPECT_TRUE(fails(jobs().complete(other.jobs[0].id, other.token), Errc::lost));
  EXPECT_EQ(must(jobs().show(grant.jobs[0].id)).crashes, 0) << "three suspects, none is charged";
  EXPECT_TRUE(fails(attach(lease), Errc::lost)) << "an ended lease holds nothing new";
}

TEST_P(SharedLeaseTest, OnlyTheOpenerCanAttachOrExtend) {
  add(jobs(), "q");
  auto lease = open_as("worker");
  lease.instance = "somebody else";
  const auto rows = dump();
  EXPECT_TRUE(fails(attach(lease), Errc::lost));
  EXPECT_FALSE(jobs().extend(lease).ok());
  EXPECT_FALSE(jobs().close(lease).ok());
  EXPECT_EQ(dump(), rows);
}

TEST_P(SharedLeaseTest, ClosingGivesTheRestBackUncharged) {
  const auto ids = add_many(jobs(), "q", 2);
  const auto lease = open_as("worker");
  const auto grant = must(attach(lease, 2));
  must(jobs().complete(ids[0], grant.token));
  ASSERT_TRUE(ok(jobs().close(lease)));
  EXPECT_EQ(state_of(jobs(), ids[0]), JobState::completed);
  EXPECT_EQ(state_of(jobs(), ids[1]), JobState::available);
  EXPECT_EQ(must(jobs().show(ids[1])).crashes, 0);
  EXPECT_TRUE(fails(jobs().complete(ids[1], grant.token), Errc::lost));
  EXPECT_FALSE(jobs().extend(lease).ok());
}

TEST_P(SharedLeaseTest, TheLeaseReportsACancelRequest) {
  add_many(jobs(), "q", 2);
  const auto lease = open_as("worker");
  const auto grant = must(attach(lease, 2));
  must(jobs().cancel(grant.jobs[1].id));
  EXPECT_EQ(must(jobs().extend(lease)).cancelled, std::vector<JobId>{grant.jobs[1].id});
}

TEST_P(SharedLeaseTest, ASuspectGetsALeaseOfItsOwn) {
  add_many(jobs(), "q", 2);
  must(attach(open_as("first"), 2));
  advance(31s);
  must(store().recover());
  const auto lease = open_as("second");
  const auto suspect = must(attach(lease, 10));
  EXPECT_TRUE(suspect.solo);
  EXPECT_EQ(suspect.jobs.size(), 1U);
  EXPECT_NE(suspect.lease_id, lease.id);
}

}  // namespace
}  // namespace leasehold::support

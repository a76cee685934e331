// If the process of a holder on this host is gone, no caller waits for its ttl.
#include <gtest/gtest.h>

#include "support/dead_holder.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobDeadProcessTest : public StoreTest {
 protected:
  Jobs jobs() { return store().jobs(); }
  std::int64_t reaped_leases() {
    for (const auto& total : must(store().recovery_stats()).totals) {
      if (total.reason == "process_gone") return total.leases;
    }
    return 0;
  }
};
LEASEHOLD_ON_BOTH_STORES(JobDeadProcessTest);

TEST_P(JobDeadProcessTest, ItsJobIsClaimedAtOnce) {
  const auto id = add(jobs(), "mail");
  const auto before = claim(jobs(), "mail", {.ttl = 1h}, {.holder = dead_holder("ann")});
  const auto after = claim_one(jobs(), "mail", "bob");
  EXPECT_EQ(after.id, id);
  EXPECT_GT(after.token, before.token);
  EXPECT_TRUE(lost(jobs().complete(id, before.token), LostReason::expired));
  EXPECT_EQ(must(jobs().show(id)).crashes, 1) << "a crash, as if its lease had run out";
  EXPECT_EQ(reaped_leases(), 1);
  const auto event = must(store().events()).back();
  EXPECT_EQ(event.what + ": " + event.detail, "reclaimed: 1 job, process gone");
}

TEST_P(JobDeadProcessTest, ItsPlaceInASerialQueueIsFree) {
  must(store().queues().set("merge", {.max_running = 1}));
  add_many(jobs(), "merge", 2);
  claim(jobs(), "merge", {.ttl = 1h}, {.holder = dead_holder("ann")});
  EXPECT_TRUE(ok(jobs().claim("merge", claiming(), by("bob"))));
}

TEST_P(JobDeadProcessTest, TheLivingAndThoseOfOtherHostsKeepTheirs) {
  add_many(jobs(), "mail", 3);
  claim(jobs(), "mail", {.ttl = 1h}, {.holder = Holder::self("me")});
  auto elsewhere = dead_holder("ann");
  elsewhere.boot_id = "another boot";
  claim(jobs(), "mail", {.ttl = 1h}, {.holder = elsewhere});
  auto says_too_little = dead_holder("cid");
  says_too_little.process_start = 0;
  claim(jobs(), "mail", {.ttl = 1h}, {.holder = says_too_little});
  EXPECT_TRUE(fails(jobs().claim("mail"), Errc::empty));
  EXPECT_EQ(must(store().recover()).leases, 0);
  EXPECT_EQ(reaped_leases(), 0);
}

TEST_P(JobDeadProcessTest, RecoverFindsItToo) {
  add_many(jobs(), "mail", 3);
  claim(jobs(), "mail", {.max = 3, .ttl = 1h}, {.holder = dead_holder("ann")});
  const auto recovered = must(store().recover());
  EXPECT_EQ(recovered.leases, 1);
  EXPECT_EQ(recovered.jobs, 3);
  EXPECT_EQ(must(store().recover()).leases, 0) << "nothing is left";
  EXPECT_TRUE(claim(jobs(), "mail", claiming(3), by("bob")).solo) << "it is unknown which of them did it";
}

}  // namespace
}  // namespace leasehold::support

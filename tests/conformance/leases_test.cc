// Store::leases: all that is held, whatever it is.
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class LeasesTest : public SessionStoreTest {
 protected:
  /// "lock deploy", in the order in which they are reported.
  Words reported(int max = 1000) {
    Words words;
    for (const auto& lease : must(store().leases({.max = max}))) words.push_back(lease.kind + " " + lease.key);
    return words;
  }
};
LEASEHOLD_ON_BOTH_STORES(LeasesTest);

TEST_P(LeasesTest, ListsAllThatIsHeldByExpiry) {
  EXPECT_EQ(reported(), Words{});
  const auto job = must(jobs().enqueue("mail", {.payload = "{}"})).id;
  must(store().chunks().plan("orders", std::vector<PlannedChunk>{{.key = "1", .spec = "{}"}}));
  must(locks().acquire("deploy", {.ttl = 10s}, {.holder = holder("ana")}));
  must(jobs().claim("mail", {.ttl = 20s}, {.holder = holder("ben")}));
  must(store().chunks().claim("orders", {.ttl = 25s}, {.holder = holder("cat")}));
  backlog({"SD-1"});
  join("dan");
  take("dan", "SD-1");
  const Words all = {"lock deploy", "job " + std::to_string(job), "chunk orders/1", "item SD-1", "session dan"};
  EXPECT_EQ(reported(), all);
  EXPECT_EQ(reported(2), Words(all.begin(), all.begin() + 2));
  const auto before = dump();
  EXPECT_EQ(reported(), all);
  EXPECT_EQ(dump(), before) << "looking changes nothing";
}

TEST_P(LeasesTest, ShowsHolderStartAndExpiry) {
  const auto grant = must(locks().acquire("deploy", {.ttl = 10s}, {.holder = holder("ana")}));
  advance(3s);
  const auto held = must(store().leases()).at(0);
  EXPECT_EQ(held.state, LeaseState::running);
  EXPECT_EQ(held.holder.name, "ana");
  EXPECT_EQ(held.token, grant.token);
  EXPECT_EQ(held.ttl, 10s);
  EXPECT_EQ(held.heartbeat_age(), 3s);
  EXPECT_EQ(held.retry_in(), 7s);
  EXPECT_EQ(held.store_now, now());
  advance(7s);
  EXPECT_EQ(must(store().leases()).at(0).state, LeaseState::expired);
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  EXPECT_EQ(reported(), Words{});
}

TEST_P(LeasesTest, AFilterByKindStateAndHolderLimitsTheList) {
  must(jobs().enqueue("mail", {.payload = "{}"}));
  must(locks().acquire("deploy", {.ttl = 10s}, {.holder = holder("ana")}));
  must(locks().acquire("backup", {.ttl = 1h}, {.holder = holder("ben")}));
  must(jobs().claim("mail", {.ttl = 1h}, {.holder = holder("ana")}));
  advance(11s);
  const auto keys = [&](const LeaseFilter& filter) {
    Words words;
    for (const auto& lease : must(store().leases(filter))) words.push_back(lease.key);
    return words;
  };
  EXPECT_EQ(keys({.kind = "lock"}), (Words{"deploy", "backup"}));
  EXPECT_EQ(keys({.state = LeaseState::expired}), Words{"deploy"});
  EXPECT_EQ(keys({.held_by = "ana"}), (Words{"deploy", "1"}));
  EXPECT_EQ(keys({.state = LeaseState::running, .held_by = "ana"}), Words{"1"});
  EXPECT_EQ(keys({.kind = "chunk"}), Words{});
  EXPECT_EQ(keys({.held_by = "nobody"}), Words{});
  const auto first = must(store().leases({.kind = "lock", .max = 1}));
  EXPECT_EQ(keys({.kind = "lock", .max = 1, .page = first.next.value()}), Words{"backup"});
  EXPECT_EQ(store().leases({.kind = "door"}).error().code, Errc::invalid_argument);
  EXPECT_EQ(store().leases({.state = LeaseState::free}).error().code, Errc::invalid_argument);
}

TEST_P(LeasesTest, ALimitIsAtLeastOne) { EXPECT_EQ(store().leases({.max = 0}).error().code, Errc::invalid_argument); }

}  // namespace
}  // namespace leasehold::support

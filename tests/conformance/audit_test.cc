// The audit log.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class AuditTest : public StoreTest {
 protected:
  Access access() { return store().access(); }
  void record(const std::string& by, const std::string& act, const std::string& key) {
    EXPECT_TRUE(ok(access().record({.by = by, .act = act, .key = key, .outcome = "done"})));
  }
  std::string keys(const AuditFilter& filter) {
    std::string all;
    for (const auto& entry : must(access().audit(filter))) all += entry.key + " ";
    return all;
  }
};
LEASEHOLD_ON_BOTH_STORES(AuditTest);

TEST_P(AuditTest, AnEntryIsKeptAsItWasRecorded) {
  const AuditEntry recorded{.id = 17,
                            .by = "ann",
                            .act = "queue.pause",
                            .key = "mail",
                            .outcome = "not_found",
                            .detail = "the provider is down",
                            .request_id = "r-1"};
  ASSERT_TRUE(ok(access().record(recorded)));
  const auto entries = must(access().audit());
  ASSERT_EQ(entries.size(), 1U);
  const auto& entry = entries.at(0);
  EXPECT_NE(entry.id, 17) << "the store numbers the entries";
  EXPECT_EQ(entry.at, now());
  EXPECT_EQ(entry.by, "ann");
  EXPECT_EQ(entry.act, "queue.pause");
  EXPECT_EQ(entry.key, "mail");
  EXPECT_EQ(entry.outcome, "not_found");
  EXPECT_EQ(entry.detail, "the provider is down");
  EXPECT_EQ(entry.request_id, "r-1");
}

TEST_P(AuditTest, TheNewestComesFirstInPages) {
  for (int i = 0; i < 5; ++i) record("ann", "queue.pause", std::to_string(i));
  const auto first = must(access().audit({.max = 2}));
  EXPECT_EQ(keys({.max = 2}), "4 3 ");
  EXPECT_EQ(keys({.max = 2, .page = first.next.value_or("")}), "2 1 ");
  EXPECT_EQ(keys({}), "4 3 2 1 0 ");
  EXPECT_FALSE(must(access().audit({.max = 5})).next);
}

TEST_P(AuditTest, FiltersNarrowIt) {
  record("ann", "queue.pause", "a");
  advance(1min);
  record("bob", "queue.pause", "b");
  advance(1min);
  record("bob", "job.remove", "a");
  EXPECT_EQ(keys({.by = "bob"}), "a b ");
  EXPECT_EQ(keys({.act = "queue.pause"}), "b a ");
  EXPECT_EQ(keys({.by = "bob", .key = "a"}), "a ");
  EXPECT_EQ(keys({.since = now() - 1min}), "a b ") << "from that moment on";
  EXPECT_EQ(keys({.until = now() - 1min}), "a ") << "before that moment";
  EXPECT_EQ(keys({.since = now() - 1min, .until = now()}), "b ");
}

TEST_P(AuditTest, BadEntriesAreRefused) {
  EXPECT_TRUE(fails(access().record({.by = "ann", .outcome = "done"}), Errc::invalid_argument));
  EXPECT_TRUE(fails(access().record({.by = "ann", .act = "queue.pause"}), Errc::invalid_argument));
  EXPECT_TRUE(fails(access().record({.by = "ann", .act = "a", .outcome = "done", .detail = std::string(5000, 'x')}),
                    Errc::invalid_argument));
  EXPECT_TRUE(must(access().audit()).empty());
}

TEST_P(AuditTest, PruneRemovesItWithTheHistory) {
  record("ann", "queue.pause", "old");
  advance(2h);
  record("ann", "queue.pause", "new");
  EXPECT_EQ(must(store().prune_preview(1h)).audit, 1);
  EXPECT_EQ(must(store().prune(1h)).audit, 1);
  EXPECT_EQ(keys({}), "new ");
}

TEST_P(AuditTest, PruneRemovesTokensThatEndedLongAgo) {
  const auto revoked = must(access().create_token({.name = "revoked"}));
  must(access().create_token({.name = "expired", .expires_in = 1h}));
  const auto late = must(access().create_token({.name = "revoked late"}));
  must(access().create_token({.name = "active"}));
  must(access().revoke_token(revoked.info.id));
  advance(3h);
  must(access().revoke_token(late.info.id));
  EXPECT_EQ(must(store().prune_preview(1h)).tokens, 2);
  EXPECT_EQ(must(store().prune(1h)).tokens, 2);
  const auto left = must(access().tokens());
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left.at(0).name, "revoked late");
  EXPECT_EQ(left.at(1).name, "active");
}

}  // namespace
}  // namespace leasehold::support

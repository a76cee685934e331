// Promise 14 for a claimed item: while a user's own transaction has fenced its token, no session takes the item over.
#include <gtest/gtest.h>

#include "leasehold/postgres.h"
#include "leasehold/sqlite.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class ClaimFenceTest : public SessionStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    backlog({"SD-1", "SD-2"});
    ann_ = join("ann");
    if (GetParam() == StoreKind::sqlite) {
      file_ = std::make_unique<SqliteFile>(under_test().path());
    } else {
      postgres_.reset(PQconnectdb(under_test().database_url().c_str()));
    }
  }
  void TearDown() override {
    file_.reset();
    postgres_.reset();
  }

  void run(const std::string& sql) {
    if (file_) return file_->run(sql);
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(postgres_.get(), sql.c_str()), &PQclear);
    ASSERT_EQ(PQresultStatus(result.get()), PGRES_COMMAND_OK) << sql << ": " << PQerrorMessage(postgres_.get());
  }
  void begin() { run(file_ ? "BEGIN IMMEDIATE" : "BEGIN"); }
  Result<void> fence_here(const Claim& claim) {
    return file_ ? fence_claim(file_->handle(), claim.key, claim.token)
                 : fence_claim(postgres_.get(), claim.key, claim.token, under_test().schema());
  }
  /// In a transaction that does nothing else.
  Result<void> fence(const Claim& claim) {
    begin();
    auto fenced = fence_here(claim);
    run("ROLLBACK");
    return fenced;
  }

  Grant ann_;

 private:
  std::unique_ptr<SqliteFile> file_;
  std::unique_ptr<PGconn, decltype(&PQfinish)> postgres_{nullptr, &PQfinish};
};
LEASEHOLD_ON_BOTH_STORES(ClaimFenceTest);

TEST_P(ClaimFenceTest, Promise14_TheCurrentTokenPassesAndNoOther) {
  const auto mine = take("ann", "SD-1");
  EXPECT_TRUE(ok(fence(mine)));
  EXPECT_TRUE(fails(fence_here(mine), Errc::invalid_argument)) << "outside of a transaction it would promise nothing";
  EXPECT_TRUE(lost(fence({.key = "SD-1", .token = Token{1}}), LostReason::superseded));
  EXPECT_TRUE(fails(fence({.key = "SD-2", .token = mine.token}), Errc::lost)) << "of another item";
  EXPECT_FALSE(fence({.key = "SD-9", .token = mine.token}).ok());
  advance(30s);
  EXPECT_TRUE(ok(fence(mine))) << "stale, but not taken over";
  join("bob");
  const auto next = take("bob", "SD-1");
  EXPECT_TRUE(lost(fence(mine), LostReason::superseded));
  EXPECT_TRUE(ok(fence(next)));
}

TEST_P(ClaimFenceTest, Promise14_TheFenceOfAnEndedGrantShowsHowItEnded) {
  const auto released = take("ann", "SD-1");
  must(release(released));
  EXPECT_TRUE(lost(fence(released), LostReason::finished));
  const auto done = take("ann", "SD-1");
  must(items().done("SD-1", done.token));
  EXPECT_TRUE(lost(fence(done), LostReason::finished));
  const auto revoked = take("ann", "SD-2");
  must(claims().revoke("SD-2", "enough"));
  EXPECT_TRUE(lost(fence(revoked), LostReason::revoked));
  join("bob");
  const auto expired = take("bob", "SD-2");
  advance(30s);
  must(store().recover());
  EXPECT_TRUE(lost(fence(expired), LostReason::expired));
}

TEST_P(ClaimFenceTest, Promise14_TakeoverRevokeAndCloseWaitForTheTransaction) {
  const auto mine = take("ann", "SD-1");
  advance(20s);
  join("bob");
  advance(10s);
  const auto hurried = open({.call_timeout = 300ms});
  begin();
  ASSERT_TRUE(ok(fence_here(mine)));
  // PostgreSQL sees that the holder is still writing; a SQLite file has one writer at a time.
  const auto refused = hurried.claims().take("SD-1", "bob");
  ASSERT_FALSE(refused.ok()) << "taken over under a fence";
  EXPECT_TRUE(refused.error().code == Errc::busy || refused.error().code == Errc::unavailable)
      << describe(refused.error());
  EXPECT_FALSE(hurried.claims().release("SD-1", "ann", mine.token).ok());
  EXPECT_FALSE(hurried.claims().revoke("SD-1", "now").ok());
  EXPECT_FALSE(hurried.sessions().close("ann", ann_.token).ok());
  EXPECT_FALSE(hurried.sessions().open(session_of("ann"), by("ann")).ok());
  EXPECT_EQ(item("SD-1").token, mine.token);
  run("COMMIT");
  EXPECT_EQ(take("bob", "SD-1").previous_session, "ann");
}

}  // namespace
}  // namespace leasehold::support

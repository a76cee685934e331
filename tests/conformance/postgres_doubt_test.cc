// A server that ends a connection in the middle of an act: the client cannot know whether the act has happened.
#include <gtest/gtest.h>

#include <future>

#include "support/lock_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class PostgresDoubtTest : public StoreTest {
 protected:
  /// Ends the connection that waits for `blocker`; false while there is none.
  bool cut_off_who_waits_for(PgConnection& blocker) {
    const auto waiting =
        "FROM pg_stat_activity WHERE " + std::to_string(blocker.backend_pid()) + " = ANY (pg_blocking_pids(pid))";
    return operator_.scalar("SELECT count(pg_terminate_backend(pid)) " + waiting) == "1";
  }

  PgConnection operator_{test_postgres_url()};
};
INSTANTIATE_TEST_SUITE_P(Stores, PostgresDoubtTest, ::testing::Values(StoreKind::postgres), store_name);

TEST_P(PostgresDoubtTest, Promise10_AnActWhoseConnectionWasCutIsInDoubt) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  PgConnection blocker(test_postgres_url());
  blocker.run("BEGIN");
  blocker.run("SELECT FROM " + under_test().table("lease") + " FOR UPDATE");
  auto revoked = std::async(std::launch::async, [&] { return locks().revoke("deploy", "maintenance"); });
  EXPECT_TRUE(eventually([&] { return cut_off_who_waits_for(blocker); }));
  EXPECT_TRUE(fails(revoked.get(), Errc::in_doubt));
  blocker.run("ROLLBACK");
  EXPECT_TRUE(ok(locks().heartbeat("deploy", grant.token))) << "the next act finds another connection";
}

}  // namespace
}  // namespace leasehold::support

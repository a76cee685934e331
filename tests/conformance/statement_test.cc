// The pairs of .sql files: every named statement runs on both stores and gives exactly its columns.
#include <gtest/gtest.h>

#include "storage/statements.h"
#include "support/sample_params.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class StatementTest : public StoreTest {
 protected:
  /// With a role that exists.
  std::vector<storage::Param> sample_params(const storage::Statement& statement) const {
    auto params = support::sample_params(statement);
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (statement.params[i].name == "role") params[i] = std::string_view(role_);
    }
    return params;
  }

  /// These go together, in one transaction.
  static bool is_step_of_a_plan(const storage::Statement& statement) {
    return statement.name.starts_with("chunk_plan_");
  }

  void SetUp() override {
    StoreTest::SetUp();
    if (GetParam() == StoreKind::postgres) role_ = under_test().scalar("SELECT current_user");
  }

 private:
  std::string role_ = "anyone";
};
LEASEHOLD_ON_BOTH_STORES(StatementTest);

TEST_P(StatementTest, EveryStatementGivesExactlyTheDeclaredColumns) {
  const auto backend = under_test().open_backend();
  // Twice: the second round finds what the first one made, and runs what was prepared.
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < sql::statement_count; ++i) {
      const auto& statement = sql::statement_at(i);
      SCOPED_TRACE(std::string(statement.name));
      EXPECT_EQ(statement.index, i);
      if (is_step_of_a_plan(statement)) continue;
      const auto params = sample_params(statement);
      const auto rows = backend->query(statement, params, BootClock::now() + 10s);
      ASSERT_TRUE(ok(rows));
      for (const auto& row : *rows) expect_fits(statement, row);
    }
  }
}

TEST_P(StatementTest, TheStepsOfAPlanGiveExactlyTheDeclaredColumns) {
  const auto backend = under_test().open_backend();
  auto transaction = backend->begin(BootClock::now() + 10s);
  ASSERT_TRUE(ok(transaction));
  for (const auto& statement : {sql::ChunkPlanBegin::statement(), sql::ChunkPlanAdd::statement(),
                                sql::ChunkPlanSweep::statement(), sql::ChunkPlanEnd::statement()}) {
    SCOPED_TRACE(std::string(statement.name));
    const auto params = sample_params(statement);
    const auto rows = (*transaction)->query(statement, params);
    ASSERT_TRUE(ok(rows));
    ASSERT_EQ(rows->size(), 1U);
    expect_fits(statement, rows->front());
  }
}

TEST_P(StatementTest, BothDialectsHaveATextForEveryStatement) {
  const auto backend = under_test().open_backend();
  EXPECT_EQ(backend->dialect().statements.size(), static_cast<std::size_t>(sql::statement_count));
  for (const auto text : backend->dialect().statements) EXPECT_FALSE(text.empty());
  EXPECT_FALSE(backend->dialect().migrations.empty());
}

TEST_P(StatementTest, ATransactionThatIsNotCommittedLeavesNothing) {
  const auto backend = under_test().open_backend();
  const auto before = dump();
  {
    auto transaction = backend->begin(BootClock::now() + 10s);
    ASSERT_TRUE(ok(transaction));
    const auto acquire = sql::LockAcquire{.name = "deploy", .holder = "alice", .ttl = 30s};
    ASSERT_TRUE(ok((*transaction)->query(sql::LockAcquire::statement(), acquire.params())));
  }
  EXPECT_EQ(dump(), before);
}

TEST_P(StatementTest, ACommittedTransactionStays) {
  const auto backend = under_test().open_backend();
  auto transaction = backend->begin(BootClock::now() + 10s);
  ASSERT_TRUE(ok(transaction));
  const auto acquire = sql::LockAcquire{.name = "deploy", .holder = "alice", .ttl = 30s};
  ASSERT_TRUE(ok((*transaction)->query(sql::LockAcquire::statement(), acquire.params())));
  ASSERT_TRUE(ok((*transaction)->commit()));
  EXPECT_EQ(locks().show("deploy")->holder.name, "alice");
}

}  // namespace
}  // namespace leasehold::support

// The cost of a script's last SQL statement, which returns the answer.
#include <gtest/gtest.h>

#include <sqlite3.h>

#include "storage/sqlite/backend.h"
#include "storage/sqlite/connection.h"
#include "storage/statements.h"
#include "support/results.h"

namespace leasehold::sqlite {
namespace {

class SqliteAnswerTest : public ::testing::TestWithParam<const storage::Statement*> {
 protected:
  void SetUp() override {
    auto opened = Connection::open(":memory:", true);
    ASSERT_TRUE(support::ok(opened));
    connection_ = std::move(*opened);
    for (const auto& migration : dialect().migrations) ASSERT_TRUE(support::ok(connection_->run_script(migration.up)));
  }

  /// The last SQL statement of the script.
  std::string answer_of(const storage::Statement& statement) {
    auto rest = dialect().statements[static_cast<std::size_t>(statement.index)];
    std::string_view last;
    while (!rest.empty()) {
      const auto begins = rest;
      auto prepared = connection_->prepare(rest, &rest);
      EXPECT_TRUE(support::ok(prepared));
      if (!prepared || *prepared == nullptr) break;
      last = begins.substr(0, begins.size() - rest.size());
    }
    return std::string(last);
  }

  /// How many temporary tables SQLite builds for it.
  int temporary_tables_of(const std::string& sql) {
    auto program = connection_->prepare("EXPLAIN " + sql);
    EXPECT_TRUE(support::ok(program));
    int count = 0;
    while (program && sqlite3_step(program->get()) == SQLITE_ROW) {
      const std::string opcode = reinterpret_cast<const char*>(sqlite3_column_text(program->get(), 1));
      count += opcode == "OpenEphemeral" ? 1 : 0;
    }
    return count;
  }

  std::unique_ptr<Connection> connection_;
};

std::string name_of(const ::testing::TestParamInfo<const storage::Statement*>& info) {
  return std::string(info.param->name);
}

INSTANTIATE_TEST_SUITE_P(SingleCalls, SqliteAnswerTest,
                         ::testing::Values(&sql::LockHeartbeat::statement(), &sql::LockRelease::statement(),
                                           &sql::JobClaim::statement(), &sql::JobHeartbeat::statement(),
                                           &sql::SessionHeartbeat::statement(), &sql::ClaimTake::statement(),
                                           &sql::ClaimRelease::statement()),
                         name_of);

// One costs as much as half a heartbeat. `x IN (…)` with more than two constants builds one.
TEST_P(SqliteAnswerTest, ItBuildsNoTemporaryTable) {
  const auto answer = answer_of(*GetParam());
  ASSERT_NE(answer.find("SELECT"), std::string::npos) << answer;
  EXPECT_EQ(temporary_tables_of(answer), 0) << answer;
}

}  // namespace
}  // namespace leasehold::sqlite

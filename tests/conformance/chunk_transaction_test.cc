// Chunks in the user's own transaction: the rows and the cursor behind them become true together, or not at all.
#include <gtest/gtest.h>

#include "leasehold/postgres.h"
#include "leasehold/sqlite.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

/// A store with the real clock, for on SQLite the user's connection knows no other; and the user's own connection.
class ChunkTransactionTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (on_sqlite()) {
      file_ = std::make_unique<SqliteFile>(test_store_.path());
    } else {
      postgres_.reset(PQconnectdb(test_store_.database_url().c_str()));
    }
    must(chunks_.plan("orders", must(plan_range(1, 1, 1))));
  }

  static bool on_sqlite() { return GetParam() == StoreKind::sqlite; }
  void run(const std::string& sql) {
    if (file_) return file_->run(sql);
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(postgres_.get(), sql.c_str()), &PQclear);
    ASSERT_EQ(PQresultStatus(result.get()), PGRES_COMMAND_OK) << sql << ": " << PQerrorMessage(postgres_.get());
  }
  void begin() { run(on_sqlite() ? "BEGIN IMMEDIATE" : "BEGIN"); }
  Result<void> save(const Chunk& chunk, const ChunkSave& save) {
    return file_ ? save_chunk(file_->handle(), "orders", chunk.key, chunk.token, save)
                 : save_chunk(postgres_.get(), "orders", chunk.key, chunk.token, save, test_store_.schema());
  }
  Result<ChunkSettled> complete(const Chunk& chunk, const ChunkSave& save) {
    return file_ ? complete_chunk(file_->handle(), "orders", chunk.key, chunk.token, save)
                 : complete_chunk(postgres_.get(), "orders", chunk.key, chunk.token, save, test_store_.schema());
  }
  Result<void> fence(const Chunk& chunk) {
    return file_ ? fence_chunk(file_->handle(), "orders", chunk.key, chunk.token)
                 : fence_chunk(postgres_.get(), "orders", chunk.key, chunk.token, test_store_.schema());
  }
  Chunk claim(const std::string& who) {
    return must(chunks_.claim("orders", {}, {.holder = holder(who)})).chunks.at(0);
  }
  ChunkInfo chunk() { return must(chunks_.show("orders", "1-1")); }

  TestStore test_store_{GetParam(), {.real_time = true}};
  Store store_ = test_store_.open();
  Chunks chunks_ = store_.chunks();
  std::unique_ptr<SqliteFile> file_;
  std::unique_ptr<PGconn, decltype(&PQfinish)> postgres_{nullptr, &PQfinish};
};
LEASEHOLD_ON_BOTH_STORES(ChunkTransactionTest);

TEST_P(ChunkTransactionTest, ACursorIsSavedWithTheRowsItStandsFor) {
  const auto held = claim("ann");
  begin();
  ASSERT_TRUE(ok(save(held, {.cursor = "[1]", .rows = 10})));
  run("ROLLBACK");
  EXPECT_EQ(chunk().cursor, std::nullopt) << "the rows are not there, so nothing points behind them";
  EXPECT_EQ(chunk().rows, 0);
  begin();
  ASSERT_TRUE(ok(save(held, {.cursor = "[1]", .rows = 10})));
  run("COMMIT");
  EXPECT_EQ(chunk().cursor, "[1]");
  EXPECT_EQ(chunk().rows, 10);
}

TEST_P(ChunkTransactionTest, AChunkIsCompletedWithItsLastRows) {
  const auto held = claim("ann");
  begin();
  ASSERT_TRUE(ok(complete(held, {.rows = 20})));
  run("ROLLBACK");
  EXPECT_EQ(chunk().state, ChunkState::running);
  begin();
  const auto settled = complete(held, {.rows = 20});
  ASSERT_TRUE(ok(settled));
  EXPECT_EQ(settled->set_state, ChunkSetState::complete);
  run("COMMIT");
  EXPECT_EQ(chunk().state, ChunkState::completed);
  EXPECT_EQ(chunk().rows, 20);
}

TEST_P(ChunkTransactionTest, Promise04_ALoaderThatLostTheChunkSavesNothing) {
  const auto late = claim("ann");
  must(chunks_.release("orders", late.key, late.token));
  claim("bob");
  begin();
  EXPECT_TRUE(lost(save(late, {.rows = 10}), LostReason::superseded));
  EXPECT_TRUE(lost(complete(late, {.rows = 10}), LostReason::superseded));
  run("ROLLBACK");
  EXPECT_EQ(chunk().rows, 0);
  EXPECT_EQ(chunk().state, ChunkState::running);
}

TEST_P(ChunkTransactionTest, Promise14_TheFencePassesTheCurrentTokenOnly) {
  const auto held = claim("ann");
  begin();
  EXPECT_TRUE(ok(fence(held)));
  run("COMMIT");
  must(chunks_.release("orders", held.key, held.token));
  begin();
  EXPECT_TRUE(lost(fence(held), LostReason::finished)) << "no loader has it";
  run("ROLLBACK");
  claim("bob");
  begin();
  EXPECT_TRUE(lost(fence(held), LostReason::superseded)) << "another loader has it";
  run("ROLLBACK");
  EXPECT_TRUE(fails(fence(held), Errc::invalid_argument)) << "outside of a transaction it would promise nothing";
}

TEST_P(ChunkTransactionTest, BadInputIsRefused) {
  const auto held = claim("ann");
  begin();
  EXPECT_TRUE(fails(save(held, {.cursor = "page 3"}), Errc::invalid_argument));
  EXPECT_TRUE(fails(complete(held, {.rows = -1}), Errc::invalid_argument));
  run("ROLLBACK");
}

}  // namespace
}  // namespace leasehold::support

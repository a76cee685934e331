// The examples at the top of sqlite.h and postgres.h: leasehold in the user's own transaction.
#include <gtest/gtest.h>

#include "leasehold/postgres.h"
#include "leasehold/sqlite.h"
#include "support/chunk_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

void execute(sqlite3* db, const char* sql) { ASSERT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK); }

void execute(PGconn* connection, const char* sql) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, sql), &PQclear);
  ASSERT_EQ(PQresultStatus(result.get()), PGRES_COMMAND_OK) << PQerrorMessage(connection);
}

/// With the real clock: the user's connection to a SQLite file knows no other.
class TransactionExampleTest : public ::testing::Test {
 protected:
  explicit TransactionExampleTest(StoreKind kind) : test_store_(kind, {.real_time = true}) {}

  TestStore test_store_;
  Store store_ = test_store_.open();
};

class SqliteExampleTest : public TransactionExampleTest {
 protected:
  SqliteExampleTest() : TransactionExampleTest(StoreKind::sqlite) {
    file_.run("CREATE TABLE site (release INTEGER)");
    file_.run("INSERT INTO site VALUES (41)");
  }

  void release(sqlite3* db, Token token) {
    execute(db, "BEGIN IMMEDIATE");
    auto current = leasehold::fence(db, "deploy", token);
    if (!current) return roll_back(db, current.error());
    execute(db, "UPDATE site SET release = 42");
    auto job = leasehold::enqueue(db, "announce", {.payload = "42"});
    if (!job) return roll_back(db, job.error());
    execute(db, "COMMIT");
  }

  void roll_back(sqlite3* db, const Error& why) {
    reported_ = why.code;
    execute(db, "ROLLBACK");
  }

  SqliteFile file_{test_store_.path()};
  std::optional<Errc> reported_;
};

TEST_F(SqliteExampleTest, AReleaseAndItsAnnouncement) {
  release(file_.handle(), take(store_.locks(), "deploy").token);
  EXPECT_EQ(reported_, std::nullopt);
  EXPECT_EQ(file_.scalar("SELECT release FROM site"), "42");
  EXPECT_EQ(claim_one(store_.jobs(), "announce", "ann").payload, "42");
}

TEST_F(SqliteExampleTest, NeitherOfThemAfterTheLockWasLost) {
  const auto late = take(store_.locks(), "deploy");
  must(store_.locks().revoke("deploy", "make way"));
  release(file_.handle(), late.token);
  EXPECT_EQ(reported_, Errc::lost);
  EXPECT_EQ(file_.scalar("SELECT release FROM site"), "41");
  EXPECT_TRUE(fails(store_.jobs().claim("announce"), Errc::empty));
}

/// As in the header, but in the schema of the test's store.
class PostgresExampleTest : public TransactionExampleTest {
 protected:
  PostgresExampleTest() : TransactionExampleTest(StoreKind::postgres) {
    execute(connection_.get(), "CREATE TEMP TABLE orders (id bigint)");
  }

  void order(PGconn* connection) {
    execute(connection, "BEGIN");
    execute(connection, "INSERT INTO orders VALUES (7)");
    auto job = leasehold::enqueue(connection, "invoice", {.payload = "7"}, schema());
    execute(connection, job ? "COMMIT" : "ROLLBACK");
  }

  void load_page(PGconn* connection, const Chunk& chunk) {
    const std::string next = "2";
    const std::int64_t rows = chunk.rows + 1;
    execute(connection, "BEGIN");
    execute(connection, "INSERT INTO orders VALUES (8)");
    auto saved =
        leasehold::save_chunk(connection, "orders", chunk.key, chunk.token, {.cursor = next, .rows = rows}, schema());
    execute(connection, saved ? "COMMIT" : "ROLLBACK");
  }

  [[nodiscard]] const std::string& schema() const { return test_store_.schema(); }
  [[nodiscard]] std::string orders() const {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection_.get(), "SELECT count(*) FROM orders"),
                                                               &PQclear);
    return PQgetvalue(result.get(), 0, 0);
  }

  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_{PQconnectdb(test_store_.database_url().c_str()), &PQfinish};
};

TEST_F(PostgresExampleTest, AnOrderAndItsInvoice) {
  order(connection_.get());
  EXPECT_EQ(orders(), "1");
  EXPECT_EQ(claim_one(store_.jobs(), "invoice", "ann").payload, "7");
}

TEST_F(PostgresExampleTest, APageAndItsCursor) {
  plan_numbers(store_.chunks(), "orders", 1);
  const auto chunk = must(store_.chunks().claim("orders")).chunks.at(0);
  load_page(connection_.get(), chunk);
  EXPECT_EQ(orders(), "1");
  EXPECT_EQ(show(store_.chunks(), "orders", chunk.key).cursor, "2");
  must(store_.chunks().complete("orders", chunk.key, chunk.token));
  load_page(connection_.get(), chunk);
  EXPECT_EQ(orders(), "1") << "rolled back: the chunk is lost";
}

}  // namespace
}  // namespace leasehold::support

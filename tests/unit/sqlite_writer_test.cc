// What the writing connection of a SQLite file does before it takes the file's lock, for which other processes wait.
#include "storage/sqlite/writer.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>

#include "storage/statements.h"
#include "support/sample_params.h"
#include "support/store_fixture.h"

namespace leasehold::sqlite {
namespace {

using namespace std::chrono_literals;

/// What SQLite was asked to prepare: before a transaction, and inside of one.
struct Preparing {
  explicit Preparing(sqlite3* connection) : database(connection) {
    sqlite3_set_authorizer(database, &Preparing::note, this);
  }
  Preparing(const Preparing&) = delete;
  Preparing& operator=(const Preparing&) = delete;
  ~Preparing() { sqlite3_set_authorizer(database, nullptr, nullptr); }

  static int note(void* self, int, const char*, const char*, const char*, const char*) {
    auto* counts = static_cast<Preparing*>(self);
    ++(sqlite3_get_autocommit(counts->database) != 0 ? counts->before : counts->inside);
    return SQLITE_OK;
  }

  sqlite3* database;
  int before = 0;
  int inside = 0;
};

TEST(SqliteWriterTest, PreparesStatementsBeforeItTakesTheFilesLock) {
  support::TestStore store(support::StoreKind::sqlite);
  auto opened = Connection::open(store.path(), true);
  ASSERT_TRUE(support::ok(opened));
  auto connection = std::move(*opened);
  auto* database = connection->get();
  StoreFile file(store.path());
  ASSERT_TRUE(support::ok(file.remember(database)));
  Writer writer(std::move(connection), file, store.clock(), std::make_shared<ChangeHub>());
  ASSERT_TRUE(support::ok(writer.begin(false, BootClock::now() + 10s))) << "the first turn opens the sidecar files";

  const auto& statement = sql::JobClaim::statement();
  const auto params = support::sample_params(statement);
  storage::PendingCall call{&statement, params, BootClock::now() + 10s};
  const std::array calls{&call};
  const Preparing preparing(database);
  auto turn = writer.begin(false, call.deadline, calls);
  ASSERT_TRUE(support::ok(turn));
  static_cast<void>(turn->connection().run(statement, params, {}));
  EXPECT_GT(preparing.before, 0);
  EXPECT_EQ(preparing.inside, 0);
}

}  // namespace
}  // namespace leasehold::sqlite

// One fresh store per test, on either database, with a clock that only the test moves.
//
//   class LockTest : public StoreTest {};
//   LEASEHOLD_ON_BOTH_STORES(LockTest);
//
//   TEST_P(LockTest, Promise05_HeartbeatAfterExpiryIsLost) {
//     const auto grant = store().locks().acquire("deploy", {.ttl = 30s});
//     ASSERT_TRUE(ok(grant));
//     advance(31s);
//     EXPECT_TRUE(lost(store().locks().heartbeat("deploy", grant->token), LostReason::expired));
//   }
//
// PostgreSQL is the one of LEASEHOLD_TEST_POSTGRES; every store is a schema of its own there, new or as good as new
// (see recycled_schema.h). Without it the tests fail: an untested store does not count as one that works.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "leasehold/leasehold.h"
#include "storage/backend.h"
#include "support/copied_database.h"
#include "support/pg.h"
#include "support/recycled_schema.h"
#include "support/results.h"
#include "support/sqlite.h"
#include "support/temp_dir.h"
#include "support/test_clock.h"

namespace leasehold::support {

using namespace std::chrono_literals;

enum class StoreKind { sqlite, postgres };
std::string word_of(StoreKind kind);
/// For gtest: how a parameter looks in messages.
void PrintTo(StoreKind kind, std::ostream* out);

class TestStore {
 public:
  struct Options {
    bool migrate = true;
    bool real_time = false;  ///< leave the store's clock alone; for tests with real processes
    /// False: not even a schema that another test has emptied, for tests that read the server's own counters.
    bool recycled = true;
    /// PostgreSQL: a database of its own, with nothing in it. For tests of adopt, which looks into all schemas.
    bool own_database = false;
  };

  explicit TestStore(StoreKind kind) : TestStore(kind, Options{}) {}
  TestStore(StoreKind kind, Options options);
  TestStore(const TestStore&) = delete;
  TestStore& operator=(const TestStore&) = delete;
  ~TestStore();

  [[nodiscard]] StoreKind kind() const { return kind_; }
  [[nodiscard]] const std::string& url() const { return url_; }
  /// SQLite: the file.
  [[nodiscard]] std::string path() const { return folder_.file("store.db"); }
  /// PostgreSQL: of the database, without leasehold's own options.
  [[nodiscard]] const std::string& database_url() const { return database_url_; }
  /// PostgreSQL: the schema.
  [[nodiscard]] const std::string& schema() const { return schema_; }

  /// As the library opens it, with this store's clock.
  Result<Store> try_open(const OpenOptions& options = {});
  /// The same; throws std::runtime_error when it fails.
  Store open(const OpenOptions& options = {});
  /// The backend alone, to put something between it and the library (see fault_backend.h).
  std::shared_ptr<storage::Backend> open_backend();

  /// Moves the store's clock; back, too.
  void advance(Duration by);
  [[nodiscard]] Timestamp now() const { return now_; }
  TestClock& clock() { return clock_; }

  /// "lease" -> what the table is called in this store.
  [[nodiscard]] std::string table(const std::string& name) const;
  /// The same for a view that people read.
  [[nodiscard]] std::string view(const std::string& name) const;
  /// Rows and single values past the library, in the store's own SQL.
  std::vector<TextRow> rows(const std::string& sql);
  std::string scalar(const std::string& sql);
  void run(const std::string& sql);
  /// Stops a process that uses this store, at a moment at which it is not writing to the SQLite file: stopped in the
  /// middle of a write, it would keep all others from writing.
  void freeze(pid_t process);
  /// Every row of every table: equal dumps mean that nothing at all was changed.
  std::string dump();

 private:
  void take_database();
  void take_schema();
  void make_schema();
  void start_clock();

  StoreKind kind_;
  Options options_;
  TempDir folder_;
  TestClock clock_;
  Timestamp now_ = test_start;
  std::string database_url_;
  std::string schema_;
  std::string url_;
  std::unique_ptr<EmptyDatabase> empty_;
  std::unique_ptr<CopiedDatabase> copy_;  ///< for real processes
  std::unique_ptr<PgConnection> postgres_;
  std::optional<RecycledSchema> recycled_;  ///< ours to give back, in the state it should have then
};

class StoreTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override;

  TestStore& under_test() { return *test_store_; }
  Store& store() { return *store_; }
  Locks locks() { return store_->locks(); }
  Jobs jobs() { return store_->jobs(); }
  Queues queues() { return store_->queues(); }
  Store open(const OpenOptions& options = {}) { return test_store_->open(options); }
  const std::string& url() { return test_store_->url(); }
  void advance(Duration by) { test_store_->advance(by); }
  Timestamp now() { return test_store_->now(); }
  std::string dump() { return test_store_->dump(); }

 private:
  std::unique_ptr<TestStore> test_store_;
  std::optional<Store> store_;
};

std::string store_name(const ::testing::TestParamInfo<StoreKind>& info);

}  // namespace leasehold::support

#define LEASEHOLD_ON_BOTH_STORES(suite)                                                                      \
  INSTANTIATE_TEST_SUITE_P(                                                                                  \
      Stores, suite,                                                                                         \
      ::testing::Values(::leasehold::support::StoreKind::sqlite, ::leasehold::support::StoreKind::postgres), \
      ::leasehold::support::store_name)

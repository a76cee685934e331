#include "support/store_fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <random>
#include <sstream>
#include <stdexcept>

#include "storage/postgres/backend.h"
#include "storage/sqlite/backend.h"
#include "store/store.h"
#include "support/process.h"
#include "support/ticking_tree.h"

namespace leasehold::support {
namespace {

// Drawn, since process ids come round again and recycled schemas stay.
std::string new_schema_name() {
  std::random_device random;
  return fmt::format("t_{:08x}{:08x}", random(), random());
}

std::string with_option(const std::string& url, const std::string& option) {
  return url + (url.find('?') == std::string::npos ? "?" : "&") + option;
}

std::string microseconds(Timestamp when) { return std::to_string(when.time_since_epoch().count()); }

template <typename T>
T must(Result<T> result, const std::string& what) {
  if (!result) throw std::runtime_error(what + ": " + describe(result.error()));
  return std::move(result).value();
}

/// Copies a store that this process migrated once, on the test clock's machine, instead of migrating one for each case.
void copy_fresh_store(const std::string& path) {
  static const TempDir folder;
  static const std::string fresh = [] {
    auto file = folder.file("fresh.db");
    const TestClock clock;
    must(open_store_with("sqlite:" + file, {.migrate = MigrateOnOpen::yes}, clock), "cannot make " + file);
    return file;
  }();
  std::filesystem::copy_file(fresh, path);
}

}  // namespace

std::string word_of(StoreKind kind) { return kind == StoreKind::sqlite ? "sqlite" : "postgres"; }

void PrintTo(StoreKind kind, std::ostream* out) { *out << word_of(kind); }

std::string store_name(const ::testing::TestParamInfo<StoreKind>& info) { return word_of(info.param); }

TestStore::TestStore(StoreKind kind, Options options) : kind_(kind), options_(options) {
  if (kind_ == StoreKind::postgres) {
    take_database();
  } else {
    url_ = "sqlite:" + path();
    if (!options_.migrate) return;
    if (options_.real_time) {
      open({.migrate = MigrateOnOpen::yes});
    } else {
      copy_fresh_store(path());
    }
  }
}

TestStore::~TestStore() {
  if (!postgres_ || copy_ || empty_) return;
  if (recycled_ && recycle(*postgres_, *recycled_)) return;
  // After a failed test a transaction may still be open; do not hang on it.
  postgres_->fail("SET lock_timeout = '10s'; DROP SCHEMA IF EXISTS " + schema_ + ", " + schema_ + "_internal CASCADE");
}

void TestStore::take_database() {
  database_url_ = test_postgres_url();
  if (options_.own_database) {
    empty_ = std::make_unique<EmptyDatabase>(database_url_);
    url_ = database_url_ = empty_->url();
    schema_ = "public";
    postgres_ = std::make_unique<PgConnection>(database_url_);
    return;
  }
  postgres_ = std::make_unique<PgConnection>(database_url_);
  if (!options_.real_time || !options_.migrate || !may_recycle(*postgres_)) return take_schema();
  copy_ = std::make_unique<CopiedDatabase>(database_url_);
  database_url_ = copy_->url();
  schema_ = "leasehold";
  url_ = database_url_;
  postgres_ = std::make_unique<PgConnection>(database_url_);
}

// Real processes may outlive their test by a moment: what they use is never used again.
void TestStore::take_schema() {
  const bool recycling = options_.recycled && options_.migrate && !options_.real_time && may_recycle(*postgres_);
  if (recycling) recycled_ = take_recycled(*postgres_);
  schema_ = recycled_ ? recycled_->name : new_schema_name();
  url_ = with_option(database_url_, "schema=" + schema_);
  if (!recycled_) make_schema();
  if (recycling && !recycled_) recycled_ = RecycledSchema{.name = schema_, .shape = shape_of(*postgres_, schema_)};
  if (options_.migrate && !options_.real_time) start_clock();
}

void TestStore::make_schema() {
  if (!options_.migrate) return;
  open({.migrate = MigrateOnOpen::yes});
  if (options_.real_time) return;
  run("CREATE TABLE " + schema_ + "_internal.test_clock (at timestamptz NOT NULL)");
  run("CREATE OR REPLACE FUNCTION " + schema_ + "_internal.now() RETURNS timestamptz LANGUAGE sql VOLATILE AS " +
      "'SELECT at FROM " + schema_ + "_internal.test_clock'");
  // Small bundles, so that whatever enqueues a few jobs at once meets them.
  for (const auto* is : {"bundle_from() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 2'",
                         "bundle_size() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 3'"}) {
    run("CREATE OR REPLACE FUNCTION " + schema_ + "_internal." + is);
  }
}

void TestStore::start_clock() {
  run("INSERT INTO " + schema_ + "_internal.test_clock SELECT timestamptz 'epoch' + " + microseconds(now_) +
      " * interval '1 microsecond'");
}

Result<Store> TestStore::try_open(const OpenOptions& options) {
  auto store = open_store_with(url_, options, options_.real_time ? system_clock() : clock_);
  // Its steps take back what the dead hold: never by chance.
  if (store) store->impl().housekeeper->pretend(0);
  return store;
}

Store TestStore::open(const OpenOptions& options) { return must(try_open(options), "cannot open " + url_); }

std::shared_ptr<storage::Backend> TestStore::open_backend() {
  const auto parsed = must(parse_store_url(url_), "bad url");
  const auto deadline = BootClock::now() + 10s;
  const Clock& clock = options_.real_time ? system_clock() : clock_;
  auto backend = kind_ == StoreKind::sqlite ? sqlite::open(parsed, clock, deadline) : postgres::open(parsed, deadline);
  return must(std::move(backend), "cannot open " + url_);
}

void TestStore::advance(Duration by) {
  now_ += by;
  clock_.advance(by);
  if (kind_ == StoreKind::postgres) {
    run("UPDATE " + schema_ + "_internal.test_clock SET at = timestamptz 'epoch' + " + microseconds(now_) +
        " * interval '1 microsecond'");
  }
}

std::string TestStore::view(const std::string& name) const {
  return kind_ == StoreKind::sqlite ? "leasehold_" + name : schema_ + "." + name;
}

std::string TestStore::table(const std::string& name) const {
  return kind_ == StoreKind::sqlite ? "leasehold_" + name : schema_ + "_internal." + name;
}

std::vector<TextRow> TestStore::rows(const std::string& sql) {
  return postgres_ ? postgres_->rows(sql) : SqliteFile(path()).rows(sql);
}

std::string TestStore::scalar(const std::string& sql) {
  return postgres_ ? postgres_->scalar(sql) : SqliteFile(path()).scalar(sql);
}

void TestStore::run(const std::string& sql) {
  if (postgres_) {
    postgres_->run(sql);
  } else {
    SqliteFile(path()).run(sql);
  }
}

void TestStore::freeze(pid_t process) {
  std::optional<SqliteFile> file;
  if (!postgres_) {
    file.emplace(path());
    file->run("BEGIN IMMEDIATE");
  }
  const bool stopped =
      ::kill(process, SIGSTOP) == 0 && eventually([&] { return is_stopped(process); }, std::chrono::seconds(10));
  if (file) file->run("ROLLBACK");
  if (!stopped) throw std::runtime_error("the process did not stop");
}

std::string TestStore::dump() {
  // Opened once: a connection reads the whole schema before its first row.
  std::optional<SqliteFile> file;
  if (!postgres_) file.emplace(path());
  std::ostringstream text;
  for (const auto* name :
       {"lease",    "lock",           "waiter",      "event",         "queue",     "job",           "ready",
        "deferred", "blocked",        "dedupe",      "job_grant",     "settled",   "result",        "error",
        "progress", "cancel_request", "predecessor", "recovery",      "chunk_set", "chunk",         "rate",
        "session",  "item",           "claim",       "item_conflict", "schedule",  "schedule_task", "schedule_run"}) {
    text << name << '\n';
    std::vector<std::string> lines;
    const auto all = "SELECT * FROM " + table(name);
    for (const auto& row : file ? file->rows(all) : postgres_->rows(all)) {
      auto& line = lines.emplace_back();
      for (const auto& cell : row) line += " " + cell.value_or("-");
    }
    std::sort(lines.begin(), lines.end());
    for (const auto& line : lines) text << line << '\n';
  }
  return text.str();
}

void StoreTest::SetUp() {
  test_store_ = std::make_unique<TestStore>(GetParam());
  store_ = test_store_->open();
}

}  // namespace leasehold::support

#include "support/store_fixture.h"

#include <unistd.h>

#include <atomic>
#include <sstream>
#include <stdexcept>

#include "storage/postgres/backend.h"
#include "storage/sqlite/backend.h"
#include "store/open_store.h"

namespace leasehold::support {
namespace {

std::string next_schema() {
  static std::atomic<int> count{0};
  return "t_" + std::to_string(::getpid()) + "_" + std::to_string(++count);
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

}  // namespace

std::string to_string(StoreKind kind) { return kind == StoreKind::sqlite ? "sqlite" : "postgres"; }

void PrintTo(StoreKind kind, std::ostream* out) { *out << to_string(kind); }

std::string store_name(const ::testing::TestParamInfo<StoreKind>& info) { return to_string(info.param); }

TestStore::TestStore(StoreKind kind, Options options) : kind_(kind), options_(options) {
  if (kind_ == StoreKind::sqlite) {
    url_ = "sqlite:" + path();
  } else {
    make_schema();
  }
  if (!options_.migrate) return;
  open({.migrate = MigrateOnOpen::yes});
  if (kind_ == StoreKind::postgres && !options_.real_time) install_clock();
}

TestStore::~TestStore() {
  if (!postgres_) return;
  // Somebody's transaction may still be open after a failed test; do not hang on it.
  postgres_->fail("SET lock_timeout = '10s'; DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
}

void TestStore::make_schema() {
  const auto base = test_postgres_url();
  schema_ = next_schema();
  url_ = with_option(base, "schema=" + schema_);
  postgres_ = std::make_unique<PgConnection>(base);
  postgres_->run("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
}

void TestStore::install_clock() {
  run("CREATE TABLE " + schema_ + ".test_clock (at timestamptz NOT NULL)");
  run("INSERT INTO " + schema_ + ".test_clock SELECT timestamptz 'epoch' + " + microseconds(now_) +
      " * interval '1 microsecond'");
  run("CREATE OR REPLACE FUNCTION " + schema_ + ".now() RETURNS timestamptz LANGUAGE sql VOLATILE AS " +
      "'SELECT at FROM " + schema_ + ".test_clock'");
}

Result<Store> TestStore::try_open(const OpenOptions& options) {
  return open_store_with(url_, options, options_.real_time ? system_clock() : clock_);
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
    run("UPDATE " + schema_ + ".test_clock SET at = timestamptz 'epoch' + " + microseconds(now_) +
        " * interval '1 microsecond'");
  }
}

std::string TestStore::table(const std::string& name) const {
  return kind_ == StoreKind::sqlite ? "leasehold_" + name : schema_ + "." + name;
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

std::string TestStore::dump() {
  std::ostringstream text;
  for (const auto* name : {"lease",    "lock",           "waiter",   "event",     "queue",   "job",       "ready",
                           "deferred", "blocked",        "dedupe",   "job_grant", "settled", "result",    "error",
                           "progress", "cancel_request", "recovery", "chunk_set", "chunk",   "rate_limit"}) {
    text << name << '\n';
    for (const auto& row : rows("SELECT * FROM " + table(name) + " ORDER BY 1, 2, 3")) {
      for (const auto& cell : row) text << ' ' << cell.value_or("-");
      text << '\n';
    }
  }
  return text.str();
}

void StoreTest::SetUp() {
  test_store_ = std::make_unique<TestStore>(GetParam());
  store_ = test_store_->open();
}

}  // namespace leasehold::support

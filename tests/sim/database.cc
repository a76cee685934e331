#include "sim/database.h"

#include <stdexcept>
#include <string>

#include "core/store_url.h"
#include "storage/migrations.h"
#include "storage/sqlite/backend.h"

namespace leasehold::sim {
namespace {

sqlite3* latest_connection = nullptr;

// SQLite calls it for every connection that is opened: the way to get at the one inside of the backend.
int note_connection(sqlite3* database, char** /*message*/, const sqlite3_api_routines* /*api*/) {
  latest_connection = database;
  return SQLITE_OK;
}

void must(bool done, const std::string& what) {
  if (!done) throw std::runtime_error(what);
}

void copy_pages(sqlite3* from, sqlite3* to) {
  auto* copy = sqlite3_backup_init(to, "main", from, "main");
  must(copy != nullptr, std::string("copying a database: ") + sqlite3_errmsg(to));
  const int done = sqlite3_backup_step(copy, -1);
  sqlite3_backup_finish(copy);
  must(done == SQLITE_DONE, std::string("copying a database: ") + sqlite3_errstr(done));
}

Backup empty_database() {
  sqlite3* database = nullptr;
  const int code = sqlite3_open(":memory:", &database);
  Backup backup(database);
  must(code == SQLITE_OK, "opening a database in memory");
  return backup;
}

/// Migrated once per program: that takes longer than a whole run. Every run begins at the same moment.
const Backup& migrated(storage::Backend& backend, sqlite3* connection) {
  static const Backup made = [&] {
    auto migrations = storage::Migrator(backend, std::chrono::minutes(1)).up();
    must(migrations.ok(), migrations ? "" : "migrating: " + migrations.error().message);
    auto copy = empty_database();
    copy_pages(connection, copy.get());
    return copy;
  }();
  return made;
}

}  // namespace

Database::Database(const World& world, std::uint64_t seed) : world_(world) {
  static const int registered = sqlite3_auto_extension(reinterpret_cast<void (*)()>(&note_connection));
  must(registered == SQLITE_OK, "SQLite takes no automatic extension");
  // For random() in SQL; zero would mean that SQLite draws a seed.
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, static_cast<int>(seed % 0x7fffffffU) + 1, nullptr);
  open();
  copy_pages(migrated(*backend_, connection_).get(), connection_);
}

void Database::open() {
  StoreUrl url;
  url.kind = StoreUrl::Kind::sqlite;
  url.path = ":memory:";
  auto opened = sqlite::open(url, world_, world_.boot_now() + std::chrono::seconds(10));
  must(opened.ok(), opened ? "" : "opening the store: " + opened.error().message);
  backend_ = std::move(*opened);
  connection_ = latest_connection;
}

Backup Database::back_up() const {
  auto backup = empty_database();
  copy_pages(connection_, backup.get());
  return backup;
}

void Database::restart() { restore(back_up()); }

void Database::restore(const Backup& backup) {
  backend_.reset();
  open();
  copy_pages(backup.get(), connection_);
}

}  // namespace leasehold::sim

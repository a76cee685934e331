#include <sqlite3.h>

#include "core/store_url.h"
#include "history/ledger.h"
#include "leasehold/sqlite.h"

namespace leasehold::history {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

class SqliteLedger : public Ledger {
 public:
  SqliteLedger(std::string path, Duration patience) : path_(std::move(path)), patience_(patience) {}

  Result<void> create() override {
    if (auto there = connect(); !there) return there;
    return run(
        "CREATE TABLE IF NOT EXISTS load_ledger (key TEXT NOT NULL, token INTEGER NOT NULL, n INTEGER NOT NULL, "
        "process INTEGER NOT NULL, act INTEGER NOT NULL);"
        "CREATE INDEX IF NOT EXISTS load_ledger_key ON load_ledger (key, n)");
  }

  Result<std::int64_t> write(const LedgerRow& row) override {
    if (auto there = connect(); !there) return there.error();
    if (auto begun = run("BEGIN IMMEDIATE"); !begun) return begun.error();
    auto written = write_under_fence(row);
    if (!written) {
      static_cast<void>(run("ROLLBACK"));
      return written;
    }
    if (auto committed = run("COMMIT"); !committed) {
      static_cast<void>(run("ROLLBACK"));
      return Error{.code = Errc::in_doubt, .message = committed.error().message};
    }
    return written;
  }

  Result<std::vector<LedgerRow>> rows(const std::string& prefix) override {
    if (auto there = connect(); !there) return there.error();
    auto statement = prepare(
        "SELECT key, token, n, process, act FROM load_ledger WHERE substr(key, 1, length(?1)) = ?1 ORDER BY key, n");
    if (!statement) return statement.error();
    sqlite3_bind_text(statement->get(), 1, prefix.c_str(), -1, SQLITE_TRANSIENT);
    std::vector<LedgerRow> rows;
    while (sqlite3_step(statement->get()) == SQLITE_ROW) {
      rows.push_back({.key = reinterpret_cast<const char*>(sqlite3_column_text(statement->get(), 0)),
                      .token = sqlite3_column_int64(statement->get(), 1),
                      .n = sqlite3_column_int64(statement->get(), 2),
                      .process = sqlite3_column_int(statement->get(), 3),
                      .act = sqlite3_column_int64(statement->get(), 4)});
    }
    if (sqlite3_errcode(database_.get()) != SQLITE_DONE) return trouble();
    return rows;
  }

 private:
  Result<std::int64_t> write_under_fence(const LedgerRow& row) {
    if (auto current = fence(database_.get(), row.key, Token{row.token}); !current) {
      // Anything but `lost` comes before the write: it did not happen.
      if (current.error().code == Errc::lost) return current.error();
      return Error{.code = Errc::unavailable, .message = current.error().message};
    }
    auto statement = prepare(
        "INSERT INTO load_ledger (key, token, n, process, act) "
        "SELECT ?1, ?2, coalesce(max(n), 0) + 1, ?3, ?4 FROM load_ledger WHERE key = ?1 RETURNING n");
    if (!statement) return statement.error();
    sqlite3_bind_text(statement->get(), 1, row.key.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(statement->get(), 2, row.token);
    sqlite3_bind_int(statement->get(), 3, row.process);
    sqlite3_bind_int64(statement->get(), 4, row.act);
    if (sqlite3_step(statement->get()) != SQLITE_ROW) return trouble();
    return static_cast<std::int64_t>(sqlite3_column_int64(statement->get(), 0));
  }

  Result<void> connect() {
    if (database_) return {};
    sqlite3* raw = nullptr;
    const int code = sqlite3_open(path_.c_str(), &raw);
    std::unique_ptr<sqlite3, CloseDatabase> database(raw);
    if (code != SQLITE_OK) return Error{.code = Errc::unavailable, .message = "cannot open " + path_};
    sqlite3_busy_timeout(raw, static_cast<int>(patience_ / std::chrono::milliseconds(1)));
    database_ = std::move(database);
    return {};
  }

  Result<void> run(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return trouble();
  }

  Result<Statement> prepare(const char* sql) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql, -1, &raw, nullptr) != SQLITE_OK) return trouble();
    return Statement(raw);
  }

  Error trouble() { return {.code = Errc::unavailable, .message = sqlite3_errmsg(database_.get())}; }

  std::string path_;
  Duration patience_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
};

}  // namespace

std::unique_ptr<Ledger> sqlite_ledger(const std::string& path, Duration patience) {
  return std::make_unique<SqliteLedger>(path, patience);
}

Result<std::unique_ptr<Ledger>> open_ledger(const std::string& store_url, Duration patience) {
  const auto url = parse_store_url(store_url);
  if (!url) return url.error();
  if (url->kind == StoreUrl::Kind::sqlite) return sqlite_ledger(url->path, patience);
  return postgres_ledger(url->conninfo, url->schema, patience);
}

}  // namespace leasehold::history

#include "cli/demo_ledger.h"

#include <fmt/format.h>

#include "leasehold/sqlite.h"

namespace leasehold::cli {
namespace {

constexpr int busy_timeout_ms = 10'000;

constexpr const char* tables = R"(
CREATE TABLE demo_counter (lock TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE demo_log (id INTEGER PRIMARY KEY AUTOINCREMENT, lock TEXT NOT NULL, token INTEGER NOT NULL,
                       worker TEXT NOT NULL, value INTEGER NOT NULL);
)";

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

}  // namespace

Result<Ledger> Ledger::open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open(path.c_str(), &raw);
  std::unique_ptr<sqlite3, Close> db(raw);
  if (code != SQLITE_OK) {
    return Error{.code = Errc::unavailable, .message = fmt::format("cannot open {}: {}", path, sqlite3_errstr(code))};
  }
  sqlite3_busy_timeout(raw, busy_timeout_ms);
  sqlite3_exec(raw, "PRAGMA synchronous = normal", nullptr, nullptr, nullptr);
  return Ledger(std::move(db));
}

Result<void> Ledger::create(int locks) {
  if (auto made = execute(tables); !made) return made;
  for (int i = 1; i <= locks; ++i) {
    auto added = execute(fmt::format("INSERT INTO demo_counter VALUES ('{}', 0)", demo_lock_name(i)));
    if (!added) return added;
  }
  return {};
}

Result<std::int64_t> Ledger::read(const std::string& lock) {
  return number("SELECT value FROM demo_counter WHERE lock = ?", lock);
}

Result<void> Ledger::write(const LedgerEntry& entry, bool fenced) {
  if (auto begun = execute("BEGIN IMMEDIATE"); !begun) return begun;
  auto written = write_in_transaction(entry, fenced);
  if (written) written = execute("COMMIT");
  if (!written) static_cast<void>(execute("ROLLBACK"));
  return written;
}

Result<void> Ledger::write_in_transaction(const LedgerEntry& entry, bool fenced) {
  if (fenced) {
    if (auto current = fence(db_.get(), entry.lock, entry.token); !current) return current;
  }
  return execute(
      fmt::format("UPDATE demo_counter SET value = {0} WHERE lock = '{1}';"
                  "INSERT INTO demo_log (lock, token, worker, value) VALUES ('{1}', {2}, '{3}', {0})",
                  entry.value, entry.lock, entry.token.value, entry.worker));
}

Result<LedgerTotals> Ledger::totals() {
  const auto writes = number("SELECT count(*) FROM demo_log");
  const auto counted = number("SELECT sum(value) FROM demo_counter");
  const auto repeated = number("SELECT count(*) - count(DISTINCT lock || ' ' || value) FROM demo_log");
  const auto out_of_order = number(
      "SELECT count(*) FROM (SELECT token <= lag(token) OVER (PARTITION BY lock ORDER BY id) AS falls FROM demo_log)"
      " WHERE falls");
  for (const auto* each : {&writes, &counted, &repeated, &out_of_order}) {
    if (!*each) return each->error();
  }
  return LedgerTotals{.writes = *writes, .lost = *writes - *counted, .doubled = *repeated + *out_of_order};
}

Result<void> Ledger::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return {};
}

Result<std::int64_t> Ledger::number(const std::string& sql, const std::string& text) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) return error();
  const std::unique_ptr<sqlite3_stmt, Finalize> statement(raw);
  if (!text.empty()) sqlite3_bind_text(raw, 1, text.c_str(), -1, SQLITE_STATIC);
  if (sqlite3_step(raw) != SQLITE_ROW) return error();
  return sqlite3_column_int64(raw, 0);
}

Error Ledger::error() const {
  return {.code = Errc::unavailable, .message = fmt::format("the demo's table: {}", sqlite3_errmsg(db_.get()))};
}

std::string demo_lock_name(int number) { return fmt::format("lock-{}", number); }

}  // namespace leasehold::cli

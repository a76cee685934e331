#include "cli/demo_ledger.h"

#include <fmt/format.h>

#include "leasehold/sqlite.h"

namespace leasehold::cli {
namespace {

constexpr int busy_timeout_ms = 10'000;

constexpr const char* table = R"(
CREATE TABLE demo_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, job INTEGER NOT NULL, token INTEGER NOT NULL,
                          worker TEXT NOT NULL);
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

Result<void> Ledger::create() { return execute(table); }

Result<void> Ledger::write(const LedgerEntry& entry, bool fenced) {
  if (auto begun = execute("BEGIN IMMEDIATE"); !begun) return begun;
  auto written = write_in_transaction(entry, fenced);
  if (written) written = execute("COMMIT");
  if (!written) static_cast<void>(execute("ROLLBACK"));
  return written;
}

Result<void> Ledger::write_in_transaction(const LedgerEntry& entry, bool fenced) {
  if (fenced) {
    if (auto completed = complete(db_.get(), entry.job, entry.token); !completed) return completed.error();
  }
  return execute(fmt::format("INSERT INTO demo_ledger (job, token, worker) VALUES ({}, {}, '{}')", entry.job,
                             entry.token.value, entry.worker));
}

Result<LedgerTotals> Ledger::totals() {
  const auto writes = number("SELECT count(*) FROM demo_ledger");
  const auto jobs = number("SELECT count(DISTINCT job) FROM demo_ledger");
  for (const auto* each : {&writes, &jobs}) {
    if (!*each) return each->error();
  }
  return LedgerTotals{.writes = *writes, .jobs = *jobs};
}

Result<void> Ledger::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return {};
}

Result<std::int64_t> Ledger::number(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) return error();
  const std::unique_ptr<sqlite3_stmt, Finalize> statement(raw);
  if (sqlite3_step(raw) != SQLITE_ROW) return error();
  return sqlite3_column_int64(raw, 0);
}

Error Ledger::error() const {
  return {.code = Errc::unavailable, .message = fmt::format("the demo's table: {}", sqlite3_errmsg(db_.get()))};
}

}  // namespace leasehold::cli

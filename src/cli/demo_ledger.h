// The demo's own tables, in the same file as the leases: what the workers count, and who counted it.
//
// It talks to SQLite by itself, as any application would; only the fence comes from leasehold.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold::cli {

struct LedgerEntry {
  std::string lock;
  Token token;
  std::string worker;
  std::int64_t value = 0;
};

/// What the tables say when all is over.
struct LedgerTotals {
  std::int64_t writes = 0;
  /// Writes that another one overwrote: rows in the log that the counters do not show.
  std::int64_t lost = 0;
  /// The same number counted twice, or a token that came after a greater one.
  std::int64_t doubled = 0;
};

class Ledger {
 public:
  static Result<Ledger> open(const std::string& path);

  Result<void> create(int locks);
  Result<std::int64_t> read(const std::string& lock);
  /// Counter and log row in one transaction, with the fence in it unless `fenced` is false.
  Result<void> write(const LedgerEntry& entry, bool fenced);
  Result<LedgerTotals> totals();

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  explicit Ledger(std::unique_ptr<sqlite3, Close> db) : db_(std::move(db)) {}
  Result<void> execute(const std::string& sql);
  Result<void> write_in_transaction(const LedgerEntry& entry, bool fenced);
  Result<std::int64_t> number(const std::string& sql, const std::string& text = {});
  [[nodiscard]] Error error() const;

  std::unique_ptr<sqlite3, Close> db_;
};

std::string demo_lock_name(int number);

}  // namespace leasehold::cli

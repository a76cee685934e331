// The demo's own table, in the same file as the jobs: which job was done, under which token, by whom.
//
// It talks to SQLite by itself, as any application would; only complete() comes from leasehold, and makes the row and
// the job's completion one.
#pragma once

#include <sqlite3.h>
#include <cstdint>
#include <memory>
#include <string>

#include "cli/demo/demo.h"
#include "leasehold/job.h"
#include "leasehold/result.h"
#include "leasehold/store.h"

namespace leasehold::cli {

struct LedgerEntry {
  JobId job = 0;
  Token token;
  std::string worker;
};

/// What the table says when all is over.
struct LedgerTotals {
  std::int64_t writes = 0;
  std::int64_t jobs = 0;  ///< different ones
};

class Ledger {
 public:
  static Result<Ledger> open(const std::string& path);

  Result<void> create();
  /// A row; the job's completion comes with it in one transaction, unless `fenced` is false.
  Result<void> write(const LedgerEntry& entry, bool fenced);
  Result<LedgerTotals> totals();

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  explicit Ledger(std::unique_ptr<sqlite3, Close> db) : db_(std::move(db)) {}
  Result<void> execute(const std::string& sql);
  Result<void> write_in_transaction(const LedgerEntry& entry, bool fenced);
  Result<std::int64_t> number(const std::string& sql);
  [[nodiscard]] Error error() const;

  std::unique_ptr<sqlite3, Close> db_;
};

// What the demo proved, or did not.
struct DemoVerdict {
  DemoTally seen;
  LedgerTotals ledger;
  std::int64_t taken_over = 0;  ///< jobs, by the store's count
  std::int64_t failed = 0;      ///< dead letters: there should be none
  Duration median_takeover{};
  bool passed = false;
  std::string sentence;

  [[nodiscard]] std::int64_t missing(const DemoOptions& options) const { return options.jobs - ledger.jobs; }
  [[nodiscard]] std::int64_t doubled() const { return ledger.writes - ledger.jobs; }
};

/// From three sources that know nothing of each other: what the conductor saw, what the store recorded,
/// and what stands in the workers' own table.
Result<DemoVerdict> judge(const DemoOptions& options, const DemoTally& seen, const Store& store, Ledger& ledger);

void print_verdict(const DemoOptions& options, const DemoVerdict& verdict);
std::string to_json(const DemoOptions& options, const DemoVerdict& verdict);

}  // namespace leasehold::cli

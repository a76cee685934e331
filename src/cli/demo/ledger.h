// The demo's own table, in the same file as the jobs: each finished job with its token and its worker.
//
// It uses SQLite directly, as any application would; only complete() comes from leasehold, and commits the row together
// with the job's completion.
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

/// The contents of the table at the end.
struct LedgerTotals {
  std::int64_t writes = 0;
  std::int64_t jobs = 0;  ///< different jobs
};

class Ledger {
 public:
  static Result<Ledger> open(const std::string& path);

  Result<void> create();
  /// Writes a row, in one transaction with the job's completion, unless `fenced` is false.
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
  std::int64_t taken_over = 0;  ///< jobs, as counted by the store
  std::int64_t failed = 0;      ///< dead letters: there should be none
  Duration median_takeover{};
  bool passed = false;
  std::string sentence;

  [[nodiscard]] std::int64_t missing(const DemoOptions& options) const { return options.jobs - ledger.jobs; }
  [[nodiscard]] std::int64_t doubled() const { return ledger.writes - ledger.jobs; }
};

/// From three independent sources: the conductor's observations, the store's records, and the workers' own table.
Result<DemoVerdict> judge(const DemoOptions& options, const DemoTally& seen, const Store& store, Ledger& ledger);

void print_verdict(const DemoOptions& options, const DemoVerdict& verdict);
std::string to_json(const DemoOptions& options, const DemoVerdict& verdict);

}  // namespace leasehold::cli

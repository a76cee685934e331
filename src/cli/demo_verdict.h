// What the demo proved, or did not.
#pragma once

#include <string>

#include "cli/demo.h"
#include "cli/demo_ledger.h"
#include "leasehold/store.h"

namespace leasehold::cli {

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

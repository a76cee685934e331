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
  std::int64_t grants = 0;
  std::int64_t takeovers = 0;
  /// Lost by the counters, or told as written and not found.
  std::int64_t lost = 0;
  bool passed = false;
  std::string sentence;
};

/// From three sources that know nothing of each other: what the conductor saw, what the store recorded,
/// and what stands in the workers' own tables.
Result<DemoVerdict> judge(const DemoOptions& options, const DemoTally& seen, const Store& store, Ledger& ledger);

void print_verdict(const DemoOptions& options, const DemoVerdict& verdict);
std::string to_json(const DemoOptions& options, const DemoVerdict& verdict);

}  // namespace leasehold::cli

// The user's own table, written in the user's own transactions under the fence: what leases are for. Each write of a
// key has the number after the one before, so that the numbers show a write by a second holder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "leasehold/leasehold.h"

namespace leasehold::history {

struct LedgerRow {
  std::string key;
  std::int64_t token = 0;
  std::int64_t n = 0;  ///< counts the writes of the key
  int process = 0;
  std::int64_t act = 0;  ///< which of the process' acts wrote it
};

/// Used by one thread. Connects when it is needed, and again after trouble.
class Ledger {
 public:
  virtual ~Ledger() = default;
  /// Makes the table, if it is not there.
  virtual Result<void> create() = 0;
  /// One transaction: fence, write, commit. Gives the number of the write. `lost`: the fence did not let it pass.
  /// `unavailable`: it did not happen. `in_doubt`: it may have.
  virtual Result<std::int64_t> write(const LedgerRow& row) = 0;
  /// Everything under keys that begin like this, by key and number.
  virtual Result<std::vector<LedgerRow>> rows(const std::string& prefix) = 0;
};

/// `patience`: how long one write may take.
Result<std::unique_ptr<Ledger>> open_ledger(const std::string& store_url, Duration patience);

std::unique_ptr<Ledger> sqlite_ledger(const std::string& path, Duration patience);
std::unique_ptr<Ledger> postgres_ledger(const std::string& conninfo, const std::string& schema, Duration patience);

}  // namespace leasehold::history

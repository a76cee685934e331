// The state of the store after the run: one more read of every key that was used, and the user's own table.
#pragma once

#include <string>
#include <vector>

#include "history/history.h"
#include "history/ledger.h"

namespace leasehold::history {

/// Adds a `read` of every lock, job, item and chunk of the history, by a process -1. Throws std::runtime_error when the
/// store cannot be read.
void add_final_reads(History& history, const std::string& store_url);

std::vector<LedgerRow> final_ledger(const History& history, const std::string& store_url);

/// Writes whose answer was lost are in the ledger, and happened, or are not.
void settle_doubts(History& history, const std::vector<LedgerRow>& ledger);

/// Errors in the ledger itself: tokens that fall, acknowledged writes that are missing, rows that no process
/// wrote. `forgetful`: the store may have lost what it had acknowledged.
std::vector<std::string> judge_ledger(const History& history, const std::vector<LedgerRow>& ledger, bool forgetful);

}  // namespace leasehold::history

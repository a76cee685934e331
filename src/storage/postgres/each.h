// Calls of one statement as one command: their parameters go as arrays, and the rows return with the number of their
// call. One execution of a function serves 64 threads if it has such a form (see tools/embed_sql.cc).
#pragma once

#include <libpq-fe.h>

#include <span>
#include <string_view>
#include <vector>

#include "storage/combiner.h"
#include "storage/postgres/binary_params.h"

namespace leasehold::postgres {

/// The calls of one command of a batch: one, or several of the same statement.
using CallGroup = std::span<storage::PendingCall* const>;

/// `each_forms` is that of a Dialect, here and below.
bool has_each_form(const storage::Statement& statement, std::span<const std::string_view> each_forms);

/// Moves calls of a turn that can be grouped together, behind all others. The others keep their order, by key; the
/// groups follow in the order of the statements, each by key: so all batches take their row locks in one order.
void sort_for_grouping(std::vector<storage::PendingCall*>& calls, std::span<const std::string_view> each_forms);

/// Neighbouring calls of one turn and one statement with an each-form become one group. The groups point into `calls`.
std::vector<CallGroup> group_calls(std::span<storage::PendingCall* const> calls,
                                   std::span<const std::string_view> each_forms);

/// Every call as a group of its own.
std::vector<CallGroup> one_by_one(std::span<storage::PendingCall* const> calls);

/// For every parameter of the statement an array of the calls' values.
BinaryParams transpose(CallGroup group, Charset charset);

/// Gives every call its rows, in order. The first column is the number of the call; it is removed.
void distribute(CallGroup group, Result<storage::Rows> rows);

/// Decodes the result of a group's command into the answers of its calls.
void answer_group(CallGroup group, const PGresult* result);

}  // namespace leasehold::postgres

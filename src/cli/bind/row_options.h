// The table and the key that the row commands act on.
//
//   leasehold row heartbeat sync_jobs 7 --token 120       as a person writes it
//   leasehold row heartbeat                               inside of `row work`, which provides all three
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/context.h"
#include "leasehold/lease.h"
#include "leasehold/row.h"

namespace leasehold::cli {

/// The row that a command is about. The environment of `row work` may provide it.
struct HeldRowOptions {
  std::string table;
  RowKey key;
  Token token;
};

/// A verdict on it.
struct RowVerdictOptions {
  HeldRowOptions row;
  RowValues values;
};

/// The adopted table in the database that --db or LEASEHOLD_DB names. leasehold's own tables need not be there.
Result<Rows> open_rows(const Context& context, const std::string& table);

/// For people: parts of a key that are separated by blanks. A part that has blanks itself is quoted, so that the parts
/// can be told apart.
std::string shown_row_key(const RowKey& key);

/// TABLE, required; its schema may be left out.
CLI::Option* add_adopted_table(CLI::App& command, std::string& table);

/// KEY, one argument per key column.
CLI::Option* add_row_key(CLI::App& command, RowKey& key, const std::string& help);

/// TABLE, KEY and --token of a command that acts on a held row. `row work` has put them into the environment of its
/// command; the token counts only for that row.
void add_held_row(CLI::App& command, Context& context, HeldRowOptions& row);

/// The same, and --set NAME=VALUE.
void add_row_verdict_options(CLI::App& command, Context& context, RowVerdictOptions& verdict);

}  // namespace leasehold::cli

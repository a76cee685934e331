// The parts of the emitter for SQLite: the facts about a table, the values that the templates need, and the notes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adopt/catalogue.h"
#include "adopt/description.h"
#include "adopt/emission.h"
#include "adopt/sqlite/moments.h"
#include "adopt/template.h"
#include "leasehold/result.h"
#include "leasehold/time.h"
#include "storage/direct.h"

namespace leasehold::adopt::sqlite {

// Reads the facts about the table from a SQLite file, and refuses a table that cannot be adopted.

struct FileFacts {
  TableFacts table;
  std::vector<std::string> key;     ///< the description's, or the primary key
  std::vector<ColumnFacts> serial;  ///< columns of the one-row lock table, if the description names one
};

/// nullptr if there is none.
const ColumnFacts* column_of(const std::vector<ColumnFacts>& columns, std::string_view name);

/// Refuses an object without rows of its own, and a table without a key for its rows.
Result<FileFacts> inspect(storage::Direct& database, const Description& table, BootTime deadline);

// Turns a description and the facts about its table into the values that the templates of SQLite need.

/// Errors name the line and the key of the file.
Result<Values> values_of(const Description& table, const FileFacts& facts);

// What a person should know before a SQLite table is adopted.

Result<std::vector<Note>> notes_of(storage::Direct& database, const Description& table, const FileFacts& facts,
                                   BootTime deadline);

// The expressions over a table's key, its lease columns and its moments that the templates of all shapes share.

/// The key columns, each as `pattern` with {c} for its quoted name, {i} for its place from 1, joined by `between`.
std::string over_key(const FileFacts& facts, std::string_view pattern, std::string_view between);

/// A JSON array of the key as text: ["7"].
std::string key_json(const FileFacts& facts, std::string_view pattern);

/// The temporary table in which an act records its decisions.
std::string chosen_name(const FileFacts& facts);

/// The row as a JSON object; `prefix` stands before each column ("t.").
std::string row_json(const Description& table, const FileFacts& facts, std::string_view prefix);

/// The lease columns that the table does not have yet.
std::vector<std::string> added_columns(const Description& table, const FileFacts& facts);

/// How the table's moments are written: as the file says, or as the type of its column suggests.
TimeForm time_form_of(const Description& table, const FileFacts& facts);

void add_names(const Description& table, Values& values);
void add_key_values(const Description& table, const FileFacts& facts, Values& values);
void add_moment_values(const Description& table, const Moments& moments, Values& values);

}  // namespace leasehold::adopt::sqlite

// Turns a description and the catalogue's facts into the values of the templates: work, lock, schedule and keep.
//
//   auto values = values_of(table, facts, serial_columns);
//   auto steps = render(templates::postgres_claim, "postgres/claim.sql", *values);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adopt/catalogue.h"
#include "adopt/description.h"
#include "adopt/fragments.h"
#include "adopt/postgres/moments.h"
#include "adopt/template.h"
#include "leasehold/result.h"

namespace leasehold::adopt::postgres {

/// A parameter that a fragment asks for beside key and token.
struct ExtraParameter {
  std::string name;  ///< as the fragment writes it, without the colon
  std::string type;
};

/// What the parts of values_of() share. Each part adds values; the first error wins.
struct ValueMaker {
  const Description& table;
  const TableFacts& facts;
  const std::vector<ColumnFacts>& serial_columns;
  Moments until;
  Values values{};
  std::optional<Error> error{};
  std::string alias{};  ///< how fragments may call the table

  void set(std::string_view name, std::string value) { values[std::string(name)] = std::move(value); }
  [[nodiscard]] const std::string& get(std::string_view name) const { return values.find(name)->second; }
  void refuse(const std::string& key, std::string_view what);

  /// "sync_jobs.id"
  [[nodiscard]] std::string qualified(std::string_view column) const;
  /// The same expression for each column of the key, with `between` in between; {0} is the column, {1} its parameter,
  /// {2} its type, {3} its place from 1.
  [[nodiscard]] std::string of_key(std::string_view form, std::string_view between) const;
  [[nodiscard]] const std::string& on(const std::string& act) const;
  /// All of the user's SQL.
  [[nodiscard]] std::string all_fragments() const;
  /// An object's name beside the table: schema.table_suffix; refused if it is too long.
  std::string beside(std::string_view suffix);
  /// A column that a fragment or key names; nullptr, and an error, if there is none.
  const ColumnFacts* need_column(const std::string& key, std::string_view name);
  /// The columns that a list of assignments sets.
  std::vector<std::string> assigned(const std::string& act);
};

// The parts, in this order.
void add_names(ValueMaker& maker);
void add_key(ValueMaker& maker);
void add_lease(ValueMaker& maker);
void add_acts(ValueMaker& maker);    ///< what claim, complete, fail, release and expiry set
void add_claims(ValueMaker& maker);  ///< which rows a claim may take, and why not
void add_guard(ValueMaker& maker);   ///< the trigger
void add_looks(ValueMaker& maker);   ///< view, indexes, and the statements of `row`
void add_events(ValueMaker& maker);  ///< events for the store of leasehold, if this database has one
void add_rights(ValueMaker& maker);
void add_keep(ValueMaker& maker);

Result<Values> values_of(const Description& table, const TableFacts& facts,
                         const std::vector<ColumnFacts>& serial_columns);

/// Parts of a list between commas outside of parentheses and quotes.
std::vector<std::string> list_parts(std::string_view list);
std::string joined(const std::vector<std::string>& texts, std::string_view between);
/// The parameter of a key's column.
std::string key_parameter(std::string_view column);

}  // namespace leasehold::adopt::postgres

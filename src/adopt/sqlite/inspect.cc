#include "adopt/sqlite/emitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace leasehold::adopt::sqlite {
namespace {

using storage::quote_literal;
using storage::TextRows;

std::string upper(std::string text) {
  for (auto& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

/// SQLite's rules of affinity, and the words that people use beside them.
std::string category_of(const std::string& declared) {
  const auto type = upper(declared);
  const auto has = [&](std::string_view word) { return type.find(word) != std::string::npos; };
  if (has("BOOL")) return "boolean";
  if (has("UUID")) return "uuid";
  if (has("INT")) return "integer";
  if (has("CHAR") || has("CLOB") || has("TEXT")) return "text";
  if (has("TIME")) return "time";
  if (has("DATE")) return "date";
  return "other";
}

class Inspection {
 public:
  Inspection(storage::Direct& database, const Description& table, BootTime deadline)
      : database_(database), table_(table), name_(quote_literal(table.table)), deadline_(deadline) {}

  Result<FileFacts> run() {
    read_kind();
    if (!error_) facts_.table.columns = read_columns(name_, &facts_.table.primary_key);
    if (!error_) read_indexes();
    if (!error_) read_triggers();
    if (!error_) read_dependents();
    if (!error_) choose_key();
    if (!error_ && table_.serial) read_serial();
    if (error_) return std::move(*error_);
    return std::move(facts_);
  }

 private:
  void refuse(const std::string& key, std::string_view what) {
    if (!error_) error_ = error_at(table_, key, what);
  }

  TextRows ask(const std::string& sql) {
    auto rows = database_.run(sql, deadline_);
    if (rows) return std::move(*rows);
    if (!error_) error_ = std::move(rows).error();
    return {};
  }

  void read_kind() {
    const auto rows = ask(fmt::format(
        "SELECT name, schema, type FROM pragma_table_list WHERE name = {} COLLATE NOCASE ORDER BY schema = 'temp' DESC",
        name_));
    if (error_) return;
    if (rows.rows.empty()) return refuse("", fmt::format("there is no table {} in this file", table_.table));
    facts_.table.schema = rows.at(0, "schema").value_or("");
    facts_.table.name = rows.at(0, "name").value_or("");
    facts_.table.kind = rows.at(0, "type").value_or("");
    if (facts_.table.schema == "temp") {
      return refuse("", fmt::format("{} is a temporary table: other processes do not see it", table_.table));
    }
    if (facts_.table.kind != "table") {
      refuse("", fmt::format("{} is a {}: adopt the table that has the rows", table_.table, facts_.table.kind));
    }
  }

  std::vector<ColumnFacts> read_columns(const std::string& of, std::vector<std::string>* primary_key) {
    std::vector<ColumnFacts> columns;
    std::vector<std::pair<std::string, std::string>> key;
    const auto rows = ask(fmt::format(
        R"(SELECT name, type, "notnull" AS nn, dflt_value IS NOT NULL AS df, pk, hidden FROM pragma_table_xinfo({}) )"
        "ORDER BY cid",
        of));
    for (std::size_t row = 0; row < rows.rows.size(); ++row) {
      ColumnFacts column;
      column.name = rows.at(row, "name").value_or("");
      column.type = rows.at(row, "type").value_or("");
      column.not_null = rows.at(row, "nn") == "1";
      column.has_default = rows.at(row, "df") == "1";
      column.generated = rows.at(row, "hidden") != "0";
      column.category = category_of(column.type);
      if (rows.at(row, "pk") != "0") key.emplace_back(rows.at(row, "pk").value_or(""), column.name);
      columns.push_back(std::move(column));
    }
    std::sort(key.begin(), key.end());
    if (primary_key != nullptr) {
      for (auto& [place, name] : key) primary_key->push_back(name);
    }
    return columns;
  }

  void read_indexes() {
    const auto rows = ask(fmt::format(
        R"(SELECT i.name, i."unique" AS uniq, i.partial, c.name AS column_name FROM pragma_index_list({}) AS i )"
        "JOIN pragma_index_info(i.name) AS c ORDER BY i.seq DESC, c.seqno",
        name_));
    for (std::size_t row = 0; row < rows.rows.size(); ++row) {
      const auto name = rows.at(row, "name").value_or("");
      auto& indexes = facts_.table.indexes;
      if (indexes.empty() || indexes.back().name != name) {
        indexes.push_back({.name = name,
                           .columns = {},
                           .unique = rows.at(row, "uniq") == "1",
                           .partial = rows.at(row, "partial") == "1",
                           .valid = true});
      }
      // An index on expressions has no columns here; `valid` keeps it from being taken for a key.
      const auto column = rows.at(row, "column_name");
      if (!column) indexes.back().valid = false;
      if (column) indexes.back().columns.push_back(*column);
    }
  }

  void read_triggers() {
    const auto rows = ask(fmt::format(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = {} COLLATE NOCASE ORDER BY rowid",
        name_));
    for (const auto& row : rows.rows) facts_.table.triggers.push_back({row[0].value_or(""), row[1].value_or("")});
  }

  void read_dependents() {
    const auto tables =
        ask(fmt::format("SELECT DISTINCT m.name FROM sqlite_schema AS m JOIN pragma_foreign_key_list(m.name) AS f "
                        "WHERE m.type = 'table' AND f.\"table\" = {} COLLATE NOCASE ORDER BY m.name",
                        name_));
    for (const auto& row : tables.rows) {
      facts_.table.dependents.push_back({.kind = "foreign key", .name = row[0].value_or(""), .definition = {}});
    }
    const auto views = ask("SELECT name, sql FROM sqlite_schema WHERE type = 'view' ORDER BY name");
    for (const auto& row : views.rows) {
      const auto definition = upper(row[1].value_or(""));
      if (definition.find(upper(table_.table)) == std::string::npos) continue;
      facts_.table.dependents.push_back(
          {.kind = "view", .name = row[0].value_or(""), .definition = row[1].value_or("")});
    }
  }

  [[nodiscard]] bool is_unique(std::vector<std::string> columns) const {
    std::sort(columns.begin(), columns.end());
    auto primary = facts_.table.primary_key;
    std::sort(primary.begin(), primary.end());
    if (primary == columns) return true;
    return std::any_of(facts_.table.indexes.begin(), facts_.table.indexes.end(), [&](IndexFacts index) {
      std::sort(index.columns.begin(), index.columns.end());
      return index.unique && !index.partial && index.valid && index.columns == columns;
    });
  }

  void choose_key() {
    facts_.key = table_.key.empty() ? facts_.table.primary_key : table_.key;
    if (facts_.key.empty()) {
      return refuse(
          "", fmt::format("{} has no primary key: name the columns that tell rows apart, key = [\"…\"]", table_.table));
    }
    for (const auto& name : facts_.key) {
      const auto* column = column_of(facts_.table.columns, name);
      if (column == nullptr) return refuse("key", fmt::format("there is no column {}", leasehold::quoted(name)));
      if (column->category == "other" || column->category == "time") {
        return refuse("key", fmt::format("{} has the type {}, which cannot be a key: use integers, text, uuid, date "
                                         "or boolean",
                                         name, leasehold::quoted(column->type)));
      }
      const bool primary = std::find(facts_.table.primary_key.begin(), facts_.table.primary_key.end(), name) !=
                           facts_.table.primary_key.end();
      if (!column->not_null && !primary) {
        return refuse("key", fmt::format("{} may be NULL, so it does not tell rows apart", name));
      }
    }
    if (!is_unique(facts_.key)) {
      refuse("key", fmt::format("no unique index has exactly the columns {}", fmt::join(facts_.key, ", ")));
    }
  }

  void read_serial() {
    facts_.serial = read_columns(quote_literal(table_.serial->table), nullptr);
    if (facts_.serial.empty()) {
      return refuse("serial", fmt::format("there is no table {} in this file", table_.serial->table));
    }
    for (const auto& name : {table_.serial->holder, table_.serial->acquired, table_.serial->until}) {
      if (!name.empty() && column_of(facts_.serial, name) == nullptr) {
        refuse("serial", fmt::format("{} has no column {}", table_.serial->table, leasehold::quoted(name)));
      }
    }
  }

  storage::Direct& database_;
  const Description& table_;
  std::string name_;
  BootTime deadline_;
  FileFacts facts_{};
  std::optional<Error> error_{};
};

}  // namespace

const ColumnFacts* column_of(const std::vector<ColumnFacts>& columns, std::string_view name) {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& one) { return one.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

Result<FileFacts> inspect(storage::Direct& database, const Description& table, BootTime deadline) {
  return Inspection(database, table, deadline).run();
}

}  // namespace leasehold::adopt::sqlite

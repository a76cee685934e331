#include "adopt/postgres/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/json.h"
#include "base/text.h"

namespace leasehold::adopt::postgres {
namespace {

using storage::quote_literal;
using storage::TextRows;

constexpr std::string_view relation_query = R"(
SELECT c.oid, c.relkind, c.relpersistence = 't' AS temporary, c.relispartition AS is_part,
       EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhrelid = c.oid OR (i.inhparent = c.oid AND c.relkind = 'r')) AS inherits,
       c.relrowsecurity AS row_security, c.relforcerowsecurity AS force_row_security,
       c.relowner::regrole::text AS owner, greatest(c.reltuples, 0)::bigint AS rows
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = {} AND c.relname = {})";

constexpr std::string_view relation_columns_query = R"(
SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS not_null,
       a.atthasdef OR a.attidentity <> '' AS has_default, a.attgenerated <> '' OR a.attidentity = 'a' AS generated,
       CASE WHEN t.typtype = 'e' THEN 'enum'
            WHEN t.typname IN ('int2', 'int4', 'int8') THEN 'integer'
            WHEN t.typname IN ('json', 'jsonb') THEN 'json'
            WHEN t.typname IN ('uuid', 'date') THEN t.typname::text
            WHEN t.typcategory = 'S' THEN 'text'
            WHEN t.typcategory = 'B' THEN 'boolean'
            WHEN t.typcategory = 'D' THEN 'time'
            ELSE 'other' END AS category
  FROM pg_attribute AS a JOIN pg_type AS d ON d.oid = a.atttypid
  JOIN pg_type AS t ON t.oid = CASE WHEN d.typtype = 'd' THEN d.typbasetype ELSE d.oid END
 WHERE a.attrelid = (SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                      WHERE n.nspname = {} AND c.relname = {})
   AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY a.attnum)";

constexpr std::string_view index_query = R"(
SELECT c.relname AS name, i.indisunique AS is_unique, i.indpred IS NOT NULL AS partial, i.indisvalid AS valid,
       i.indisprimary AS is_primary,
       CASE WHEN 0 = ANY (i.indkey::smallint[]) THEN '[]' ELSE (
         SELECT json_agg(a.attname ORDER BY k.place)::text
           FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(attnum, place)
           JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
          WHERE k.place <= i.indnkeyatts) END AS columns
  FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
 WHERE i.indrelid = {}::oid)";

constexpr std::string_view trigger_query = R"(
SELECT t.tgname AS name, pg_get_triggerdef(t.oid) AS definition
  FROM pg_trigger AS t WHERE t.tgrelid = {}::oid AND NOT t.tgisinternal ORDER BY t.tgname)";

constexpr std::string_view dependent_query = R"(
SELECT DISTINCT 'view' AS kind, v.oid::regclass::text AS name, pg_get_viewdef(v.oid) AS definition
  FROM pg_depend AS d JOIN pg_rewrite AS r ON r.oid = d.objid JOIN pg_class AS v ON v.oid = r.ev_class
 WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = {0}::oid
   AND v.oid <> {0}::oid
UNION ALL
SELECT 'foreign key', f.conrelid::regclass::text, f.conname::text || ': ' || pg_get_constraintdef(f.oid)
  FROM pg_constraint AS f WHERE f.contype = 'f' AND f.confrelid = {0}::oid
UNION ALL
SELECT 'partition key', a.attname::text, ''
  FROM pg_partitioned_table AS p JOIN pg_attribute AS a ON a.attrelid = p.partrelid
   AND a.attnum = ANY (p.partattrs::smallint[]) WHERE p.partrelid = {0}::oid)";

/// The store that gets events of adopted rows: one that this user may write to. If there are several, none of them.
constexpr std::string_view store_query = R"(
SELECT min(n.nspname) AS store
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relname = 'adopted' AND n.nspname LIKE '%\_internal' AND has_schema_privilege(n.oid, 'USAGE')
   AND has_table_privilege(c.oid, 'INSERT, DELETE') AND to_regclass(format('%I.event', n.nspname)) IS NOT NULL
HAVING count(*) = 1)";

bool holds_true(const TextRows& rows, std::size_t row, std::string_view column) { return rows.at(row, column) == "t"; }

std::string kind_name(const std::string& relkind, bool temporary) {
  if (relkind == "r") return temporary ? "temporary table" : "table";
  if (relkind == "p") return "partitioned table";
  if (relkind == "v") return "view";
  if (relkind == "m") return "materialized view";
  return relkind == "f" ? "foreign table" : "relation";
}

class Inspection {
 public:
  Inspection(storage::Direct& database, const Description& table, BootTime deadline)
      : database_(database), table_(table), deadline_(deadline) {}

  Result<TableFacts> read() {
    read_relation();
    read_columns();
    read_indexes();
    read_others();
    read_store();
    if (table_.shape != Shape::keep) choose_key();
    if (error_) return std::move(*error_);
    return std::move(facts_);
  }

 private:
  void refuse(const std::string& key, std::string_view what) {
    if (!error_) error_ = error_at(table_, key, what);
  }

  TextRows ask(const std::string& sql) {
    if (error_) return {};
    auto rows = database_.run(sql, deadline_);
    if (rows) return std::move(*rows);
    error_ = std::move(rows).error();
    return {};
  }

  [[nodiscard]] std::string full_name() const { return table_.schema + "." + table_.table; }

  void read_relation() {
    const auto rows = ask(fmt::format(relation_query, quote_literal(table_.schema), quote_literal(table_.table)));
    if (error_) return;
    if (rows.rows.empty()) return refuse("", fmt::format("there is no table {}", full_name()));
    oid_ = quote_literal(rows.at(0, "oid").value_or(""));
    facts_.schema = table_.schema;
    facts_.name = table_.table;
    facts_.kind = kind_name(rows.at(0, "relkind").value_or(""), holds_true(rows, 0, "temporary"));
    facts_.row_security = holds_true(rows, 0, "row_security");
    facts_.force_row_security = holds_true(rows, 0, "force_row_security");
    facts_.owner = rows.at(0, "owner").value_or("");
    facts_.estimated_rows = std::strtoll(rows.at(0, "rows").value_or("0").c_str(), nullptr, 10);
    if (facts_.kind != "table" && facts_.kind != "partitioned table") {
      return refuse("", fmt::format("{} is a {}: only tables can be adopted", full_name(), facts_.kind));
    }
    if (holds_true(rows, 0, "is_part")) {
      return refuse("", fmt::format("{} is a partition: adopt the partitioned table", full_name()));
    }
    facts_.inherits = holds_true(rows, 0, "inherits");
    if (facts_.inherits)
      refuse("", fmt::format("{} is part of an inheritance tree: that is not supported", full_name()));
  }

  void read_columns() {
    if (error_) return;
    auto columns = columns_of(database_, table_.schema, table_.table, deadline_);
    if (!columns) {
      error_ = std::move(columns).error();
      return;
    }
    facts_.columns = std::move(*columns);
  }

  void read_indexes() {
    const auto rows = ask(fmt::format(index_query, oid_));
    for (std::size_t row = 0; row < rows.rows.size(); ++row) {
      IndexFacts index;
      index.name = rows.at(row, "name").value_or("");
      index.columns = texts_from_json(rows.at(row, "columns").value_or("[]"));
      index.unique = holds_true(rows, row, "is_unique");
      index.partial = holds_true(rows, row, "partial");
      index.valid = holds_true(rows, row, "valid");
      if (holds_true(rows, row, "is_primary")) facts_.primary_key = index.columns;
      facts_.indexes.push_back(std::move(index));
    }
  }

  void read_others() {
    const auto triggers = ask(fmt::format(trigger_query, oid_));
    for (std::size_t row = 0; row < triggers.rows.size(); ++row) {
      facts_.triggers.push_back({triggers.at(row, "name").value_or(""), triggers.at(row, "definition").value_or("")});
    }
    const auto dependents = ask(fmt::format(dependent_query, oid_));
    for (std::size_t row = 0; row < dependents.rows.size(); ++row) {
      auto kind = dependents.at(row, "kind").value_or("");
      auto name = dependents.at(row, "name").value_or("");
      if (kind == "partition key") {
        facts_.partition_key.push_back(std::move(name));
        continue;
      }
      facts_.dependents.push_back({std::move(kind), std::move(name), dependents.at(row, "definition").value_or("")});
    }
  }

  void read_store() {
    const auto rows = ask(std::string(store_query));
    if (!rows.rows.empty()) facts_.store = rows.at(0, "store").value_or("");
  }

  [[nodiscard]] bool is_unique(std::vector<std::string> key) const {
    std::sort(key.begin(), key.end());
    return std::any_of(facts_.indexes.begin(), facts_.indexes.end(), [&](const IndexFacts& index) {
      auto columns = index.columns;
      std::sort(columns.begin(), columns.end());
      return index.unique && !index.partial && index.valid && columns == key;
    });
  }

  void choose_key() {
    if (error_) return;
    if (!table_.key.empty()) facts_.primary_key = table_.key;
    if (facts_.primary_key.empty()) {
      return refuse("", fmt::format("{} has no primary key: name the columns that identify a row, with key = [\"…\"]",
                                    full_name()));
    }
    for (const auto& name : facts_.primary_key) {
      const auto* column = column_of(facts_.columns, name);
      if (column == nullptr) return refuse("key", fmt::format("there is no column {}", leasehold::quoted(name)));
      if (!column->not_null)
        return refuse("key", fmt::format("column {} may be NULL: it identifies no row", leasehold::quoted(name)));
      if (column->category == "time" || column->category == "json" || column->category == "other") {
        return refuse("key",
                      fmt::format("column {} is {}: a key is made of integers, text, uuid, date, enum or boolean",
                                  leasehold::quoted(name), column->type));
      }
    }
    if (!is_unique(facts_.primary_key)) {
      refuse("key", fmt::format("no unique index on exactly {}: two rows could have the same key",
                                fmt::join(facts_.primary_key, ", ")));
    }
  }

  storage::Direct& database_;
  const Description& table_;
  const BootTime deadline_;
  std::string oid_{};
  TableFacts facts_{};
  std::optional<Error> error_{};
};

}  // namespace

Result<TableFacts> inspect(storage::Direct& database, const Description& table, BootTime deadline) {
  return Inspection(database, table, deadline).read();
}

Result<std::vector<ColumnFacts>> columns_of(storage::Direct& database, std::string_view schema, std::string_view name,
                                            BootTime deadline) {
  auto rows = database.run(fmt::format(relation_columns_query, quote_literal(schema), quote_literal(name)), deadline);
  if (!rows) return std::move(rows).error();
  std::vector<ColumnFacts> columns;
  for (std::size_t row = 0; row < rows->rows.size(); ++row) {
    ColumnFacts column;
    column.name = rows->at(row, "name").value_or("");
    column.type = rows->at(row, "type").value_or("");
    column.not_null = holds_true(*rows, row, "not_null");
    column.has_default = holds_true(*rows, row, "has_default");
    column.generated = holds_true(*rows, row, "generated");
    column.category = rows->at(row, "category").value_or("");
    columns.push_back(std::move(column));
  }
  return columns;
}

const ColumnFacts* column_of(const std::vector<ColumnFacts>& columns, std::string_view name) {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const ColumnFacts& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

}  // namespace leasehold::adopt::postgres

#include "adopt/postgres/session_values.h"

#include <fmt/format.h>

#include "base/text.h"

namespace leasehold::adopt::postgres {
namespace {

using storage::quote_literal;
using storage::quote_name;

/// Columns with their types, and whether they belong to the primary key.
constexpr std::string_view columns_query =
    "SELECT c.relkind, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull, "
    "a.attgenerated <> '' AS generated, coalesce(a.attnum = ANY (k.conkey), false) AS in_key "
    "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
    "LEFT JOIN pg_catalog.pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p' "
    "WHERE n.nspname = {} AND c.relname = {} ORDER BY a.attnum";

/// A view as JSON, or what the ledger kept of it if it has been replaced already. Without a search_path, the definition
/// names the schema of everything.
constexpr std::string_view view_query =
    "SELECT pg_catalog.set_config('search_path', 'pg_catalog', true); "
    "SELECT json_build_object('definition', pg_get_viewdef(c.oid), 'options', coalesce(array_to_string(c.reloptions, "
    "', '), ''), 'columns', (SELECT json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod)) ORDER "
    "BY "
    "a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0))::text AS saved "
    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = {} AND c.relname = {} AND c.relkind = 'v'";

constexpr std::string_view parts_query =
    "SELECT v.j->>'definition' AS definition, v.j->>'options' AS options, c.value->>0 AS name, c.value->>1 AS type "
    "FROM (SELECT {}::json AS j) AS v, json_array_elements(v.j->'columns') AS c";

bool is_true(const std::optional<std::string>& value) { return value == "t" || value == "true"; }

Result<TableFacts> inspect_things(storage::Direct& database, const Description& table, BootTime deadline) {
  const auto& holds = *table.sessions->holds;
  auto [schema, name] = split_name(table, holds.table);
  auto rows = database.run(fmt::format(columns_query, quote_literal(schema), quote_literal(name)), deadline);
  if (!rows) return std::move(rows).error();
  if (rows->rows.empty()) {
    return error_at(table, "holds", fmt::format("there is no table {}.{}", schema, name));
  }
  TableFacts facts;
  facts.schema = schema;
  facts.name = name;
  facts.kind = rows->at(0, "relkind") == "r" ? "table" : "other";
  for (std::size_t row = 0; row < rows->rows.size(); ++row) {
    ColumnFacts column;
    column.name = rows->at(row, "attname").value_or("");
    column.type = rows->at(row, "type").value_or("");
    column.not_null = is_true(rows->at(row, "attnotnull"));
    column.generated = is_true(rows->at(row, "generated"));
    if (is_true(rows->at(row, "in_key"))) facts.primary_key.push_back(column.name);
    facts.columns.push_back(std::move(column));
  }
  return facts;
}

/// What the ledger kept of a view that is replaced already.
Result<std::optional<std::string>> saved_view(storage::Direct& database, const Description& table, BootTime deadline) {
  const auto ledger = quote_name(table.schema) + ".leasehold_adopted";
  auto there = database.run(fmt::format("SELECT to_regclass({})", quote_literal(ledger)), deadline);
  if (!there) return std::move(there).error();
  if (there->rows.empty() || !there->rows[0][0]) return std::optional<std::string>();
  auto rows =
      database.run(fmt::format("SELECT up FROM {} WHERE table_name = {} AND kind = 'replaced view' AND name = {}",
                               ledger, quote_literal(table.table), quote_literal(table.sessions->view)),
                   deadline);
  if (!rows) return std::move(rows).error();
  return rows->rows.empty() ? std::optional<std::string>() : rows->rows[0][0];
}

Result<OldView> inspect_view(storage::Direct& database, const Description& table, BootTime deadline) {
  auto saved = saved_view(database, table, deadline);
  if (!saved) return std::move(saved).error();
  OldView view;
  if (*saved) {
    view.saved = **saved;
  } else {
    const auto [schema, name] = split_name(table, table.sessions->view);
    auto rows = database.run(fmt::format(view_query, quote_literal(schema), quote_literal(name)), deadline);
    if (!rows) return std::move(rows).error();
    if (rows->rows.empty()) return error_at(table, "view", fmt::format("there is no view {}.{}", schema, name));
    view.saved = rows->rows[0][0].value_or("");
  }
  auto parts = database.run(fmt::format(parts_query, quote_literal(view.saved)), deadline);
  if (!parts) return std::move(parts).error();
  for (std::size_t row = 0; row < parts->rows.size(); ++row) {
    view.definition = parts->at(row, "definition").value_or("");
    view.options = parts->at(row, "options").value_or("");
    ColumnFacts column;
    column.name = parts->at(row, "name").value_or("");
    column.type = parts->at(row, "type").value_or("");
    view.columns.push_back(std::move(column));
  }
  if (view.definition.ends_with(';')) view.definition.pop_back();
  return view;
}

}  // namespace

std::pair<std::string, std::string> split_name(const Description& table, std::string_view name) {
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return {table.schema, std::string(name)};
  return {std::string(name.substr(0, dot)), std::string(name.substr(dot + 1))};
}

Result<SessionFacts> inspect_sessions(storage::Direct& database, const Description& table, BootTime deadline) {
  if (!table.sessions->holds) {
    return error_at(table, "shape", R"(sessions need holds = { column = "…", table = "…" })");
  }
  auto things = inspect_things(database, table, deadline);
  if (!things) return std::move(things).error();
  SessionFacts facts{.things = std::move(*things), .view = std::nullopt};
  if (table.sessions->view.empty()) return facts;
  auto view = inspect_view(database, table, deadline);
  if (!view) return std::move(view).error();
  facts.view = std::move(*view);
  return facts;
}

}  // namespace leasehold::adopt::postgres

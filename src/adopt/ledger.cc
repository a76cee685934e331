#include "adopt/ledger.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace leasehold::adopt {
namespace {

using storage::quote_literal;
using storage::quote_name;

std::string ledger_of(const std::string& schema) { return quote_name(schema) + ".leasehold_adopted"; }

Result<void> done(Result<storage::TextRows> rows) {
  if (!rows) return std::move(rows).error();
  return {};
}

Result<std::vector<std::string>> first_column(Result<storage::TextRows> rows) {
  if (!rows) return std::move(rows).error();
  std::vector<std::string> values;
  for (auto& row : rows->rows) values.push_back(std::move(row.front()).value_or(""));
  return values;
}

}  // namespace

std::string label_of(const Step& step) { return step.kind + " " + step.name; }

std::string Ledger::ledger() const { return ledger_of(schema_); }

Result<bool> Ledger::exists(BootTime deadline) {
  auto with_ledger = schemas(database_, deadline);
  if (!with_ledger) return std::move(with_ledger).error();
  for (const auto& schema : *with_ledger) {
    if (schema == schema_) return true;
  }
  return false;
}

std::string Ledger::create_sql(bool on_postgres) const {
  auto sql = fmt::format(
      "CREATE TABLE IF NOT EXISTS {} (table_name text NOT NULL, place integer NOT NULL, kind text NOT NULL, "
      "name text NOT NULL, up text, down text, PRIMARY KEY (table_name, kind, name))",
      ledger());
  if (!on_postgres) return sql;
  // Default privileges may open a new table to every role that can reach the schema. Worker roles may read the acts.
  constexpr std::string_view close = R"(;
DO $$
DECLARE
  reader record;
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_policy AS p WHERE p.polrelid = {0}::pg_catalog.regclass) THEN
    RETURN;
  END IF;
  FOR reader IN
    SELECT DISTINCT a.grantee FROM pg_catalog.pg_class AS c, pg_catalog.aclexplode(c.relacl) AS a
     WHERE c.oid = {0}::pg_catalog.regclass AND a.grantee <> c.relowner
  LOOP
    EXECUTE pg_catalog.format('REVOKE ALL ON {1} FROM %s',
      CASE reader.grantee WHEN 0 THEN 'PUBLIC' ELSE reader.grantee::pg_catalog.regrole::text END);
  END LOOP;
  ALTER TABLE {1} ENABLE ROW LEVEL SECURITY;
  CREATE POLICY published ON {1} FOR SELECT USING (kind IN ('act', 'fact'));
  COMMENT ON TABLE {1} IS 'What leasehold adopt added here; leasehold adopt revert removes it';
END $$)";
  return sql + fmt::format(close, quote_literal(ledger()), ledger());
}

Result<void> Ledger::create(BootTime deadline) {
  return done(database_.run(create_sql(database_.is_postgres()), deadline));
}

std::string Ledger::forget_sql() const {
  return fmt::format("DELETE FROM {} WHERE table_name = {}", ledger(), quote_literal(table_));
}

std::string Ledger::drop_if_empty_sql(bool on_postgres) const {
  if (!on_postgres) return fmt::format("-- If no table is adopted any more: DROP TABLE {}", ledger());
  return fmt::format("DO $$\nBEGIN\n  IF NOT EXISTS (SELECT FROM {0}) THEN\n    DROP TABLE {0};\n  END IF;\nEND $$",
                     ledger());
}

Result<void> Ledger::forget(BootTime deadline) {
  const auto gone = database_.run(forget_sql(), deadline);
  if (!gone) return gone.error();
  auto left = database_.run(fmt::format("SELECT 1 FROM {} LIMIT 1", ledger()), deadline);
  if (!left) return std::move(left).error();
  if (!left->rows.empty()) return {};
  return done(database_.run("DROP TABLE " + ledger(), deadline));
}

Result<std::optional<std::string>> Ledger::description(BootTime deadline) {
  auto there = exists(deadline);
  if (!there) return std::move(there).error();
  if (!*there) return std::optional<std::string>();
  auto rows = first_column(database_.run(
      fmt::format("SELECT up FROM {} WHERE table_name = {} AND kind = 'description'", ledger(), quote_literal(table_)),
      deadline));
  if (!rows) return std::move(rows).error();
  return rows->empty() ? std::optional<std::string>() : std::optional(std::move(rows->front()));
}

std::string Ledger::describe_sql(std::string_view text) const {
  return fmt::format(
      "INSERT INTO {} (table_name, place, kind, name, up) VALUES ({}, 0, 'description', '', {}) "
      "ON CONFLICT (table_name, kind, name) DO UPDATE SET up = excluded.up",
      ledger(), quote_literal(table_), quote_literal(text));
}

Result<void> Ledger::set_description(std::string_view text, BootTime deadline) {
  return done(database_.run(describe_sql(text), deadline));
}

Result<std::vector<Done>> Ledger::entries(std::string_view kind, BootTime deadline) {
  auto rows = database_.run(fmt::format("SELECT name, up, down FROM {} WHERE table_name = {} AND kind = {} "
                                        "ORDER BY place, name",
                                        ledger(), quote_literal(table_), quote_literal(kind)),
                            deadline);
  if (!rows) return std::move(rows).error();
  std::vector<Done> entries;
  for (auto& row : rows->rows) entries.push_back({row[0].value_or(""), row[1].value_or(""), row[2].value_or("")});
  return entries;
}

Result<std::vector<Done>> Ledger::steps(BootTime deadline) { return entries("step", deadline); }

Result<std::vector<Done>> Ledger::objects(BootTime deadline) { return entries("object", deadline); }

Result<void> Ledger::set_objects(const std::vector<Done>& objects, BootTime deadline) {
  const auto table = quote_literal(table_);
  auto sql = fmt::format("DELETE FROM {} WHERE table_name = {} AND kind = 'object';\n", ledger(), table);
  for (const auto& object : objects) {
    sql += fmt::format("INSERT INTO {} (table_name, place, kind, name, up) VALUES ({}, 0, 'object', {}, {});\n",
                       ledger(), table, quote_literal(object.name), quote_literal(object.up));
  }
  return done(database_.run(sql, deadline));
}

std::string Ledger::note(const Step& step) const {
  return fmt::format(
      "INSERT INTO {0} (table_name, place, kind, name, up, down) SELECT {1}, coalesce(max(place), 0) + 1, 'step', {2}, "
      "{3}, {4} FROM {0} WHERE table_name = {1}",
      ledger(), quote_literal(table_), quote_literal(label_of(step)), quote_literal(step.up), quote_literal(step.down));
}

std::string Ledger::renew(const Step& step) const {
  return fmt::format("UPDATE {} SET up = {} WHERE table_name = {} AND kind = 'step' AND name = {}", ledger(),
                     quote_literal(step.up), quote_literal(table_), quote_literal(label_of(step)));
}

std::string Ledger::strike(std::string_view label) const {
  return fmt::format("DELETE FROM {} WHERE table_name = {} AND kind = 'step' AND name = {}", ledger(),
                     quote_literal(table_), quote_literal(label));
}

Result<std::vector<std::string>> Ledger::tables(storage::Direct& database, const std::string& schema,
                                                BootTime deadline) {
  return first_column(
      database.run(fmt::format("SELECT DISTINCT table_name FROM {} ORDER BY table_name", ledger_of(schema)), deadline));
}

Result<std::vector<std::string>> Ledger::schemas(storage::Direct& database, BootTime deadline) {
  constexpr std::string_view on_postgres =
      "SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
      "WHERE c.relname = 'leasehold_adopted' AND c.relkind = 'r' ORDER BY 1";
  constexpr std::string_view on_sqlite = "SELECT 'main' FROM sqlite_schema WHERE name = 'leasehold_adopted'";
  return first_column(database.run(database.is_postgres() ? on_postgres : on_sqlite, deadline));
}

std::string Ledger::publish_sql(const std::vector<Step>& steps,
                                const std::vector<std::pair<std::string, std::string>>& facts,
                                const std::vector<std::string>& roles) const {
  const auto table = quote_literal(table_);
  auto sql = fmt::format("DELETE FROM {} WHERE table_name = {} AND kind IN ('act', 'fact');\n", ledger(), table);
  const auto add = [&](std::string_view kind, std::string_view name, std::string_view up, std::string_view down) {
    sql +=
        fmt::format("INSERT INTO {} (table_name, place, kind, name, up, down) VALUES ({}, 0, {}, {}, {}, {});\n",
                    ledger(), table, quote_literal(kind), quote_literal(name), quote_literal(up), quote_literal(down));
  };
  for (const auto& step : steps) {
    if (step.phase == Phase::act) add("act", step.name, step.up, step.kind);
  }
  for (const auto& [name, value] : facts) add("fact", name, value, "");
  for (const auto& role : roles) {
    if (database_.is_postgres()) sql += fmt::format("GRANT SELECT ON {} TO {};\n", ledger(), quote_name(role));
  }
  return sql;
}

Result<void> Ledger::publish(const std::vector<Step>& steps,
                             const std::vector<std::pair<std::string, std::string>>& facts,
                             const std::vector<std::string>& roles, BootTime deadline) {
  return done(database_.run(publish_sql(steps, facts, roles), deadline));
}

Result<std::vector<Adopted>> all_adopted(storage::Direct& database, BootTime deadline) {
  auto schemas = Ledger::schemas(database, deadline);
  if (!schemas) return std::move(schemas).error();
  std::vector<Adopted> all;
  for (const auto& schema : *schemas) {
    auto tables = Ledger::tables(database, schema, deadline);
    if (!tables) return std::move(tables).error();
    for (auto& table : *tables) all.push_back({schema, std::move(table)});
  }
  return all;
}

Result<Adopted> find_adopted(storage::Direct& database, std::string_view name, BootTime deadline) {
  auto all = all_adopted(database, deadline);
  if (!all) return std::move(all).error();
  std::vector<Adopted> found;
  std::string names;
  for (const auto& one : *all) {
    const auto full = one.schema + "." + one.table;
    if (name == one.table || name == full) found.push_back(one);
    names += (names.empty() ? "" : ", ") + full;
  }
  if (found.size() == 1) return std::move(found.front());
  if (found.size() > 1) {
    return invalid(fmt::format("several schemas have an adopted table {}: write SCHEMA.{}", name, name));
  }
  return Error{.code = Errc::not_found,
               .message = fmt::format(
                   "{} is not adopted: {}", quoted(name),
                   names.empty() ? "no table is; begin with `leasehold adopt plan FILE`" : "adopted are " + names)};
}

Duration duration_in(std::string_view microseconds) {
  std::int64_t number = 0;
  std::from_chars(microseconds.data(), microseconds.data() + microseconds.size(), number);
  return Duration(number);
}

Result<Published> find_published(storage::Direct& database, std::string_view wanted, BootTime deadline) {
  auto found = find_adopted(database, wanted, deadline);
  if (!found) return std::move(found).error();
  auto rows = database.run(fmt::format("SELECT kind, name, up, down FROM {} WHERE table_name = {} AND kind IN "
                                       "('act', 'fact')",
                                       ledger_of(found->schema), quote_literal(found->table)),
                           deadline);
  if (!rows) return std::move(rows).error();
  Published published{.schema = std::move(found->schema), .table = std::move(found->table), .entries = {}};
  for (auto& row : rows->rows) {
    published.entries.push_back({row[0].value_or(""), row[1].value_or(""), row[2].value_or(""), row[3].value_or("")});
  }
  if (!published.entries.empty()) return published;
  return Error{.code = Errc::not_found,
               .message = fmt::format("{}.{} is not adopted to its end: run `leasehold adopt apply FILE` again",
                                      published.schema, published.table)};
}

}  // namespace leasehold::adopt

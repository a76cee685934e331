// Compares an adopted table with what apply() made there. The ledger keeps the definition of each object as the
// database showed it right after apply().
#include <fmt/format.h>

#include <algorithm>

#include "adopt/adoption.h"
#include "adopt/ledger.h"
#include "base/text.h"

namespace leasehold::adopt {
namespace {

using storage::quote_literal;
using storage::quote_name;

/// A query for the definition of the object that a step made; empty for steps that make none.
std::string definition_query(bool on_postgres, const Adopted& table, std::string_view kind, std::string_view name) {
  const auto text = quote_literal(name);
  if (!on_postgres) {
    if (kind != "index" && kind != "trigger" && kind != "view") return {};
    return fmt::format("SELECT sql FROM sqlite_schema WHERE type = {} AND {} IN (name, '\"' || name || '\"')",
                       quote_literal(kind), text);
  }
  if (kind == "function") return fmt::format("SELECT pg_catalog.pg_get_functiondef({}::regprocedure)", text);
  if (kind == "view") return fmt::format("SELECT pg_catalog.pg_get_viewdef({}::regclass)", text);
  if (kind == "index") return fmt::format("SELECT pg_catalog.pg_get_indexdef({}::regclass)", text);
  if (kind != "trigger") return {};
  return fmt::format(
      "SELECT pg_catalog.pg_get_triggerdef(t.oid) FROM pg_catalog.pg_trigger AS t "
      "WHERE {} IN (t.tgname, pg_catalog.quote_ident(t.tgname)) AND NOT t.tgisinternal "
      "AND (t.tgrelid = {}::regclass OR NOT EXISTS (SELECT FROM pg_catalog.pg_trigger AS u "
      "WHERE u.tgrelid = {}::regclass AND {} IN (u.tgname, pg_catalog.quote_ident(u.tgname))))",
      text, quote_literal(quote_name(table.schema) + "." + quote_name(table.table)),
      quote_literal(quote_name(table.schema) + "." + quote_name(table.table)), text);
}

/// "function public.f(bigint)" in its two parts.
std::pair<std::string, std::string> parts_of(const std::string& label) {
  const auto blank = label.find(' ');
  if (blank == std::string::npos) return {label, ""};
  return {label.substr(0, blank), label.substr(blank + 1)};
}

/// Nothing if the object is not there, or if the step made none.
std::optional<std::string> definition_of(storage::Direct& database, const Adopted& table, const std::string& label,
                                         BootTime deadline) {
  const auto [kind, name] = parts_of(label);
  const auto query = definition_query(database.is_postgres(), table, kind, name);
  if (query.empty()) return std::nullopt;
  // A name that does not exist is an error of the cast: the object is gone.
  const auto rows = database.run(query, deadline);
  if (!rows || rows->rows.empty()) return std::nullopt;
  return rows->rows.front().front();
}

Result<void> check_objects(storage::Direct& database, const Adopted& table, BootTime deadline,
                           std::vector<Drift>& drifts) {
  Ledger ledger(database, table.schema, table.table);
  auto objects = ledger.objects(deadline);
  if (!objects) return std::move(objects).error();
  for (const auto& object : *objects) {
    const auto now = definition_of(database, table, object.name, deadline);
    if (!now) {
      drifts.push_back({object.name, "missing: apply the file again"});
    } else if (*now != object.up) {
      drifts.push_back({object.name, "differs from what apply made: it was replaced"});
    }
  }
  return {};
}

/// Finds rows in a state that leasehold itself never leaves behind.
Result<void> check_rows(storage::Direct& database, const Adopted& table, const Description& description,
                        BootTime deadline, std::vector<Drift>& drifts) {
  if (description.shape == Shape::keep || description.shape == Shape::sessions) return {};
  // On SQLite the grant of a lock lies in the ledger: its table has no column for the token.
  if (description.shape == Shape::lock && !database.is_postgres()) return {};
  const auto until = quote_name(description.lease.until);
  const auto holder = quote_name(description.lease.holder);
  const auto token = quote_name(description.lease.token);
  const auto name = quote_name(table.schema) + "." + quote_name(table.table);
  struct Rule {
    std::string problem;
    std::string condition;
  };
  std::vector<Rule> rules = {
      {"have a lease and no token that says whose",
       fmt::format("{} IS NOT NULL AND ({} IS NULL OR {} % 10 NOT IN (0, 9))", until, token, token)},
      {"have a lease and no holder", fmt::format("{} IS NOT NULL AND {} IS NULL", until, holder)}};
  for (const auto& [state, condition] : description.finals) {
    rules.push_back({fmt::format("are {} and still have a lease", state),
                     fmt::format("({}) AND {} IS NOT NULL", condition, until)});
  }
  for (const auto& rule : rules) {
    auto rows = database.run(fmt::format("SELECT count(*) FROM {} WHERE {}", name, rule.condition), deadline);
    if (!rows) return std::move(rows).error();
    const auto count = rows->rows.front().front().value_or("0");
    if (count != "0")
      drifts.push_back(
          {fmt::format("{}.{}", table.schema, table.table), fmt::format("{} rows {}", count, rule.problem)});
  }
  return {};
}

}  // namespace

Result<void> remember_objects(storage::Direct& database, const Adopted& table, BootTime deadline) {
  Ledger ledger(database, table.schema, table.table);
  auto steps = ledger.steps(deadline);
  if (!steps) return std::move(steps).error();
  std::vector<Done> objects;
  for (const auto& step : *steps) {
    if (auto definition = definition_of(database, table, step.name, deadline)) {
      objects.push_back({.name = step.name, .up = std::move(*definition), .down = {}});
    }
  }
  return ledger.set_objects(objects, deadline);
}

}  // namespace leasehold::adopt

namespace leasehold {

using adopt::adopted_description;
using adopt::all_adopted;
using adopt::check_objects;
using adopt::check_rows;

Result<std::vector<Drift>> Adoption::verify() const {
  const std::lock_guard lock(impl_->mutex);
  auto& database = *impl_->database;
  auto all = all_adopted(database, impl_->deadline());
  if (!all) return std::move(all).error();
  std::vector<Drift> drifts;
  for (const auto& table : *all) {
    auto description = adopted_description(database, table, impl_->deadline());
    if (!description) return std::move(description).error();
    if (auto checked = check_objects(database, table, impl_->deadline(), drifts); !checked)
      return std::move(checked).error();
    auto rows = check_rows(database, table, *description, impl_->deadline(), drifts);
    if (!rows) return std::move(rows).error();
  }
  return drifts;
}

}  // namespace leasehold

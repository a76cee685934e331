#include "adopt/postgres/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "adopt/postgres/emitter.h"
#include "base/text.h"
#include "storage/direct.h"

namespace leasehold::adopt::postgres {

using storage::quote_literal;
using storage::quote_name;

namespace {

constexpr std::size_t longest_name = 63;

/// PostgreSQL writes % in RAISE's format for an argument.
std::string in_raise(std::string_view name) {
  std::string text;
  for (const char c : name) text += c == '%' ? "%%" : c == '\'' ? "''" : std::string(1, c);
  return text;
}

}  // namespace

void ValueMaker::refuse(const std::string& key, std::string_view what) {
  if (!error) error = error_at(table, key, what);
}

std::string ValueMaker::qualified(std::string_view column) const { return alias + "." + quote_name(column); }

std::string ValueMaker::of_key(std::string_view form, std::string_view between) const {
  std::string text;
  int place = 0;
  for (const auto& name : facts.primary_key) {
    const auto* column = column_of(facts.columns, name);
    if (!text.empty()) text += between;
    text += fmt::format(fmt::runtime(form), quote_name(name), quote_name(key_parameter(name)),
                        column == nullptr ? "" : column->type, ++place);
  }
  return text;
}

const std::string& ValueMaker::on(const std::string& act) const {
  static const std::string nothing;
  const auto found = table.on.find(act);
  return found == table.on.end() ? nothing : found->second;
}

std::string ValueMaker::all_fragments() const {
  std::string all = table.claimable + " " + table.due + " " + table.order;
  for (const auto& [act, sql] : table.on) all += " " + sql;
  for (const auto& [act, sql] : table.also) all += " " + sql;
  for (const auto& [code, sql] : table.refuse) all += " " + sql;
  for (const auto& [state, sql] : table.finals) all += " " + sql;
  if (table.held) all += " " + table.held->when + " " + table.held->until + " " + table.held->by;
  return all;
}

std::string ValueMaker::beside(std::string_view suffix) {
  const auto name = fmt::format("{}_{}", table.table, suffix);
  if (name.size() > longest_name) {
    refuse("", fmt::format("the name {} is longer than {} bytes: PostgreSQL would cut it off", name, longest_name));
  }
  return quote_name(table.schema) + "." + quote_name(name);
}

const ColumnFacts* ValueMaker::need_column(const std::string& key, std::string_view name) {
  const auto* column = column_of(facts.columns, name);
  if (column == nullptr) {
    std::vector<std::string> names;
    names.reserve(facts.columns.size());
    for (const auto& one : facts.columns) names.push_back(one.name);
    const auto near = nearest(name, names);
    refuse(key, fmt::format("there is no column {}{}", leasehold::quoted(name),
                            near.empty() ? "" : fmt::format("; did you mean {}?", leasehold::quoted(near))));
  } else if (column->generated) {
    refuse(key, fmt::format("column {} is generated: nothing can be assigned to it", leasehold::quoted(name)));
  }
  return column;
}

std::vector<std::string> ValueMaker::assigned(const std::string& act) {
  std::vector<std::string> columns;
  if (on(act).empty()) return columns;
  auto assignments = assignments_of(on(act));
  if (!assignments) {
    refuse("on_" + act, assignments.error().message);
    return columns;
  }
  for (const auto& [column, expression] : *assignments) {
    if (column == table.lease.until || column == table.lease.holder || column == table.lease.token) {
      refuse("on_" + act, fmt::format("leasehold sets {} itself: remove it", column));
    } else if (need_column("on_" + act, column) != nullptr) {
      columns.push_back(column);
    }
  }
  return columns;
}

std::string key_parameter(std::string_view column) {
  constexpr std::array<std::string_view, 9> ours = {"holder", "token", "ttl",   "max",    "older",
                                                    "dry",    "next",  "error", "verdict"};
  const bool clashes = std::find(ours.begin(), ours.end(), column) != ours.end();
  return (clashes ? "p_key_" : "p_") + std::string(column);
}

std::vector<std::string> list_parts(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool in_quotes = false;
  for (const char c : list) {
    if (c == '\'') in_quotes = !in_quotes;
    if (!in_quotes && c == '(') ++depth;
    if (!in_quotes && c == ')') --depth;
    if (c == ',' && depth == 0 && !in_quotes) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (auto& part : parts) part = std::string(trimmed(part));
  return parts;
}

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
  return fmt::format("{}", fmt::join(texts, between));
}

void add_names(ValueMaker& maker) {
  const auto& table = maker.table;
  const auto full = quote_name(table.schema) + "." + quote_name(table.table);
  maker.set("schema", quote_name(table.schema));
  maker.set("table", full);
  maker.set("alias", maker.alias);
  // Within the quotes of a text or of a RAISE.
  maker.set("table_text", in_raise(full));
  maker.set("table_literal", quote_literal(full));
  for (const auto* name : {"claim", "claim_key", "lost", "heartbeat", "complete", "fail", "release", "fence", "recover",
                           "guard", "leases", "keep", "event"}) {
    maker.set(name, maker.beside(name));
  }
  maker.set("leases_literal", quote_literal(maker.get("leases")));
  maker.set("guard_trigger", quote_name("zz_" + table.table + "_guard"));
  maker.set("insert_trigger", quote_name("zz_" + table.table + "_guard_insert"));
  maker.set("event_trigger", quote_name("zz_" + table.table + "_event"));
  maker.set("keep_trigger", quote_name("zz_" + table.table + "_keep"));
  maker.set("eligible_index_name", quote_name(table.table + "_claim_idx"));
  maker.set("lease_index_name", quote_name(table.table + "_lease_idx"));
  maker.set("eligible_index", table.shape == Shape::work ? maker.beside("claim_idx") : "");
  maker.set("lease_index", table.shape == Shape::work ? maker.beside("lease_idx") : "");
  if (("zz_" + table.table + "_guard_insert").size() > longest_name) maker.refuse("", "the table's name is too long");
  const auto fragments = maker.all_fragments();
  maker.set("quote", fragments.find("$$") == std::string::npos ? "$$" : "$leasehold$");
  std::vector<std::string> answers = {"outcome", "why", "held_by", "until", "token", "claimed"};
  const bool is_shadowed = std::any_of(answers.begin(), answers.end(), [&](const std::string& name) {
    const auto& lease = table.lease;
    return has_word(fragments, name) || column_of(maker.facts.columns, name) != nullptr || name == lease.until ||
           name == lease.holder || name == lease.token;
  });
  maker.set("shadowed", is_shadowed ? "yes" : "");
}

Result<Values> values_of(const Description& table, const TableFacts& facts,
                         const std::vector<ColumnFacts>& serial_columns) {
  const auto* until_column = column_of(facts.columns, table.lease.until);
  auto until = until_column == nullptr ? Result<Moments>(Moments::of_new_column(table))
                                       : Moments::of(table, table.lease.until, until_column->type);
  if (!until && table.shape != Shape::keep) return error_at(table, "lease", until.error().message);
  ValueMaker maker{.table = table,
                   .facts = facts,
                   .serial_columns = serial_columns,
                   .until = until ? *until : Moments::of_new_column(table),
                   .alias = quote_name(table.table)};
  add_names(maker);
  if (table.shape != Shape::keep) {
    for (auto* add : {add_key, add_lease, add_acts, add_claims, add_guard, add_looks, add_events}) {
      if (!maker.error) add(maker);
    }
  }
  if (!maker.error) add_keep(maker);
  if (!maker.error) add_rights(maker);
  if (maker.error) return std::move(*maker.error);
  return std::move(maker.values);
}

}  // namespace leasehold::adopt::postgres

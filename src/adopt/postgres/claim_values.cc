// Values for which rows a claim may take, and what it answers about the others.
#include <fmt/format.h>

#include <algorithm>

#include "adopt/postgres/emitter.h"
#include "adopt/postgres/values.h"
#include "base/text.h"
#include "storage/direct.h"

namespace leasehold::adopt::postgres {

using storage::quote_literal;
using storage::quote_name;

namespace {

std::string final_condition(const ValueMaker& maker) {
  std::vector<std::string> conditions;
  for (const auto& [state, condition] : maker.table.finals) conditions.push_back("(" + condition + ")");
  if (conditions.size() < 2) return joined(conditions, "");
  return "(" + joined(conditions, " OR ") + ")";
}

/// When a row of a schedule is due; empty for other shapes.
std::optional<Moments> next_of(ValueMaker& maker) {
  if (!maker.table.schedule) return std::nullopt;
  const auto* column = maker.need_column("next", maker.table.schedule->next);
  if (column == nullptr) return std::nullopt;
  auto next = Moments::of(maker.table, column->name, column->type);
  if (!next) maker.refuse("next", next.error().message);
  return next ? std::optional(std::move(*next)) : std::nullopt;
}

/// A condition of `refuse`, with what it may name.
std::string refusal(ValueMaker& maker, const std::string& condition, std::string_view holder) {
  Placeholders meanings;
  for (const auto& name : maker.facts.primary_key) {
    meanings[name] = maker.qualified(name);
    if (maker.facts.primary_key.size() == 1) meanings["key"] = meanings["asked"] = maker.qualified(name);
  }
  meanings["holder"] = holder;
  for (const auto& name : placeholders_of(condition)) {
    if (!meanings.contains(name))
      maker.refuse("refuse", fmt::format("there is no :{} here; write :key or :holder", name));
  }
  return "(" + with_placeholders(condition, meanings) + ")";
}

/// Columns without which no row can be inserted: then an absent lock stays absent.
void add_insert(ValueMaker& maker) {
  std::vector<std::string> names, given;
  if (maker.table.shape == Shape::lock) {
    const auto& lease = maker.table.lease;
    for (const auto& column : maker.facts.columns) {
      const auto& key = maker.facts.primary_key;
      const bool in_key = std::find(key.begin(), key.end(), column.name) != key.end();
      if (in_key && !column.generated) {
        names.push_back(quote_name(column.name));
        given.push_back(quote_name(key_parameter(column.name)));
      } else if (column.not_null && (column.name == lease.until || column.name == lease.holder)) {
        names.push_back(quote_name(column.name));
        given.push_back(column.name == lease.until ? maker.until.now() : "p_holder");
      } else if (column.not_null && !column.has_default && !in_key) {
        if (column.category != "time") {
          names.clear();
          break;
        }
        auto moments = Moments::of(maker.table, column.name, column.type);
        names.push_back(quote_name(column.name));
        given.push_back(moments ? moments->now() : "clock_timestamp()");
      }
    }
  }
  maker.set("insert_columns", joined(names, ", "));
  maker.set("insert_values", names.empty() ? "" : joined(given, ", "));
}

void add_why_not(ValueMaker& maker, const std::string& final, const std::string& waiting, const std::string& next) {
  std::string cases, outcomes;
  if (!final.empty()) {
    cases += fmt::format(" WHEN {} THEN 'terminal'", final);
    outcomes += " terminal,";
  }
  for (const auto& [code, condition] : maker.table.refuse) {
    cases += fmt::format("\n     WHEN {} THEN {}", refusal(maker, condition, "p_holder"), quote_literal(code));
    outcomes += " " + code + ",";
  }
  if (!waiting.empty()) {
    cases += fmt::format("\n     WHEN {} THEN 'not_due'", waiting);
    outcomes += " not_due,";
  }
  maker.set("claim_key_outcomes", outcomes);
  const auto moment = next.empty() ? std::string("NULL::timestamptz") : next;
  maker.set("why_not", cases.empty() ? "" : fmt::format("CASE{} END,\n{}", cases, moment));
}

/// Why a claim of the next row found none: the lock table, or what `refuse` says of rows that could be claimed.
void add_refused(ValueMaker& maker, const std::string& eligible) {
  std::vector<std::string> selects;
  if (maker.table.serial) {
    selects.push_back(
        fmt::format("SELECT 1 AS place, 'held' AS outcome, v_serial.{0}::text AS held_by,\n"
                    "       (extract(epoch FROM {1} - clock_timestamp()) * 1000000)::bigint AS retry_us\n"
                    "  FROM {2} AS v_serial WHERE v_serial.{3} > {4}",
                    maker.get("serial_holder"), maker.get("serial_until_moment"), maker.get("serial_table"),
                    maker.get("serial_until"), maker.get("serial_clock")));
  }
  for (const auto& [code, condition] : maker.table.refuse) {
    selects.push_back(
        fmt::format("(SELECT 2 AS place, {} AS outcome, NULL::text AS held_by, NULL::bigint AS retry_us\n   FROM {}\n  "
                    "WHERE {} AND {} LIMIT 1)",
                    quote_literal(code), maker.get("table"), eligible, refusal(maker, condition, "NULL")));
  }
  maker.set("refused_selects", joined(selects, "\nUNION ALL\n"));
}

}  // namespace

void add_claims(ValueMaker& maker) {
  const auto& table = maker.table;
  const auto final = final_condition(maker);
  const auto not_final = final.empty() ? std::string() : fmt::format("{} IS NOT TRUE", final);
  maker.set("final", final);
  maker.set("not_final", (not_final.empty() ? "" : "\n AND " + not_final) + maker.get("and_not_free_row"));
  maker.set("not_final_index", not_final.empty() ? "" : " AND " + not_final);
  maker.set("claimable_next", table.shape == Shape::lock ? "" : "yes");
  maker.set("row_security", maker.facts.row_security ? "yes" : "");

  std::vector<std::string> may, cannot;
  const auto need = [&](const std::string& condition) {
    if (condition.empty()) return;
    may.push_back("(" + condition + ")");
    cannot.push_back("(" + condition + ") IS NOT TRUE");
  };
  need(table.claimable);
  need(table.due);
  std::string next_moment;
  if (const auto next = next_of(maker)) {
    const auto column = maker.qualified(table.schedule->next);
    need(fmt::format("{0} IS NULL OR {0} <= {1}", column, next->now()));
    next_moment = next->moment(column);
  }
  maker.set("state_of_waiting",
            cannot.empty() ? "" : fmt::format("WHEN {} THEN 'waiting'\n     ", joined(cannot, " OR ")));
  std::string states;
  for (const auto& [state, condition] : table.finals) {
    states += fmt::format("WHEN ({}) THEN {}\n     ", condition, quote_literal(state));
  }
  maker.set("state_of_final", states);
  auto eligible =
      joined(may, "\nAND ") + (may.empty() ? "" : "\nAND ") + maker.qualified(table.lease.until) + " IS NULL";
  add_refused(maker, eligible);
  for (const auto& [code, condition] : table.refuse) {
    may.push_back(refusal(maker, condition, "p_holder") + " IS NOT TRUE");
    eligible += "\nAND " + may.back();
  }
  maker.set("eligible", eligible);
  maker.set("and_claimable", may.empty() ? "" : "\nAND " + joined(may, "\nAND "));
  maker.set("eligible_index_where",
            (table.claimable.empty() ? "" : "(" + table.claimable + ") AND ") + maker.get("until") + " IS NULL");
  add_why_not(maker, final, joined(cannot, " OR "), next_moment);
  add_insert(maker);
}

}  // namespace leasehold::adopt::postgres

// Values for the triggers: which columns they watch, and what a hold of other code looks like.
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

void add_once(std::vector<std::string>& columns, const std::string& column) {
  if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
}

/// The columns that some text of the user's mentions.
std::vector<std::string> mentioned(const ValueMaker& maker, std::string_view sql) {
  std::vector<std::string> columns;
  for (const auto& column : maker.facts.columns) {
    if (!column.generated && has_word(sql, column.name)) columns.push_back(column.name);
  }
  return columns;
}

/// "OLD.status, OLD.payload::text": not every type has an equality.
std::string columns_of_row(const ValueMaker& maker, std::string_view row, const std::vector<std::string>& columns) {
  std::vector<std::string> texts;
  for (const auto& name : columns) {
    const auto* column = column_of(maker.facts.columns, name);
    const bool comparable = column == nullptr || (column->category != "json" && column->category != "other");
    texts.push_back(fmt::format("{}.{}{}", row, quote_name(name), comparable ? "" : "::text"));
  }
  return joined(texts, ", ");
}

/// A write of these columns needs the token while one of our leases lives on the row.
std::vector<std::string> guarded_columns(ValueMaker& maker, const std::vector<std::string>& in_held) {
  std::vector<std::string> columns;
  // Other code may end a schedule's run with an UPDATE, and a lock has no columns besides those of its lease.
  if (maker.table.guard == Guard::off || maker.table.shape != Shape::work) return columns;
  for (const auto* act : {"complete", "fail"}) {
    for (const auto& column : maker.assigned(act)) add_once(columns, column);
  }
  // Other code takes a row by writing these columns.
  for (const auto& column : maker.assigned("claim")) {
    if (std::find(in_held.begin(), in_held.end(), column) != in_held.end()) add_once(columns, column);
  }
  return columns;
}

}  // namespace

void add_guard(ValueMaker& maker) {
  const auto& table = maker.table;
  const auto& held = table.held;
  const auto in_held =
      held ? mentioned(maker, held->when + " " + held->until + " " + held->by) : std::vector<std::string>();
  const auto guarded = guarded_columns(maker, in_held);
  std::vector<std::string> watched = maker.facts.primary_key;
  for (const auto& column : {table.lease.until, table.lease.holder, table.lease.token}) add_once(watched, column);
  for (const auto& column : guarded) add_once(watched, column);
  for (const auto& column : in_held) add_once(watched, column);
  for (const auto& [state, condition] : table.finals) {
    for (const auto& column : mentioned(maker, condition)) add_once(watched, column);
  }
  maker.set("guarded", guarded.empty() ? "" : "yes");
  maker.set("guarded_text", joined(guarded, ", "));
  maker.set("guard_comment", guarded.empty() ? "" : ", or guarded columns of a leased row");
  maker.set("old_guarded", columns_of_row(maker, "OLD", guarded));
  maker.set("new_guarded", columns_of_row(maker, "NEW", guarded));
  maker.set("old_watched", columns_of_row(maker, "OLD", watched));
  maker.set("new_watched", columns_of_row(maker, "NEW", watched));
  maker.set("skip", table.guard == Guard::skip ? "yes" : "");
  maker.set("held", held ? "yes" : "");
  maker.set("held_when", held ? held->when : "");
  maker.set("held_until", held ? held->until : "");
  maker.set("held_by", held ? held->by : "");
  maker.set("held_until_value", fmt::format("coalesce(v_is.until, {})", maker.get("until_after_default")));
}

void add_looks(ValueMaker& maker) {
  maker.set("partitioned", maker.facts.kind == "partitioned table" ? "yes" : "");
  const auto name = maker.of_key("{0}", ", ");
  for (const auto& column : maker.facts.primary_key) {
    if (column == "state" || column == "holder" || column == "until" || column == "seconds_left") {
      maker.refuse("key", fmt::format("a key column must not be called {}: the view {} has one of that name",
                                      leasehold::quoted(column), maker.get("leases")));
    }
  }
  const auto types = maker.of_key("{2}", ", ");
  const auto& holder = maker.get("holder_type");
  maker.set("claim_types", fmt::format("{}({}, integer, interval)", maker.get("claim"), holder));
  maker.set("claim_key_types", fmt::format("{}({}, {}, interval)", maker.get("claim_key"), types, holder));
  maker.set("lost_types", fmt::format("{}({}, bigint, text)", maker.get("lost"), types));
  maker.set("heartbeat_types", fmt::format("{}({}, bigint, interval)", maker.get("heartbeat"), types));
  for (const std::string act : {"complete", "fail", "release"}) {
    maker.set(act + "_types", fmt::format("{}({}, bigint{})", maker.get(act), types, maker.get(act + "_extra_types")));
  }
  maker.set("fence_types", fmt::format("{}({}, bigint)", maker.get("fence"), types));
  maker.set("recover_types", fmt::format("{}(interval, boolean)", maker.get("recover")));
}

void add_events(ValueMaker& maker) {
  const auto& store = maker.facts.store;
  maker.set("store", quote_name(store));
  if (store.empty()) return maker.set("store", "");
  maker.set("event_table_literal", quote_literal(quote_name(store) + ".event"));
  maker.set("adopted_table_literal", quote_literal(quote_name(store) + ".adopted"));
  // What `leasehold.leases` shows of the table.
  maker.set(
      "held_rows_literal",
      quote_literal(fmt::format("SELECT {} AS key, {} AS token, {}::text AS holder, {} AS until FROM {} WHERE {} IS "
                                "NOT NULL{}",
                                maker.get("row_key_text"), maker.qualified(maker.table.lease.token),
                                maker.qualified(maker.table.lease.holder), maker.get("until_moment"),
                                maker.get("table"), maker.qualified(maker.table.lease.until), maker.get("not_final"))));
}

void add_rights(ValueMaker& maker) {
  std::vector<std::string> granted;
  if (maker.table.shape != Shape::keep) {
    for (const std::string name :
         {"claim", "claim_key", "lost", "heartbeat", "complete", "fail", "release", "fence", "recover"}) {
      const bool verdict = name == "complete" || name == "fail";
      if (verdict && maker.get("verdicts").empty()) continue;
      if (name == "claim" && maker.get("claimable_next").empty()) continue;
      granted.push_back(maker.get(name + "_types"));
    }
  }
  std::vector<std::string> all;
  all.reserve(granted.size() + 2);
  for (const auto& name : granted) all.push_back(quote_literal(name));
  if (maker.table.shape != Shape::keep) all.push_back(quote_literal(maker.get("guard") + "()"));
  if (!maker.facts.store.empty() && maker.table.shape != Shape::keep) {
    all.push_back(quote_literal(maker.get("event") + "()"));
  }
  if (!maker.table.keep.empty()) all.push_back(quote_literal(maker.get("keep") + "()"));
  std::vector<std::string> roles;
  for (const auto& role : maker.table.roles) roles.push_back(quote_name(role));
  maker.set("granted_functions", joined(granted, ",\n"));
  maker.set("all_functions", joined(all, ",\n"));
  maker.set("roles", joined(roles, ", "));
  if (maker.table.shape == Shape::keep) maker.set("leases", "");
}

void add_keep(ValueMaker& maker) {
  std::vector<std::string> assignments, changed;
  for (const auto& name : maker.table.keep) {
    const auto* column = maker.need_column("keep", name);
    if (column == nullptr) return;
    const auto quoted_name = quote_name(name);
    const std::string_view cast = column->category == "json" || column->category == "other" ? "::text" : "";
    assignments.push_back(fmt::format("NEW.{0} := coalesce(OLD.{0}, NEW.{0});", quoted_name));
    changed.push_back(
        fmt::format("(OLD.{0} IS NOT NULL AND NEW.{0}{1} IS DISTINCT FROM OLD.{0}{1})", quoted_name, cast));
  }
  maker.set("keep_assignments", joined(assignments, "\n"));
  maker.set("keep_changed", joined(changed, "\nOR "));
}

}  // namespace leasehold::adopt::postgres

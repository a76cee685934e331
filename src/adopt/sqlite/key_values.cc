#include "adopt/sqlite/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "adopt/sqlite/fragments.h"
#include "storage/direct.h"

namespace leasehold::adopt::sqlite {
namespace {

using storage::quote_literal;
using storage::quote_name;

void replace_all(std::string& text, std::string_view mark, std::string_view by) {
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size())) {
    text.replace(at, mark.size(), by);
  }
}

/// Columns of any type may hold a blob, which JSON cannot.
std::string json_pair(const ColumnFacts& column, std::string_view prefix) {
  const auto name = fmt::format("{}{}", prefix, quote_name(column.name));
  const bool blob = column.category == "other";
  return quote_literal(column.name) + ", " +
         (blob ? fmt::format("iif(typeof({0}) = 'blob', hex({0}), {0})", name) : name);
}

/// "id IN (...)" for the rows that an act decided on.
std::string key_in(const FileFacts& facts, std::string_view condition) {
  const auto names = over_key(facts, "{c}", ", ");
  const auto left = facts.key.size() == 1 ? names : "(" + names + ")";
  return fmt::format("{} IN (SELECT {} FROM temp.{}{})", left, over_key(facts, "k{i}", ", "), chosen_name(facts),
                     condition);
}

/// A new row may push out rows that are equal to it in any unique index.
std::string unique_hit(const FileFacts& facts) {
  std::vector<std::vector<std::string>> sets;
  if (!facts.table.primary_key.empty()) sets.push_back(facts.table.primary_key);
  for (const auto& index : facts.table.indexes) {
    const bool known = std::find(sets.begin(), sets.end(), index.columns) != sets.end();
    if (index.unique && index.valid && !known) sets.push_back(index.columns);
  }
  std::vector<std::string> hits;
  for (const auto& set : sets) {
    std::vector<std::string> equal;
    equal.reserve(set.size());
    for (const auto& name : set) equal.push_back(fmt::format("t.{0} = NEW.{0}", quote_name(name)));
    hits.push_back(joined(equal, " AND "));
  }
  return joined(hits, " OR ");
}

}  // namespace

std::string over_key(const FileFacts& facts, std::string_view pattern, std::string_view between) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < facts.key.size(); ++i) {
    std::string part(pattern);
    replace_all(part, "{c}", quote_name(facts.key[i]));
    replace_all(part, "{i}", std::to_string(i + 1));
    parts.push_back(std::move(part));
  }
  return joined(parts, between);
}

std::string key_json(const FileFacts& facts, std::string_view pattern) {
  return fmt::format("json_array({})", over_key(facts, fmt::format("CAST({} AS TEXT)", pattern), ", "));
}

std::vector<std::string> added_columns(const Description& table, const FileFacts& facts) {
  std::vector<std::string> added;
  if (table.shape == Shape::keep) return added;
  for (const auto& name : {table.lease.until, table.lease.holder, table.lease.token}) {
    // The grant of a lock lies in leasehold_adopted.
    const bool needed = table.shape != Shape::lock || name != table.lease.token;
    if (needed && column_of(facts.table.columns, name) == nullptr) added.push_back(name);
  }
  return added;
}

std::string chosen_name(const FileFacts& facts) { return fmt::format("leasehold_chosen_{}", facts.key.size()); }

enum class Shown { to_holder, to_all };

/// Others do not see the column of the token: it is the holder's proof.
std::string row_json(const Description& table, const FileFacts& facts, std::string_view prefix, Shown shown) {
  // A function takes 127 arguments at most.
  constexpr std::size_t most = 60;
  auto columns = facts.table.columns;
  for (const auto& added : added_columns(table, facts)) columns.push_back({.name = added, .category = "text"});
  if (shown == Shown::to_all) std::erase_if(columns, [&](const auto& one) { return one.name == table.lease.token; });
  std::vector<std::string> objects;
  std::vector<std::string> pairs;
  for (const auto& column : columns) {
    pairs.push_back(json_pair(column, prefix));
    if (pairs.size() < most && &column != &columns.back()) continue;
    objects.push_back(fmt::format("json_object({})", joined(pairs, ", ")));
    pairs.clear();
  }
  std::string all = objects.front();
  for (std::size_t i = 1; i < objects.size(); ++i) {
    all = fmt::format("rtrim({}, '}}') || ',' || ltrim({}, '{{')", all, objects[i]);
  }
  return objects.size() == 1 ? all : fmt::format("json({})", all);
}

TimeForm time_form_of(const Description& table, const FileFacts& facts) {
  if (table.time) return *table.time;
  const auto* until = column_of(facts.table.columns, table.lease.until);
  const bool is_text = until != nullptr && (until->category == "text" || until->category == "time");
  return is_text ? TimeForm::iso : TimeForm::unix_seconds;
}

void add_names(const Description& table, Values& values) {
  constexpr std::array<std::string_view, 20> kinds = {
      "guard",     "grab",     "key",        "foreign",        "looks_held",    "looks_ended",  "entered",
      "replacing", "replaced", "also_claim", "also_fail",      "also_complete", "also_release", "also_expire",
      "taking",    "removed",  "keep",       "keep_replacing", "keep_replaced", "leases"};
  for (const auto kind : kinds) {
    const bool is_view = kind == "leases";
    values[fmt::format("{}_{}", kind, is_view ? "view" : "trigger")] =
        quote_name(fmt::format("{}_{}", table.table, kind));
  }
  values["claimable_index"] = quote_name(table.table + "_claimable");
  values["held_index"] = quote_name(table.table + "_leased");
  values["table"] = quote_name(table.table);
  values["table_text"] = quote_literal(table.table);
  values["until"] = quote_name(table.lease.until);
  values["holder"] = quote_name(table.lease.holder);
  values["token"] = quote_name(table.lease.token);
}

void add_key_values(const Description& table, const FileFacts& facts, Values& values) {
  const auto chosen = chosen_name(facts);
  const auto over = [&](std::string_view pattern, std::string_view between) {
    return over_key(facts, pattern, between);
  };
  values["key_list"] = over("{c}", ", ");
  values["key_list_t"] = over("t.{c}", ", ");
  values["key_is_new"] = over("{c} = NEW.{c}", " AND ");
  values["key_is_new_t"] = over("t.{c} = NEW.{c}", " AND ");
  values["key_changed"] = over("NEW.{c} IS NOT OLD.{c}", " OR ");
  values["key_is_asked"] = over("{c} = :key{i}", " AND ");
  values["key_args"] = over(":key{i}", ", ");
  values["asked_keys"] = over("asked.column{i}", ", ");
  values["asked_token"] = fmt::format("column{}", facts.key.size() + 1);
  values["key_is_asked_row"] = over("t.{c} = asked.column{i}", " AND ");
  values["chosen_keys"] = over("k{i}", ", ");
  values["chosen_keys_p"] = over("p.k{i}", ", ");
  values["key_is_chosen"] = over("t.{c} = p.k{i}", " AND ");
  values["key_json_t"] = key_json(facts, "t.{c}");
  values["key_json_new"] = key_json(facts, "NEW.{c}");
  values["key_json_chosen"] = key_json(facts, "p.k{i}");
  values["key_json_asked"] = key_json(facts, ":key{i}");
  for (const auto* outcome : {"granted", "extended", "current"}) {
    values[fmt::format("key_{}", outcome)] = key_in(facts, fmt::format(" WHERE outcome = '{}'", outcome));
  }
  values["key_among_chosen"] = key_in(facts, "");
  values["chosen"] = chosen;
  values["chosen_table"] = fmt::format(
      "CREATE TEMP TABLE IF NOT EXISTS {} (n INTEGER PRIMARY KEY, {}, token INTEGER, outcome TEXT,\n"
      "  why TEXT, held_by TEXT, until_us INTEGER)",
      chosen, over("k{i}", ", "));
  values["row_json_t"] = row_json(table, facts, "t.", Shown::to_holder);
  values["shown_json_t"] = row_json(table, facts, "t.", Shown::to_all);
  values["shown_json_row"] = row_json(table, facts, "", Shown::to_all);
  values["key_json_row"] = key_json(facts, "{c}");
  values["unique_hit"] = unique_hit(facts);
  values["key_message"] =
      quote_literal(fmt::format("{}: the key of a row cannot change while a lease lives on it", table.table));
}

void add_moment_values(const Description& table, const Moments& moments, Values& values) {
  const auto until = storage::quote_name(table.lease.until);
  const auto granted = fmt::format(":now_us + coalesce(:ttl_us, {})", table.ttl.count());
  values["time_type"] = moments.column_type();
  values["live_sql"] = moments.live_sql(until);
  values["live_old"] = moments.live_sql("OLD." + until);
  values["live_new"] = moments.live_sql("NEW." + until);
  values["live_t_sql"] = moments.live_sql("t." + until);
  values["live_t"] = moments.live_act("t." + until);
  values["live_act"] = moments.live_act(until);
  values["expired_act"] = moments.expired_act(until);
  values["until_us"] = moments.to_us(until);
  values["until_us_t"] = moments.to_us("t." + until);
  values["just_expired"] = moments.from_us("(:now_us - 3000000)");
  values["granted_until"] = moments.from_us(granted);
  values["ttl_from_now_sql"] = moments.later_sql(table.ttl);
  values["seconds_left_sql"] = moments.seconds_left_sql(until);
  values["set_proof"] =
      fmt::format("INSERT INTO leasehold_adopted (table_name, place, kind, name) VALUES ({}, 0, 'proof', '*')",
                  values["table_text"]);
  values["clear_proof"] =
      fmt::format("DELETE FROM leasehold_adopted WHERE table_name = {} AND kind = 'proof'", values["table_text"]);
  values["not_dry"] = "coalesce(CAST(:dry AS TEXT), '') NOT IN ('1', 'true', 't')";
}

}  // namespace leasehold::adopt::sqlite

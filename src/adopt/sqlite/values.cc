#include "adopt/sqlite/table_values.h"

#include <fmt/format.h>
#include <algorithm>
#include "adopt/sqlite/emitter.h"

namespace leasehold::adopt::sqlite {

using storage::quote_literal;
using storage::quote_name;

std::string next_token(std::string_view last) {
  return fmt::format("max(coalesce({}, 0) / 10 + 1, :now_us / 10) * 10", last);
}

namespace {

/// What :reason stands for.
std::string_view reason_of(std::string_view act) {
  if (act == "claim") return "claimed";
  if (act == "complete") return "completed";
  if (act == "fail") return "failed";
  return act == "release" ? "released" : "expired";
}

}  // namespace

std::string next_foreign_token(std::string_view last) {
  return fmt::format("max(coalesce({}, 0) / 10 + 1, {} * 100) * 10 + 9", last, Moments::now_ms_sql());
}

Result<Values> TableValues::run() {
  add_names(table_, values_);
  add_key_values(table_, facts_, values_);
  if (table_.shape == Shape::keep) {
    add_keep();
  } else {
    add_moment_values(table_, moments_, values_);
    add_columns();
    add_guard();
    if (table_.shape == Shape::lock) add_lock();
    if (table_.shape != Shape::lock) add_work();
  }
  if (error_) return std::move(*error_);
  return std::move(values_);
}

void TableValues::refuse(const std::string& key, std::string_view what) {
  if (!error_) error_ = error_at(table_, key, what);
}

std::string TableValues::for_act(std::string_view fragment) const {
  return with_placeholder(fragment, ":now", moments_.now_act());
}

std::string TableValues::for_sql(std::string_view fragment) const {
  return with_placeholder(fragment, ":now", moments_.now_sql());
}

Assignments TableValues::assignments_of(const std::string& act) {
  const auto found = table_.on.find(act);
  auto fragment = found == table_.on.end() ? std::string() : found->second;
  Assignments assignments;
  if (!fragment.empty()) {
    auto read = read_assignments(fragment);
    if (!read) refuse("on_" + act, read.error().message);
    if (read) assignments = std::move(*read);
  }
  add_schedule_to(act, assignments);
  if (act == "expire" && !table_.crashes.empty()) {
    const auto name = quote_name(table_.crashes);
    assignments.emplace_back(table_.crashes, fmt::format("coalesce({}, 0) + 1", name));
  }
  for (const auto& [column, expression] : assignments) check_assigned("on_" + act, column);
  return assignments;
}

void TableValues::check_assigned(const std::string& key, const std::string& name) {
  const auto* column = column_of(facts_.table.columns, name);
  if (column == nullptr) return refuse(key, fmt::format("{} has no column {}", table_.table, name));
  if (column->generated) refuse(key, fmt::format("{} is computed from other columns and cannot be set", name));
}

std::string TableValues::set_of(const std::string& act) {
  const auto meanings = meanings_of(act);
  std::string set;
  for (const auto& [column, expression] : assignments_of(act)) {
    set += fmt::format("{} = {},\n    ", quote_name(column), for_act(with_placeholders(expression, meanings)));
  }
  return set;
}

Placeholders TableValues::meanings_of(const std::string& act) {
  Placeholders meanings;
  for (const auto& column : facts_.key) meanings[column] = quote_name(column);
  if (facts_.key.size() == 1) meanings["key"] = meanings["asked"] = quote_name(facts_.key.front());
  // The column has the previous holder. A claim gets the new one as an argument.
  meanings["holder"] = act == "claim" ? ":holder" : holder_;
  meanings["token"] = act == "claim" ? next_token(token_) : token_;
  meanings["reason"] = quote_literal(reason_of(act));
  for (const auto* known : {"now", "now_us"}) meanings[known] = fmt::format(":{}", known);
  if (act == "fail") meanings["error"] = ":error";
  // The remaining names are values that the caller of a verdict gives; claims and expiry have no such caller.
  for (const auto& [column, expression] : assignments_of(act)) {
    for (const auto& name : placeholders_of(expression)) {
      if (meanings.contains(name)) continue;
      if (act == "claim" || act == "expire") {
        refuse("on_" + act, fmt::format("there is no :{} here; write :key, :holder, :token or :reason", name));
      }
      meanings[name] = fmt::format(":set_{}", name);
    }
  }
  return meanings;
}

void TableValues::add_schedule_to(const std::string& act, Assignments& assignments) {
  if (!table_.schedule || (act != "complete" && act != "fail")) return;
  const auto& schedule = *table_.schedule;
  const bool completed = act == "complete";
  if (!schedule.last.empty() && completed) assignments.emplace_back(schedule.last, ":now");
  if (!schedule.status.empty()) {
    assignments.emplace_back(schedule.status, quote_literal(completed ? schedule.succeeded : schedule.failed));
  }
  const auto least = (completed ? schedule.every_least : schedule.on_fail_least).count();
  const auto most = (completed ? schedule.every_most : schedule.on_fail_most).count();
  const auto wait =
      most > least ? fmt::format("{} + abs(random() % {})", least, most - least + 1) : fmt::format("{}", least);
  // A moment that the caller gives takes precedence.
  assignments.emplace_back(schedule.next,
                           fmt::format("coalesce(:next, {})", moments_.from_us(fmt::format(":now_us + {}", wait))));
}

void TableValues::add_column(const std::string& name, const std::string& value) {
  const auto* column = column_of(facts_.table.columns, name);
  values_[value] = column == nullptr ? name : "";
  if (column == nullptr) return;
  if (column->generated) refuse("lease", fmt::format("{} is computed from other columns and cannot be set", name));
  if (column->not_null && table_.shape != Shape::lock) {
    refuse("lease", fmt::format("{} is NOT NULL, but a free row has none: name another column", name));
  }
}

void TableValues::add_columns() {
  add_column(table_.lease.until, "add_until");
  add_column(table_.lease.holder, "add_holder");
  if (table_.shape != Shape::lock) add_column(table_.lease.token, "add_token");
}

void TableValues::add_guard() {
  const bool skip = table_.guard == Guard::skip;
  const auto raise = [&](std::string_view why) {
    return skip ? std::string("RAISE(IGNORE)")
                : fmt::format("RAISE(ABORT, {})", quote_literal(fmt::format("{}: {}", table_.table, why)));
  };
  values_["guard_raise"] =
      table_.guard == Guard::off
          ? ""
          : raise(table_.shape == Shape::lock
                      ? "another holder has this lock; wait until its lease ends"
                      : "a live lease is on this row; finish it with its token, or wait until it ends");
  values_["grab_raise"] = raise("another holder has this row; wait until its lease ends");
}

std::string TableValues::final_condition() const {
  std::vector<std::string> conditions;
  for (const auto& [name, condition] : table_.finals) conditions.push_back("(" + condition + ")");
  return joined(conditions, " OR ");
}

std::string TableValues::due(bool act) const {
  std::vector<std::string> parts;
  if (!table_.due.empty()) parts.push_back("(" + (act ? for_act(table_.due) : for_sql(table_.due)) + ")");
  if (table_.schedule) {
    const auto next = quote_name(table_.schedule->next);
    parts.push_back((act ? moments_.live_act(next) : moments_.live_sql(next)) + " = 0");
  }
  return joined(parts, " AND ");
}

std::string TableValues::can_be_claimed(bool act) const {
  std::vector<std::string> parts;
  if (!table_.claimable.empty()) parts.push_back("(" + table_.claimable + ")");
  if (const auto when = due(act); !when.empty()) parts.push_back(when);
  parts.push_back(until_ + " IS NULL");
  for (const auto& [code, condition] : table_.refuse) {
    parts.push_back(fmt::format("({}) IS NOT TRUE", act ? for_act(condition) : for_sql(condition)));
  }
  return joined(parts, "\n  AND ");
}

std::string TableValues::state_cases(bool act) {
  std::vector<std::string> cases;
  for (const auto& [name, condition] : table_.finals) {
    cases.push_back(fmt::format("WHEN {} THEN {}", condition, quote_literal(name)));
  }
  cases.push_back(fmt::format("WHEN {} THEN 'running'", act ? moments_.live_act(until_) : moments_.live_sql(until_)));
  cases.push_back(fmt::format("WHEN {} IS NOT NULL THEN 'expired'", until_));
  cases.push_back(fmt::format("WHEN {} THEN 'available'", can_be_claimed(act)));
  cases.emplace_back("ELSE 'waiting'");
  return joined(cases, "\n");
}

std::string TableValues::lost_cases(std::string_view last) {
  const auto asked = "asked." + values_["asked_token"];
  return fmt::format(
      "WHEN {0} IS NULL THEN 'removed'\n"
      "WHEN {0} = {1} THEN 'expired'\n"
      "WHEN {0} / 10 = {1} / 10 THEN CASE {0} % 10 WHEN 4 THEN 'expired' WHEN 5 THEN 'revoked' ELSE 'finished' END\n"
      "ELSE 'superseded'",
      last, asked);
}

void TableValues::add_work() {
  values_["ours_old"] = fmt::format("(OLD.{} % 10 = 0 AND {})", token_, values_["live_old"]) + " IS TRUE";
  values_["ours_t_sql"] = fmt::format("t.{} % 10 = 0 AND {}", token_, values_["live_t_sql"]);
  values_["proven"] = fmt::format(
      "(coalesce(NEW.{0}, 0) > coalesce(OLD.{0}, 0)\n"
      "       OR EXISTS (SELECT 1 FROM leasehold_adopted\n"
      "                  WHERE table_name = {1} AND kind = 'proof' AND name IN ('*', OLD.{0})))",
      token_, values_["table_text"]);
  values_["foreign_token_old"] = next_foreign_token("OLD." + token_);
  values_["foreign_token_row"] = next_foreign_token(token_);
  values_["lease_unchanged"] =
      fmt::format("NEW.{0} IS OLD.{0} AND NEW.{1} IS OLD.{1} AND NEW.{2} IS OLD.{2}", until_, holder_, token_);
  values_["replace_message"] =
      quote_literal(fmt::format("{}: a live lease is on the row that this INSERT would replace", table_.table));
  values_["lost_cases"] = lost_cases("t." + token_);
  values_["grant_token"] = next_token(token_);
  values_["healed_token"] =
      fmt::format("CASE {0} % 10 WHEN 0 THEN {0} + 4 ELSE (coalesce({0}, 0) / 10 + 1) * 10 + 4 END", token_);
  add_conditions();
  add_sets();
  add_held();
  add_also();
  add_serial();
  add_refusals();
}

void TableValues::check_claimable() {
  for (const auto* word : {"now", "current_timestamp", "current_date", "current_time", "random", "select"}) {
    if (!mentions(table_.claimable, word)) continue;
    refuse("claimable",
           fmt::format("{} cannot be part of an index: conditions on the clock or on other rows go into due", word));
  }
}

void TableValues::add_conditions() {
  check_claimable();
  const auto final = final_condition();
  values_["and_not_final"] = final.empty() ? "" : fmt::format(" AND ({}) IS NOT TRUE", final);
  values_["terminal_cases"] = final.empty() ? "" : fmt::format("WHEN {} THEN 'terminal'", final);
  values_["can_be_claimed"] = can_be_claimed(true);
  values_["state_cases_sql"] = state_cases(false);
  values_["state_cases_act"] = state_cases(true);
  const auto next = table_.schedule ? quote_name(table_.schedule->next) : values_["key_list"];
  values_["order"] = table_.order.empty() ? next : table_.order;
  // SQLite's indexes cannot say where NULLs go; such an order is sorted.
  values_["index_order"] = mentions(table_.order, "NULLS") ? values_["key_list"] : values_["order"];
  values_["claimable_where"] =
      table_.claimable.empty() ? until_ + " IS NULL" : fmt::format("({}) AND {} IS NULL", table_.claimable, until_);
  values_["claim_limit"] = table_.serial ? "1" : "CAST(coalesce(:max, 1) AS INTEGER)";
}

std::string TableValues::on_old_row(const std::string& fragment) {
  std::vector<std::string> columns;
  for (const auto& column : facts_.table.columns) {
    if (mentions(fragment, column.name)) columns.push_back(fmt::format("OLD.{0} AS {0}", quote_name(column.name)));
  }
  if (columns.empty()) return "(" + fragment + ")";
  return fmt::format("(SELECT ({}) FROM (SELECT {}))", fragment, joined(columns, ", "));
}

std::string TableValues::on_new_row(const std::string& fragment) {
  return fmt::format("(SELECT ({}) FROM {} WHERE {})", fragment, values_["table"], values_["key_is_new"]);
}

Result<Values> values_of(const Description& table, const FileFacts& facts) { return TableValues(table, facts).run(); }

}  // namespace leasehold::adopt::sqlite

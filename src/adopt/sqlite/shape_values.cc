#include <fmt/format.h>

#include <algorithm>

#include "adopt/sqlite/emitter.h"
#include "adopt/sqlite/table_values.h"

namespace leasehold::adopt::sqlite {

using storage::quote_literal;

void TableValues::add_sets() {
  for (const auto* act : {"claim", "complete", "fail", "release", "expire"}) {
    values_[fmt::format("{}_set", act)] = set_of(act);
  }
  std::vector<std::string> guarded;
  for (const auto* act : {"complete", "fail"}) {
    for (const auto& [column, expression] : assignments_of(act)) {
      const bool lease = column == table_.lease.until || column == table_.lease.holder;
      auto changed = fmt::format("NEW.{0} IS NOT OLD.{0}", quote_name(column));
      const bool known = std::find(guarded.begin(), guarded.end(), changed) != guarded.end();
      if (!lease && !known) guarded.push_back(std::move(changed));
    }
  }
  // The holder of a schedule may end its run by a plain UPDATE, with a next moment of its own.
  const auto changed = joined(guarded, " OR ");
  const bool open = table_.shape == Shape::schedule && !changed.empty();
  values_["guarded_changed"] = open ? fmt::format("({}) AND NEW.{} IS NOT NULL", changed, until_) : changed;
}

void TableValues::add_held() {
  std::vector<std::string> ended;
  for (const auto* name : {"held_when", "held_until", "held_by", "held_when_new", "held_when_old", "held_changed"}) {
    values_[name] = "";
  }
  values_["entered_held"] = values_["live_new"];
  if (table_.held) {
    const auto when = for_sql(table_.held->when);
    const auto until = for_sql(table_.held->until);
    const auto by = for_sql(table_.held->by);
    values_["held_when"] = when;
    values_["held_until"] = until;
    values_["held_by"] = by;
    values_["held_when_new"] = on_new_row(when) + " IS TRUE";
    values_["held_when_old"] = on_old_row(when) + " IS TRUE";
    values_["held_changed"] = fmt::format("{} IS NOT {}\n       OR {} IS NOT {}", on_new_row(until), on_old_row(until),
                                          on_new_row(by), on_old_row(by));
    values_["entered_held"] = fmt::format("({} OR {})", values_["live_new"], values_["held_when_new"]);
    ended.push_back(fmt::format("({} AND {} IS NOT TRUE)", values_["held_when_old"], on_new_row(when)));
  }
  if (const auto final = final_condition(); !final.empty()) ended.push_back(on_new_row(final) + " IS TRUE");
  values_["looks_ended"] = joined(ended, "\n       OR ");
}

void TableValues::add_also() {
  for (const auto* act : {"claim", "complete", "fail", "release", "expire"}) {
    const auto found = table_.also.find(act);
    auto statement = found == table_.also.end() ? std::string() : for_sql(found->second);
    const std::string_view row = std::string_view(act) == "claim" ? "NEW." : "OLD.";
    const auto key = facts_.key.size() == 1 ? over_key(facts_, "NEW.{c}", "") : values_["key_json_new"];
    statement = with_placeholder(statement, ":key", key);
    statement = with_placeholder(statement, ":holder", fmt::format("{}{}", row, holder_));
    statement = with_placeholder(statement, ":token", fmt::format("{}{}", row, token_));
    for (const auto& name : placeholders_of(statement)) {
      refuse("also", fmt::format("there is no :{} here; write :key, :holder or :token", name));
    }
    while (!statement.empty() && (statement.back() == ';' || statement.back() == ' ')) statement.pop_back();
    values_[fmt::format("also_{}", act)] = statement;
  }
}

void TableValues::add_refusals() {
  std::string cases;
  std::vector<std::string> selects;
  std::vector<std::string> waits;
  if (!table_.claimable.empty()) waits.push_back("(" + table_.claimable + ")");
  if (const auto when = due(true); !when.empty()) waits.push_back(when);
  waits.push_back(until_ + " IS NULL");
  const auto waiting = joined(waits, " AND ");
  if (table_.serial) {
    selects.push_back(
        fmt::format("SELECT 1 AS place, 'held' AS outcome, leasehold_serial.{} AS held_by,\n"
                    "       {} - :now_us AS retry_us\n"
                    "FROM {} AS leasehold_serial\n"
                    "WHERE {} AND EXISTS (SELECT 1 FROM {} WHERE {})",
                    quote_name(table_.serial->holder), values_["serial_until_us"], values_["serial_table"],
                    values_["serial_live"], values_["table"], waiting));
  }
  for (const auto& [code, condition] : table_.refuse) {
    cases += fmt::format("WHEN {} THEN {}\n", for_act(condition), quote_literal(code));
    selects.push_back(
        fmt::format("SELECT {} AS place, {} AS outcome, NULL AS held_by, NULL AS retry_us\n"
                    "WHERE EXISTS (SELECT 1 FROM {} WHERE {} AND ({}))",
                    selects.size() + 2, quote_literal(code), values_["table"], waiting, for_act(condition)));
  }
  if (!cases.empty()) cases.pop_back();
  values_["refusal_cases"] = cases;
  values_["refused_selects"] = joined(selects, "\nUNION ALL\n");
}

void TableValues::add_serial() {
  values_["serial_table"] = "";
  if (!table_.serial) return;
  const auto lock = quote_name(table_.serial->table);
  const auto holder = quote_name(table_.serial->holder);
  const auto until = quote_name(table_.serial->until);
  const auto acquired = table_.serial->acquired.empty() ? "" : quote_name(table_.serial->acquired);
  const auto cell = fmt::format("json_array({}, {}.{}{})", over_key(facts_, "CAST(p.k{i} AS TEXT)", ", "), lock, holder,
                                acquired.empty() ? "" : fmt::format(", {}.{}", lock, acquired));
  const auto granted = fmt::format("EXISTS (SELECT 1 FROM temp.{} WHERE outcome = 'granted')", values_["chosen"]);
  const auto cell_of = fmt::format("table_name = {} AND kind = 'serial'", values_["table_text"]);
  values_["serial_table"] = lock;
  values_["serial_holder"] = holder;
  values_["serial_until"] = until;
  values_["serial_live"] = moments_.live_act("leasehold_serial." + until);
  values_["serial_until_us"] = moments_.to_us("leasehold_serial." + until);
  values_["serial_still_live"] = moments_.live_act(until);
  values_["serial_is_ours"] = fmt::format(
      "EXISTS (\n  SELECT 1 FROM temp.{} AS p JOIN leasehold_adopted AS cell ON cell.up = {}\n"
      "  WHERE cell.{} AND p.outcome IN ('extended', 'current'))",
      values_["chosen"], cell, cell_of);
  values_["serial_take"] = fmt::format(
      "UPDATE {0} SET {1} = :holder, {4}{2} = {3} WHERE {5};\n"
      "INSERT INTO {0} ({1}, {6}{2}) SELECT :holder, {7}{3} WHERE {5} AND NOT EXISTS (SELECT 1 FROM {0});\n"
      "INSERT OR REPLACE INTO leasehold_adopted (table_name, place, kind, name, up)\n"
      "SELECT {8}, 0, 'serial', '', {9}\n"
      "FROM temp.{10} AS p JOIN {0} WHERE p.outcome = 'granted'",
      lock, holder, until, values_["granted_until"],
      acquired.empty() ? "" : fmt::format("{} = {}, ", acquired, moments_.now_act()), granted,
      acquired.empty() ? "" : acquired + ", ", acquired.empty() ? "" : moments_.now_act() + ", ", values_["table_text"],
      cell, values_["chosen"]);
  const bool rows_go = column_of(facts_.serial, table_.serial->holder)->not_null ||
                       column_of(facts_.serial, table_.serial->until)->not_null;
  values_["serial_free"] = rows_go ? fmt::format("DELETE FROM {}\nWHERE {}", lock, values_["serial_is_ours"])
                                   : fmt::format("UPDATE {} SET {} = NULL, {} = NULL\nWHERE {}", lock, holder, until,
                                                 values_["serial_is_ours"]);
}

void TableValues::add_lock() {
  const auto cell = [&](std::string_view prefix, std::string_view key) {
    return fmt::format("{0}table_name = {1} AND {0}kind = 'grant' AND {0}name = {2}", prefix, values_["table_text"],
                       key);
  };
  const auto is_ours = [&](std::string_view row) {
    return fmt::format("EXISTS (SELECT 1 FROM leasehold_adopted\n             WHERE {} AND up % 10 = 0)",
                       cell("", key_json(facts_, fmt::format("{}.{{c}}", row))));
  };
  values_["proven"] = fmt::format("EXISTS (SELECT 1 FROM leasehold_adopted WHERE table_name = {} AND kind = 'proof')",
                                  values_["table_text"]);
  values_["granted"] = "CAST(grant_cell.up AS INTEGER)";
  values_["granted_new"] = is_ours("NEW");
  values_["granted_old"] = is_ours("OLD");
  values_["grant_of_new"] = cell("", values_["key_json_new"]);
  values_["grant_of_old"] = cell("", key_json(facts_, "OLD.{c}"));
  values_["grant_of_asked"] = cell("grant_cell.", key_json(facts_, "asked.column{i}"));
  values_["grant_of_t"] = cell("grant_cell.", values_["key_json_t"]);
  values_["foreign_grant"] = next_foreign_token("up");
  values_["first_foreign_grant"] = next_foreign_token("0");
  values_["grant_token"] = next_token("grant_cell.up");
  values_["lost_cases"] = lost_cases(values_["granted"]);
  values_["state_cases_act"] = fmt::format(
      "WHEN {} THEN 'running'\nWHEN t.{} IS NOT NULL THEN 'expired'\nELSE 'available'", values_["live_t"], until_);
  values_["claim_set"] = set_of("claim");
  for (const auto& [column, expression] : assignments_of("claim")) {
    values_["claim_columns"] += ", " + quote_name(column);
    values_["claim_values"] += ", " + for_act(expression);
  }
  values_.emplace("claim_columns", "");
  values_.emplace("claim_values", "");
  const auto goes = [&](const std::string& name) {
    const auto* column = column_of(facts_.table.columns, name);
    return column != nullptr && column->not_null;
  };
  values_["free_lock"] =
      goes(table_.lease.until) || goes(table_.lease.holder)
          ? fmt::format("DELETE FROM {}", values_["table"])
          : fmt::format("UPDATE {} SET {}{} = NULL, {} = NULL", values_["table"], set_of("release"), until_, holder_);
}

void TableValues::add_keep() {
  std::vector<std::string> names, changed, restore, old_notes, notes, again;
  for (const auto& column : table_.keep) {
    if (column_of(facts_.table.columns, column) == nullptr) {
      return refuse("keep", fmt::format("{} has no column {}", table_.table, column));
    }
    const auto name = quote_name(column);
    names.push_back(name);
    changed.push_back(
        fmt::format("(OLD.{0} IS NOT NULL AND NEW.{0} IS NOT OLD.{0}\n"
                    "   AND NOT EXISTS (SELECT 1 FROM leasehold_adopted WHERE table_name = {1} AND kind = 'kept'\n"
                    "                   AND name = {2} AND down = {3} AND NEW.{0} IS up))",
                    name, values_["table_text"], quote_literal(column), values_["key_json_new"]));
    old_notes.push_back(fmt::format("({}, 0, 'kept', {}, OLD.{}, {})", values_["table_text"], quote_literal(column),
                                    name, values_["key_json_new"]));
    restore.push_back(fmt::format("{0} = coalesce(OLD.{0}, {0})", name));
    notes.push_back(fmt::format("SELECT {}, 0, 'kept', {}, t.{}, {} FROM {} AS t WHERE {} AND t.{} IS NOT NULL",
                                values_["table_text"], quote_literal(column), name, values_["key_json_t"],
                                values_["table"], values_["key_is_new_t"], name));
    again.push_back(
        fmt::format("{0} = coalesce((SELECT up FROM leasehold_adopted\n"
                    "                 WHERE table_name = {1} AND kind = 'kept' AND name = {2}), {0})",
                    name, values_["table_text"], quote_literal(column)));
  }
  values_["keep_list"] = joined(names, ", ");
  values_["keep_changed"] = joined(changed, "\n  OR ");
  values_["keep_old_notes"] = joined(old_notes, ",\n  ");
  values_["keep_restore"] = joined(restore, ", ");
  values_["keep_notes"] = joined(notes, "\nUNION ALL ");
  values_["keep_again"] = joined(again, ",\n    ");
}

}  // namespace leasehold::adopt::sqlite

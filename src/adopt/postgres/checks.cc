#include "adopt/postgres/emitter.h"

#include <fmt/format.h>

#include "adopt/fragments.h"
#include "base/text.h"

namespace leasehold::adopt::postgres {
namespace {

using storage::quote_literal;
using storage::quote_name;

class FragmentCheck {
 public:
  FragmentCheck(storage::Direct& database, const Description& table, const Values& values, BootTime deadline)
      : database_(database), table_(table), values_(values), deadline_(deadline) {}

  Result<void> run() {
    roles();
    condition("claimable", table_.claimable);
    condition("due", table_.due);
    for (const auto& [state, sql] : table_.finals) condition("final", sql);
    if (table_.held) {
      condition("held", table_.held->when);
      expression("held", table_.held->until);
      expression("held", table_.held->by);
    }
    for (const auto& [code, sql] : table_.refuse) condition("refuse", without_placeholders(sql));
    if (!table_.order.empty()) plan("order", fmt::format("SELECT FROM {} ORDER BY {}", rows(), table_.order));
    for (const auto& [act, sql] : table_.on) assignments(act, sql);
    if (table_.shape == Shape::work) {
      index("claimable", value("order_index"), value("eligible_index_where"));
      index("final", value("until"), "true" + value("not_final_index"));
    }
    if (error_) return std::move(*error_);
    return {};
  }

 private:
  [[nodiscard]] const std::string& value(std::string_view name) const { return values_.find(name)->second; }

  void roles() {
    for (const auto& role : table_.roles) {
      auto found = database_.run("SELECT 1 FROM pg_roles WHERE rolname = " + quote_literal(role), deadline_);
      if (error_) return;
      if (!found) {
        error_ = std::move(found).error();
      } else if (found->rows.empty()) {
        error_ = error_at(table_, "roles", fmt::format("there is no role {}", leasehold::quoted(role)));
      }
    }
  }

  /// The table as it will be: with the columns that are still missing.
  [[nodiscard]] std::string rows() const {
    std::string columns = "t.*";
    const auto& added = value("add_columns");
    const auto add = [&](const std::string& name, const std::string& type) {
      if (has_word(added, name)) columns += fmt::format(", NULL::{} AS {}", type, quote_name(name));
    };
    add(table_.lease.until, value("until_type"));
    add(table_.lease.holder, "text");
    add(table_.lease.token, "bigint");
    return fmt::format("(SELECT {} FROM {} AS t) AS {}", columns, value("table"), value("alias"));
  }

  static std::string without_placeholders(std::string_view sql) {
    Placeholders nothing;
    for (const auto& name : placeholders_of(sql)) nothing[name] = "NULL";
    return with_placeholders(sql, nothing);
  }

  void condition(const std::string& key, const std::string& sql) {
    if (!sql.empty()) plan(key, fmt::format("SELECT FROM {} WHERE ({})", rows(), sql));
  }
  void expression(const std::string& key, const std::string& sql) {
    plan(key, fmt::format("SELECT ({}) FROM {}", sql, rows()));
  }

  void assignments(const std::string& act, const std::string& sql) {
    const auto parts = assignments_of(sql);
    if (!parts) return;
    for (const auto& [column, text] : *parts) expression("on_" + act, without_placeholders(text));
  }

  /// Checks that an index is possible, on an empty table of the session's own.
  void index(const std::string& key, const std::string& columns, const std::string& condition) {
    if (error_) return;
    const auto trial = "pg_temp." + value("alias");
    const auto& added = value("add_columns");
    auto made = database_.run(
        fmt::format("CREATE TEMPORARY TABLE {} (LIKE {}); {}CREATE INDEX ON {} ({}) WHERE {}; DROP TABLE {}",
                    value("alias"), value("table"),
                    added.empty() ? "" : fmt::format("ALTER TABLE {} {}; ", trial, added), trial, columns, condition,
                    trial),
        deadline_);
    if (made || made.error().code == Errc::unavailable) {
      if (!made) error_ = std::move(made).error();
      return;
    }
    const bool volatile_part = made.error().message.find("IMMUTABLE") != std::string::npos;
    error_ = error_at(table_, key,
                      volatile_part ? "it becomes an index, so it must not use the clock: move that part to due"
                                    : made.error().message);
  }

  void plan(const std::string& key, const std::string& sql) {
    if (error_) return;
    auto planned = database_.plan(sql, deadline_);
    if (planned) return;
    if (planned.error().code == Errc::unavailable) {
      error_ = std::move(planned).error();
    } else {
      error_ = error_at(table_, key, planned.error().message);
    }
  }

  storage::Direct& database_;
  const Description& table_;
  const Values& values_;
  const BootTime deadline_;
  std::optional<Error> error_{};
};

/// "status = 'RUNNING'", if a claim sets a column to a constant: rows that old code works on have it, too.
std::string sign_of_work(const Description& table) {
  const auto found = table.on.find("claim");
  if (found == table.on.end()) return {};
  const auto assignments = assignments_of(found->second);
  if (!assignments) return {};
  for (const auto& [column, expression] : *assignments) {
    const bool constant = expression.size() > 2 && expression.front() == '\'' && expression.back() == '\'';
    if (constant) return fmt::format("{} = {}", quote_name(column), expression);
  }
  return {};
}

/// Without `held` we cannot know whether old code works on such rows or a crash left them behind.
Result<void> add_phantoms(storage::Direct& database, const Description& table, const TableFacts& facts,
                          const Values& values, BootTime deadline, std::vector<Note>& notes) {
  const auto sign = sign_of_work(table);
  if (table.held || sign.empty()) return {};
  const auto& not_final = values.find("not_final_index")->second;
  const bool leased = column_of(facts.columns, table.lease.until) != nullptr;
  auto rows = database.run(
      fmt::format("SELECT concat_ws('/', {}) AS key, count(*) OVER () AS rows FROM {} WHERE {}{}{} LIMIT 5",
                  values.find("key_columns")->second, values.find("table")->second, sign, not_final,
                  leased ? fmt::format(" AND {} IS NULL", values.find("until")->second) : ""),
      deadline);
  if (!rows) return std::move(rows).error();
  if (rows->rows.empty()) return {};
  std::string keys;
  for (std::size_t row = 0; row < rows->rows.size(); ++row) {
    keys += (keys.empty() ? "" : ", ") + rows->at(row, "key").value_or("");
  }
  notes.push_back(
      {Note::Level::danger, fmt::format("{} rows look as if code works on them ({}): {}. Say until when, with held = "
                                        "{{ when = \"{}\", until = \"…\" }}, or they can be claimed at once",
                                        rows->at(0, "rows").value_or(""), sign, keys, sign)});
  return {};
}

}  // namespace

Result<void> check_fragments(storage::Direct& database, const Description& table, const Values& values,
                             BootTime deadline) {
  return FragmentCheck(database, table, values, deadline).run();
}

Result<std::vector<Note>> notes_on(storage::Direct& database, const Description& table, const TableFacts& facts,
                                   const Values& values, BootTime deadline) {
  std::vector<Note> notes;
  const auto guard = "zz_" + table.table + "_guard";
  for (const auto& trigger : facts.triggers) {
    const bool before = trigger.definition.find(" BEFORE ") != std::string::npos;
    const bool of_ours = trigger.name.starts_with("zz_" + table.table + "_");
    if (of_ours) continue;
    if (before && trigger.name > guard) {
      notes.push_back({Note::Level::advice,
                       fmt::format("trigger {} runs after {}: its writes are not guarded", trigger.name, guard)});
    } else {
      notes.push_back(
          {Note::Level::fine, fmt::format("trigger {} stays, and fires for the writes of leases, too", trigger.name)});
    }
  }
  for (const auto& dependent : facts.dependents) {
    if (dependent.kind != "foreign key") continue;
    notes.push_back(
        {Note::Level::advice,
         fmt::format("{} refers to this table: while a transaction inserts there, a claim passes over the row",
                     dependent.name)});
  }
  if (facts.row_security) {
    notes.push_back({Note::Level::advice, "row security is on: the roles need policies for SELECT and UPDATE"});
  }
  if (table.roles.empty() && table.shape != Shape::keep) {
    notes.push_back({Note::Level::advice, fmt::format("no roles: only {} may call the functions", facts.owner)});
  }
  if (table.shape == Shape::work) {
    if (auto added = add_phantoms(database, table, facts, values, deadline, notes); !added)
      return std::move(added).error();
  }
  return notes;
}

}  // namespace leasehold::adopt::postgres

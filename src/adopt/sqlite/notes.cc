#include "adopt/sqlite/emitter.h"

#include <fmt/format.h>

#include "adopt/sqlite/fragments.h"
#include "adopt/sqlite/moments.h"

namespace leasehold::adopt::sqlite {
namespace {

using storage::quote_name;

class Notes {
 public:
  Notes(storage::Direct& database, const Description& table, const FileFacts& facts, BootTime deadline)
      : database_(database), table_(table), facts_(facts), name_(quote_name(table.table)), deadline_(deadline) {}

  Result<std::vector<Note>> run() {
    for (const auto& trigger : facts_.table.triggers) about_trigger(trigger);
    for (const auto& dependent : facts_.table.dependents) about_dependent(dependent);
    about_empty_keys();
    if (table_.held) about_held_rows();
    if (!table_.held && table_.shape == Shape::work) about_rows_in_work();
    if (error_) return std::move(*error_);
    return std::move(notes_);
  }

 private:
  void add(Note::Level level, std::string text) { notes_.push_back({level, std::move(text)}); }

  /// Up to five keys of the rows, and how many there are; empty if there are none.
  std::string keys_where(const std::string& condition) {
    if (error_) return {};
    auto rows =
        database_.run(fmt::format("SELECT {} AS key, count(*) OVER () AS total FROM {} WHERE {} ORDER BY {} LIMIT 5",
                                  over_key(facts_, "coalesce({c}, 'NULL')", " || '/' || "), name_, condition,
                                  over_key(facts_, "{c}", ", ")),
                      deadline_);
    if (!rows) {
      error_ = std::move(rows).error();
      return {};
    }
    if (rows->rows.empty()) return {};
    std::vector<std::string> keys;
    for (const auto& row : rows->rows) keys.push_back(row[0].value_or(""));
    const auto total = rows->at(0, "total").value_or("");
    const bool more = total != std::to_string(keys.size());
    return fmt::format("{} ({}{})", total, joined(keys, ", "), more ? ", …" : "");
  }

  [[nodiscard]] bool has_lease_columns() const { return added_columns(table_, facts_).empty(); }

  void about_trigger(const TriggerFacts& trigger) {
    // After apply, our triggers are there, too: all of them name the ledger.
    if (mentions(trigger.definition, "leasehold_adopted")) return;
    add(Note::Level::fine, fmt::format("trigger {} stays, and fires for the writes of leases, too", trigger.name));
  }

  void about_dependent(const DependentFacts& dependent) {
    if (dependent.name == table_.table + "_leases") return;
    add(Note::Level::fine, dependent.kind == "view"
                               ? fmt::format("view {} stays as it is", dependent.name)
                               : fmt::format("table {} refers to this one, and stays as it is", dependent.name));
  }

  void about_empty_keys() {
    const auto rows = keys_where(over_key(facts_, "{c} IS NULL", " OR "));
    if (rows.empty()) return;
    add(Note::Level::danger, fmt::format("rows without a key cannot be claimed: {}; give them one", rows));
  }

  void about_held_rows() {
    if (has_lease_columns() && table_.shape != Shape::lock) return;
    const Moments moments(time_form_of(table_, facts_));
    const auto now = [&](const std::string& fragment) { return with_placeholder(fragment, ":now", moments.now_sql()); };
    const auto when = now(table_.held->when);
    const auto until = fmt::format("({})", now(table_.held->until));
    const auto live = keys_where(fmt::format("({}) AND {}", when, moments.live_sql(until)));
    const auto stale =
        keys_where(fmt::format("({}) AND {} IS NOT NULL AND NOT {}", when, until, moments.live_sql(until)));
    const auto unknown = keys_where(fmt::format("({}) AND {} IS NULL", when, until));
    if (!live.empty()) add(Note::Level::fine, fmt::format("held now, and left to their workers: {}", live));
    if (!stale.empty()) add(Note::Level::fine, fmt::format("held too long, and free after apply: {}", stale));
    if (!unknown.empty()) {
      add(Note::Level::advice,
          fmt::format("held, but held.until is NULL: they count as held for one ttl: {}", unknown));
    }
  }

  /// Rows that are neither claimable nor final: code without leases may be at work on them, and no column shows until
  /// when.
  void about_rows_in_work() {
    if (table_.claimable.empty() || has_lease_columns()) return;
    auto condition = fmt::format("({}) IS NOT TRUE", table_.claimable);
    for (const auto& [name, final] : table_.finals) condition += fmt::format(" AND ({}) IS NOT TRUE", final);
    const auto rows = keys_where(condition);
    if (rows.empty()) return;
    add(Note::Level::danger,
        fmt::format(
            "rows that are neither claimable nor final: {}; describe with held = {{ when, until, by }} how a row "
            "looks that is in work, or change them",
            rows));
  }

  storage::Direct& database_;
  const Description& table_;
  const FileFacts& facts_;
  std::string name_;
  BootTime deadline_;
  std::vector<Note> notes_{};
  std::optional<Error> error_{};
};

}  // namespace

Result<std::vector<Note>> notes_of(storage::Direct& database, const Description& table, const FileFacts& facts,
                                   BootTime deadline) {
  return Notes(database, table, facts, deadline).run();
}

}  // namespace leasehold::adopt::sqlite

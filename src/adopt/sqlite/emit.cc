#include <fmt/format.h>

#include <array>

#include "adopt/emission.h"
#include "adopt/fragments.h"
#include "adopt/sqlite/emitter.h"
#include "adopt/sqlite/fragments.h"
#include "adopt/templates.h"
#include "base/text.h"

namespace leasehold::adopt::sqlite {
namespace {

struct Template {
  std::string_view file;
  std::string_view text;
};

std::vector<Template> templates_of(Shape shape) {
  if (shape == Shape::lock) {
    return {{"sqlite/lock.sql", templates::sqlite_lock}, {"sqlite/lock_acts.sql", templates::sqlite_lock_acts}};
  }
  if (shape == Shape::keep) return {{"sqlite/keep.sql", templates::sqlite_keep}};
  return {{"sqlite/work.sql", templates::sqlite_work}, {"sqlite/work_acts.sql", templates::sqlite_work_acts}};
}

/// The table with the lease columns that it will have.
FragmentPlace place_of(const Description& table, const FileFacts& facts) {
  std::string columns = "t.*";
  for (const auto& name : added_columns(table, facts)) columns += ", NULL AS " + storage::quote_name(name);
  const auto name = storage::quote_name(table.table);
  return {.rows = fmt::format("(SELECT {} FROM {} AS t) AS {}", columns, name, name),
          .filled =
              [](std::string_view sql) {
                std::string filled(sql);
                for (const auto* place : {":error", ":now", ":key", ":asked", ":holder", ":token", ":reason"}) {
                  filled = with_placeholder(filled, place, "NULL");
                }
                return filled;
              },
          .assignments = [](std::string_view sql) { return read_assignments(sql); }};
}

}  // namespace

Result<Emission> emit(storage::Direct& database, const Description& table, std::span<const WantedFunction> functions,
                      BootTime deadline) {
  if (table.shape == Shape::sessions) {
    return error_at(table, "shape", "sessions need PostgreSQL; SQLite has work, lock, schedule and keep");
  }
  if (!functions.empty()) return error_at(table, "", "SQLite has no stored functions: remove [function.…]");
  auto facts = inspect(database, table, deadline);
  if (!facts) return std::move(facts).error();
  if (auto checked = check_fragments(database, table, place_of(table, *facts), deadline); !checked) {
    return std::move(checked).error();
  }
  auto values = values_of(table, *facts);
  if (!values) return std::move(values).error();
  Emission emission;
  for (const auto& [file, text] : templates_of(table.shape)) {
    auto steps = render(text, file, *values);
    if (!steps) return std::move(steps).error();
    for (auto& step : *steps) emission.steps.push_back(std::move(step));
  }
  auto notes = notes_of(database, table, *facts, deadline);
  if (!notes) return std::move(notes).error();
  emission.notes = std::move(*notes);
  emission.facts = std::move(facts->table);
  return emission;
}

}  // namespace leasehold::adopt::sqlite

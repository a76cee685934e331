#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "adopt/emission.h"
#include "adopt/postgres/emitter.h"
#include "adopt/postgres/session_values.h"
#include "adopt/postgres/values.h"
#include "adopt/templates.h"

namespace leasehold::adopt::postgres {
namespace {

struct TemplateFile {
  std::string_view name;
  std::string_view text;
};

std::vector<TemplateFile> files_of(const Description& table) {
  std::vector<TemplateFile> files;
  if (table.shape != Shape::keep) {
    files = {
        {"postgres/columns.sql", templates::postgres_columns}, {"postgres/claim.sql", templates::postgres_claim},
        {"postgres/settle.sql", templates::postgres_settle},   {"postgres/guard.sql", templates::postgres_guard},
        {"postgres/look.sql", templates::postgres_look},       {"postgres/indexes.sql", templates::postgres_indexes},
        {"postgres/events.sql", templates::postgres_events},   {"postgres/acts.sql", templates::postgres_acts}};
  }
  if (!table.keep.empty()) files.push_back({"postgres/keep.sql", templates::postgres_keep});
  files.push_back({"postgres/rights.sql", templates::postgres_rights});
  return files;
}

/// A recreated function has no rights yet, and a trigger needs its function: so rights and triggers follow each change.
void follow_functions(std::vector<Step>& steps) {
  std::uint64_t digest = 14695981039346656037U;  // FNV-1a
  for (const auto& step : steps) {
    if (step.kind != "function" && step.kind != "view") continue;
    for (const char c : step.up) digest = (digest ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  for (auto& step : steps) {
    if (step.kind != "rights" && step.kind != "trigger") continue;
    step.up = fmt::format("-- Made for these functions: {:016x}.\n{}", digest, step.up);
  }
}

Result<void> emit_rows(storage::Direct& database, const Description& table, BootTime deadline, Emission& emission) {
  std::vector<ColumnFacts> serial_columns;
  if (table.serial) {
    const auto [schema, name] = split_name(table, table.serial->table);
    auto columns = columns_of(database, schema, name, deadline);
    if (!columns) return std::move(columns).error();
    if (columns->empty()) return error_at(table, "serial", "there is no table " + schema + "." + name);
    serial_columns = std::move(*columns);
  }
  auto values = values_of(table, emission.facts, serial_columns);
  if (!values) return std::move(values).error();
  if (table.shape != Shape::keep) {
    if (auto checked = check_fragments(database, table, *values, deadline); !checked) return checked;
  }
  for (const auto& [name, text] : files_of(table)) {
    auto steps = render(text, name, *values);
    if (!steps) return std::move(steps).error();
    std::move(steps->begin(), steps->end(), std::back_inserter(emission.steps));
  }
  follow_functions(emission.steps);
  for (auto& step : index_steps(table, emission.facts.kind == "partitioned table")) {
    emission.steps.push_back(std::move(step));
  }
  auto notes = notes_on(database, table, emission.facts, *values, deadline);
  if (!notes) return std::move(notes).error();
  emission.notes = std::move(*notes);
  return {};
}

}  // namespace

Result<Emission> emit(storage::Direct& database, const Description& table, std::span<const WantedFunction> functions,
                      BootTime deadline) {
  auto facts = inspect(database, table, deadline);
  if (!facts) return std::move(facts).error();
  Emission emission;
  emission.facts = std::move(*facts);
  auto emitted = table.shape == Shape::sessions ? emit_sessions(database, table, emission, deadline)
                                                : emit_rows(database, table, deadline, emission);
  if (!emitted) return std::move(emitted).error();
  for (const auto& function : functions) {
    auto step = function_step(database, table, function, deadline);
    if (!step) return std::move(step).error();
    emission.steps.push_back(std::move(*step));
  }
  std::stable_sort(emission.steps.begin(), emission.steps.end(),
                   [](const Step& a, const Step& b) { return a.phase < b.phase; });
  return emission;
}

}  // namespace leasehold::adopt::postgres

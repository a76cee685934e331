#include "adopt/adoption.h"

#include <fmt/format.h>

#include <algorithm>

#include "adopt/database.h"
#include "adopt/ledger.h"
#include "base/json.h"
#include "base/text.h"

namespace leasehold::adopt {

Result<Emission> emit(storage::Direct& database, const Description& table, std::span<const WantedFunction> functions,
                      BootTime deadline) {
  return database.is_postgres() ? postgres::emit(database, table, functions, deadline)
                                : sqlite::emit(database, table, functions, deadline);
}

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::prepare: return "prepare";
    case Phase::concurrently: return "concurrently";
    case Phase::cutover: return "cutover";
    case Phase::act: return "act";
  }
  return "";
}

std::vector<WantedFunction> functions_beside(const DescriptionFile& file, const Description& table) {
  const auto leased = [](const Description& one) { return one.shape != Shape::keep; };
  const auto last = std::find_if(file.tables.rbegin(), file.tables.rend(), leased);
  std::vector<WantedFunction> functions;
  for (const auto& function : file.functions) {
    const auto* owner = last == file.tables.rend() ? &file.tables.back() : &*last;
    for (const auto& one : file.tables) {
      if (function.body.find(one.table) != std::string::npos) owner = &one;
    }
    if (owner == &table) functions.push_back(function);
  }
  return functions;
}

std::vector<Finding> findings_of(const Description& table, const Emission& emission) {
  std::vector<Finding> findings;
  for (const auto& note : emission.notes) {
    const auto level = note.level == Note::Level::fine     ? Finding::Level::fine
                       : note.level == Note::Level::advice ? Finding::Level::advice
                                                           : Finding::Level::danger;
    findings.push_back({.level = level, .what = full_name(table) + ": " + note.text, .advice = {}});
  }
  return findings;
}

std::vector<std::pair<std::string, std::string>> facts_of(const Description& table, const Emission& emission) {
  return {{"key", json_from_texts(table.key.empty() ? emission.facts.primary_key : table.key)},
          {"shape", std::string(to_string(table.shape))},
          {"ttl_us", std::to_string(table.ttl.count())},
          {"heartbeat_us", std::to_string(table.heartbeat.count())}};
}

namespace {

/// The lock that a step takes, for the person who decides when to apply.
std::string_view lock_of(const Step& step, bool on_postgres) {
  if (!on_postgres) return "the file's write lock, for a moment";
  if (step.kind == "column") return "ACCESS EXCLUSIVE, for a moment";
  if (step.kind == "index" && step.phase == Phase::concurrently) {
    return "SHARE UPDATE EXCLUSIVE while the index is built; reads and writes go on";
  }
  if (step.kind == "index") return "SHARE while the index is built; writes wait";
  if (step.kind == "trigger") return "SHARE ROW EXCLUSIVE, for a moment; writes wait";
  if (step.kind == "rows") return "SHARE ROW EXCLUSIVE until the cutover commits; writes wait";
  return "none that others wait for";
}

AdoptStep as_planned(const std::string& table, const Step& step, const std::vector<Done>& done, bool on_postgres) {
  const auto label = label_of(step);
  const bool is_done =
      std::any_of(done.begin(), done.end(), [&](const Done& one) { return one.name == label && one.up == step.up; });
  return {.table = table,
          .what = label,
          .phase = std::string(to_string(step.phase)),
          .lock = std::string(lock_of(step, on_postgres)),
          .up = step.up,
          .down = step.down,
          .done = is_done};
}

Result<void> plan_table(storage::Direct& database, const Description& table, std::span<const WantedFunction> functions,
                        BootTime deadline, AdoptPlan& plan) {
  auto emission = emit(database, table, functions, deadline);
  if (!emission) return std::move(emission).error();
  std::vector<Done> done;
  Ledger ledger(database, table.schema, table.table);
  auto adopted = ledger.exists(deadline);
  if (!adopted) return std::move(adopted).error();
  if (*adopted) {
    auto steps = ledger.steps(deadline);
    if (!steps) return std::move(steps).error();
    done = std::move(*steps);
  }
  for (const auto& step : emission->steps) {
    if (step.phase != Phase::act)
      plan.steps.push_back(as_planned(full_name(table), step, done, database.is_postgres()));
  }
  for (auto& finding : findings_of(table, *emission)) plan.notes.push_back(std::move(finding));
  return {};
}

/// A migration tool runs a script in one transaction.
std::string without_concurrently(std::string sql) {
  constexpr std::string_view word = " CONCURRENTLY";
  if (const auto at = sql.find(word); at != std::string::npos) sql.erase(at, word.size());
  return sql;
}

Result<void> write_scripts(storage::Direct& database, const Description& table,
                           std::span<const WantedFunction> functions, BootTime deadline, AdoptScripts& scripts) {
  auto emission = emit(database, table, functions, deadline);
  if (!emission) return std::move(emission).error();
  const Ledger ledger(database, table.schema, table.table);
  const auto name = full_name(table);
  std::string down;
  scripts.up += fmt::format("-- {}: leases on its rows. Made by leasehold adopt plan.\n\n{};\n\n{};\n\n", name,
                            ledger.create_sql(database.is_postgres()), ledger.describe_sql(table.text));
  for (const auto& step : emission->steps) {
    if (step.phase == Phase::act) continue;
    const auto up = without_concurrently(step.up);
    scripts.up += fmt::format("{};\n\n{};\n\n", up, ledger.note(step));
    if (!step.down.empty()) down = fmt::format("{};\n\n{}", without_concurrently(step.down), down);
  }
  scripts.up += ledger.publish_sql(emission->steps, facts_of(table, *emission), table.roles) + '\n';
  // The last table goes first.
  scripts.down = fmt::format("-- {}: everything as it was before.\n\n{}{};\n\n{};\n\n{}", name, down,
                             ledger.forget_sql(), ledger.drop_if_empty_sql(database.is_postgres()), scripts.down);
  return {};
}

}  // namespace

Result<Description> adopted_description(storage::Direct& database, const Adopted& table, BootTime deadline) {
  auto text = Ledger(database, table.schema, table.table).description(deadline);
  if (!text) return std::move(text).error();
  auto file = read_descriptions(text->value_or(""), "leasehold_adopted");
  if (!file) return std::move(file).error();
  return std::move(file->tables.front());
}

}  // namespace leasehold::adopt

namespace leasehold {

using adopt::all_adopted;
using adopt::find_adopted;
using adopt::find_published;
using adopt::functions_beside;
using adopt::Ledger;
using adopt::plan_table;
using adopt::read_descriptions;
using adopt::write_scripts;

Result<Adoption> Adoption::open(std::string_view url, const OpenOptions& options) {
  auto database = adopt::open_database(url, BootClock::now() + options.call_timeout);
  if (!database) return std::move(database).error();
  return Adoption(std::make_shared<Impl>(std::move(*database), options.call_timeout));
}

Result<AdoptPlan> Adoption::plan(std::string_view file, std::string_view name) const {
  auto described = read_descriptions(file, name);
  if (!described) return std::move(described).error();
  const std::lock_guard lock(impl_->mutex);
  AdoptPlan plan;
  for (const auto& table : described->tables) {
    const auto functions = functions_beside(*described, table);
    auto planned = plan_table(*impl_->database, table, functions, impl_->deadline(), plan);
    if (!planned) return std::move(planned).error();
  }
  return plan;
}

Result<AdoptScripts> Adoption::scripts(std::string_view file, std::string_view name) const {
  auto described = read_descriptions(file, name);
  if (!described) return std::move(described).error();
  const std::lock_guard lock(impl_->mutex);
  AdoptScripts scripts;
  for (const auto& table : described->tables) {
    const auto functions = functions_beside(*described, table);
    auto written = write_scripts(*impl_->database, table, functions, impl_->deadline(), scripts);
    if (!written) return std::move(written).error();
  }
  return scripts;
}

Result<AdoptPlan> Adoption::revert_plan(std::string_view table) const {
  const std::lock_guard lock(impl_->mutex);
  auto adopted = find_adopted(*impl_->database, table, impl_->deadline());
  if (!adopted) return std::move(adopted).error();
  auto done = Ledger(*impl_->database, adopted->schema, adopted->table).steps(impl_->deadline());
  if (!done) return std::move(done).error();
  AdoptPlan plan;
  std::reverse(done->begin(), done->end());
  for (const auto& step : *done) {
    plan.steps.push_back({.table = adopted->schema + "." + adopted->table,
                          .what = step.name,
                          .phase = "revert",
                          .lock = {},
                          .up = step.down,
                          .down = step.up});
  }
  return plan;
}

}  // namespace leasehold

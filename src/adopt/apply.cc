// Applies and reverts adoptions on a live database.
//
// Each step before the cutover is a transaction of its own that also records the step in the ledger, so an interrupted
// apply() goes on where it stopped. No statement waits for a lock longer than a second: every other session would wait
// behind it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "adopt/adoption.h"
#include "adopt/database.h"
#include "adopt/ledger.h"
#include "base/text.h"

namespace leasehold::adopt {
namespace {

using namespace std::chrono_literals;
using storage::Direct;

constexpr std::string_view lock_bound = "SET LOCAL lock_timeout = '1s'";

Result<void> run_all(Direct& database, const std::vector<std::string>& statements, BootTime deadline) {
  for (const auto& sql : statements) {
    if (sql.empty()) continue;
    if (auto ran = database.run(sql, deadline); !ran) return std::move(ran).error();
  }
  return {};
}

Error about(Error error, std::string_view what) {
  error.message = fmt::format("{}: {}", what, error.message);
  return error;
}

/// The changes to one table: first undo the recorded steps that changed or are gone, last first; then run the new ones.
struct Changes {
  std::vector<Done> undo;
  std::vector<Step> replace;  ///< changed, and replaced in place: others depend on them
  std::vector<Step> alone;    ///< each in a transaction of its own, or outside of any
  std::vector<Step> cutover;  ///< in one transaction
};

/// The statement that replaces an existing object; empty if there is no such statement.
std::string replacing(const std::string& up) {
  for (const std::string_view what : {"FUNCTION ", "TRIGGER "}) {
    const auto create = "CREATE " + std::string(what);
    const auto at = up.find(create);
    if (at != std::string::npos && (at == 0 || up[at - 1] == '\n')) {
      auto sql = up;
      return sql.insert(at + std::string_view("CREATE ").size(), "OR REPLACE ");
    }
  }
  return {};
}

Changes changes_between(const std::vector<Done>& done, const std::vector<Step>& wanted, bool on_postgres) {
  const auto recorded = [&](const Step& step) {
    return std::find_if(done.begin(), done.end(), [&](const Done& one) { return one.name == label_of(step); });
  };
  Changes changes;
  for (const auto& step : wanted) {
    const auto before = recorded(step);
    if (step.phase == Phase::act || (before != done.end() && before->up == step.up)) continue;
    if (on_postgres && before != done.end() && !replacing(step.up).empty()) {
      changes.replace.push_back(step);
    } else {
      (step.phase == Phase::cutover ? changes.cutover : changes.alone).push_back(step);
    }
  }
  const auto stays = [&](const Done& one) {
    // The steps do not name a column that exists already; only revert removes it.
    if (one.name.starts_with("column ")) return true;
    const auto same = [&](const Step& step) { return label_of(step) == one.name; };
    const auto found = std::find_if(wanted.begin(), wanted.end(), same);
    return found != wanted.end() &&
           (found->up == one.up || std::any_of(changes.replace.begin(), changes.replace.end(), same));
  };
  std::copy_if(done.rbegin(), done.rend(), std::back_inserter(changes.undo),
               [&](const Done& one) { return !stays(one); });
  return changes;
}

/// Runs the steps of one table.
class Runner {
 public:
  Runner(Direct& database, Ledger& ledger, std::string table, const ApplyOptions& options)
      : database_(database), ledger_(ledger), table_(std::move(table)), options_(options) {}

  Result<void> apply(const Changes& changes) {
    for (const auto& done : changes.undo) {
      if (auto undone = undo(done); !undone) return undone;
    }
    for (const auto& step : changes.replace) {
      announce(step);
      auto replaced = in_one_transaction({replacing(step.up), ledger_.renew(step)}, label_of(step));
      if (!replaced) return replaced;
    }
    for (const auto& step : changes.alone) {
      if (auto ran = run_alone(step); !ran) return ran;
    }
    return changes.cutover.empty() ? Result<void>() : cut_over(changes.cutover);
  }

  Result<void> undo(const Done& done) {
    const Step step{.phase = Phase::prepare, .kind = {}, .name = done.name, .up = done.down, .down = done.up};
    announce(step, "revert");
    const bool concurrently = done.down.find("CONCURRENTLY") != std::string::npos;
    if (concurrently) {
      if (auto ran = database_.run(done.down, patience_ends_); !ran) return about(ran.error(), done.name);
      return in_one_transaction({ledger_.strike(done.name)}, done.name);
    }
    return in_one_transaction({done.down, ledger_.strike(done.name)}, "taking back " + done.name);
  }

  std::vector<AdoptStep> take_ran() { return std::move(ran_); }

  /// The notices that the steps raised.
  std::vector<Finding> take_notices() {
    std::vector<Finding> notes;
    for (const auto& notice : database_.take_notices()) {
      notes.push_back({.level = Finding::Level::fine, .what = "NOTICE: " + notice});
    }
    return notes;
  }

 private:
  Result<void> run_alone(const Step& step) {
    announce(step);
    const auto label = label_of(step);
    if (step.phase != Phase::concurrently || !database_.is_postgres()) {
      return in_one_transaction({step.up, ledger_.note(step)}, label);
    }
    // An interrupted build leaves an index that is not valid.
    auto broken = database_.run(fmt::format("SELECT 1 FROM pg_catalog.pg_index WHERE NOT indisvalid AND indexrelid = "
                                            "pg_catalog.to_regclass({})",
                                            storage::quote_literal(step.name)),
                                patience_ends_);
    if (!broken) return broken.error();
    if (!broken->rows.empty()) {
      if (auto gone = database_.run(step.down, patience_ends_); !gone) return about(gone.error(), label);
    }
    if (auto ran = database_.run(step.up, patience_ends_); !ran) return about(ran.error(), label);
    return in_one_transaction({ledger_.note(step)}, label);
  }

  Result<void> cut_over(const std::vector<Step>& steps) {
    std::vector<std::string> statements;
    for (const auto& step : steps) {
      announce(step);
      statements.push_back(step.up);
      statements.push_back(ledger_.note(step));
    }
    // This marks the rows of live holders; the user's own triggers must not fire for that.
    database_.fire_triggers(false);
    auto done = in_one_transaction(statements, "the cutover from " + label_of(steps.front()) + " on");
    database_.fire_triggers(true);
    return done;
  }

  /// Runs the statements, and tries again while other sessions hold the locks.
  Result<void> in_one_transaction(const std::vector<std::string>& statements, std::string_view what) {
    for (;;) {
      auto done = in_transaction(database_, patience_ends_, [&]() -> Result<void> {
        if (database_.is_postgres()) {
          if (auto bound = database_.run(lock_bound, patience_ends_); !bound) return bound.error();
        }
        return run_all(database_, statements, patience_ends_);
      });
      if (done) return done;
      if (done.error().code != Errc::busy || BootClock::now() + 300ms >= patience_ends_)
        return about(done.error(), what);
      std::this_thread::sleep_for(300ms);
    }
  }

  void announce(const Step& step, std::string_view phase = {}) {
    const auto label = step.kind.empty() ? step.name : label_of(step);
    ran_.push_back({.table = table_,
                    .what = label,
                    .phase = std::string(phase.empty() ? to_string(step.phase) : phase),
                    .lock = {},
                    .up = step.up,
                    .down = step.down,
                    .done = true});
    if (options_.on_step) options_.on_step(ran_.back());
  }

  Direct& database_;
  Ledger& ledger_;
  std::string table_;
  const ApplyOptions& options_;
  BootTime patience_ends_ = BootClock::now() + options_.patience;
  std::vector<AdoptStep> ran_{};
};

/// The emission, unless one of its notes is a danger and the caller gave no consent.
Result<Emission> emit_with_consent(Direct& database, const DescriptionFile& file, const Description& table,
                                   const ApplyOptions& options, BootTime until) {
  auto emission = emit(database, table, functions_beside(file, table), until);
  if (!emission) return std::move(emission).error();
  for (const auto& note : emission->notes) {
    if (note.level != Note::Level::danger || options.consent) continue;
    return invalid(fmt::format("{}: {}; nothing was changed: change the file or the rows, or apply with --yes",
                               full_name(table), note.text));
  }
  return emission;
}

Result<AdoptPlan> apply_table(Direct& database, const DescriptionFile& file, const Description& table,
                              const ApplyOptions& options) {
  const auto until = BootClock::now() + options.patience;
  auto emission = emit_with_consent(database, file, table, options, until);
  if (!emission) return std::move(emission).error();
  AdoptPlan plan{.steps = {}, .notes = findings_of(table, *emission)};
  Ledger ledger(database, table.schema, table.table);
  // In one transaction: whatever happens from here on, revert finds the table.
  auto begun = in_transaction(database, until, [&]() -> Result<void> {
    if (auto made = ledger.create(until); !made) return made;
    return ledger.set_description(table.text, until);
  });
  if (!begun) return std::move(begun).error();
  auto done = ledger.steps(until);
  if (!done) return std::move(done).error();
  Runner runner(database, ledger, full_name(table), options);
  if (auto applied = runner.apply(changes_between(*done, emission->steps, database.is_postgres())); !applied)
    return std::move(applied).error();
  auto published = ledger.publish(emission->steps, facts_of(table, *emission), table.roles, until);
  if (!published) return std::move(published).error();
  auto remembered = remember_objects(database, {table.schema, table.table}, until);
  if (!remembered) return std::move(remembered).error();
  plan.steps = runner.take_ran();
  for (auto& note : runner.take_notices()) plan.notes.push_back(std::move(note));
  return plan;
}

}  // namespace
}  // namespace leasehold::adopt

namespace leasehold {

using adopt::apply_table;
using adopt::emit_with_consent;
using adopt::find_adopted;
using adopt::Ledger;
using adopt::read_descriptions;
using adopt::Runner;

Result<AdoptPlan> Adoption::apply(std::string_view file, std::string_view name, const ApplyOptions& options) const {
  auto described = read_descriptions(file, name);
  if (!described) return std::move(described).error();
  const std::lock_guard lock(impl_->mutex);
  // All tables first: an error in the last one must leave the others as they are.
  for (const auto& table : described->tables) {
    const auto until = BootClock::now() + options.patience;
    auto emission = emit_with_consent(*impl_->database, *described, table, options, until);
    if (!emission) return std::move(emission).error();
  }
  AdoptPlan all;
  for (const auto& table : described->tables) {
    auto applied = apply_table(*impl_->database, *described, table, options);
    if (!applied) return std::move(applied).error();
    std::move(applied->steps.begin(), applied->steps.end(), std::back_inserter(all.steps));
    std::move(applied->notes.begin(), applied->notes.end(), std::back_inserter(all.notes));
  }
  return all;
}

Result<AdoptPlan> Adoption::revert(std::string_view table, const ApplyOptions& options) const {
  const std::lock_guard lock(impl_->mutex);
  const auto until = BootClock::now() + options.patience;
  auto& database = *impl_->database;
  auto adopted = find_adopted(database, table, until);
  if (!adopted) return std::move(adopted).error();
  Ledger ledger(database, adopted->schema, adopted->table);
  auto done = ledger.steps(until);
  if (!done) return std::move(done).error();
  Runner runner(database, ledger, adopted->schema + "." + adopted->table, options);
  std::reverse(done->begin(), done->end());
  for (const auto& step : *done) {
    if (auto undone = runner.undo(step); !undone) return std::move(undone).error();
  }
  if (auto forgotten = ledger.forget(until); !forgotten) return std::move(forgotten).error();
  return AdoptPlan{.steps = runner.take_ran(), .notes = {}};
}

}  // namespace leasehold

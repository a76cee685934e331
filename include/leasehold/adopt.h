// Leases on the rows of your own tables: what `leasehold adopt` does, as a library.
//
//   auto adoption = leasehold::Adoption::open("postgresql://owner@db/app");
//   auto plan = adoption->plan(read_file("adopt.toml"), "adopt.toml");
//   if (!plan) return fail(plan.error().message);          // names the line and the key of the file
//   for (const auto& step : plan->steps) print(step.up);
//   adoption->apply(read_file("adopt.toml"), "adopt.toml", {.consent = true});
//
// leasehold adds columns, indexes, triggers and (on PostgreSQL) functions to your table; the lease of a row lives in
// the row. The database needs no other part of leasehold. docs/adopt.md explains the file; Rows (row.h) claims the
// rows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/export.h"
#include "leasehold/result.h"
#include "leasehold/store.h"

namespace leasehold {

/// One object or statement that adopting a table makes.
struct AdoptStep {
  std::string table;  ///< "public.sync_jobs"
  std::string what;   ///< "function public.sync_jobs_claim(text, integer, interval)"
  /// "prepare": a short transaction. "concurrently": outside of one. "cutover": all of these in one short transaction.
  std::string phase;
  std::string lock;   ///< the lock that it takes on the table, and for how long
  std::string up;     ///< the SQL
  std::string down;   ///< the SQL that takes it back; empty if nothing is to do
  bool done = false;  ///< it is in the database already
};

struct AdoptPlan {
  std::vector<AdoptStep> steps;  ///< in the order in which they run
  std::vector<Finding> notes;    ///< `danger`: apply() refuses without consent
};

struct ApplyOptions {
  /// Go on although the plan has notes of level `danger`.
  bool consent = false;
  /// How long to try again while other sessions hold the table's locks. Each try waits for one second at most.
  Duration patience = std::chrono::minutes(5);
  /// Called before each step.
  std::function<void(const AdoptStep&)> on_step{};
};

/// One thing that try_out() saw.
struct TrialStep {
  std::string act;      ///< "a second claim of the same row"
  std::string outcome;  ///< "held by leasehold-try"
  bool as_promised = false;
};

/// The same as apply() and revert() do, as plain SQL for a migration tool or a hosted editor.
struct AdoptScripts {
  std::string up;
  std::string down;
};

/// Threading: may be called from any thread; calls take turns.
class LEASEHOLD_EXPORT Adoption {
 public:
  /// Opens the database that has your tables. Changes nothing. Of the options, `call_timeout` counts.
  static Result<Adoption> open(std::string_view url, const OpenOptions& options = {});

  /// What apply() would do. `name` is the file's, for messages.
  Result<AdoptPlan> plan(std::string_view file, std::string_view name) const;
  /// The plan as two scripts. They need no leasehold to run, build indexes without CONCURRENTLY, and leave the database
  /// as apply() and revert() do.
  Result<AdoptScripts> scripts(std::string_view file, std::string_view name) const;
  /// Adopts the tables of the file, or brings adopted ones up to date with it. If it is interrupted, the next call goes
  /// on, and revert() takes back what there is. Returns the steps that this call ran.
  Result<AdoptPlan> apply(std::string_view file, std::string_view name, const ApplyOptions& options = {}) const;
  /// On a row of the table, in a transaction that is rolled back: claim, expiry, takeover, a late complete.
  Result<std::vector<TrialStep>> try_out(std::string_view table) const;
  /// Compares what is in the database with what apply() made there, object by object and row by row.
  Result<std::vector<Drift>> verify() const;
  /// What revert() would do.
  Result<AdoptPlan> revert_plan(std::string_view table) const;
  /// Takes everything back. `table` may leave out the schema.
  Result<AdoptPlan> revert(std::string_view table, const ApplyOptions& options = {}) const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Adoption(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace leasehold

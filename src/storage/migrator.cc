#include "storage/migrations.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "storage/query.h"

namespace leasehold::storage {
namespace {

using namespace std::chrono_literals;

constexpr Duration first_pause = 5ms;
constexpr Duration longest_pause = 200ms;

// Refuses a store whose history differs from this binary's.
Result<void> require_same_history(const Applied& applied, std::span<const Migration> known) {
  if (!applied.empty()) {
    if (auto fit = require_known(applied.back().version, known); !fit) return fit;
  }
  for (const auto& migration : known) {
    if (!info_of(migration, find_applied(applied, migration.version)).changed) continue;
    return earlier_build(
        fmt::format("migration {} differs from this leasehold's (`leasehold migrate verify` "
                    "shows how)",
                    label_of(migration)));
  }
  return {};
}

// A script of this binary fails if the store does not match its bookkeeping.
Error drifted(Error error) {
  if (error.code != Errc::schema_missing && error.code != Errc::internal) return error;
  constexpr std::string_view up_advice = ": run `leasehold migrate up`";
  if (error.message.ends_with(up_advice)) error.message.resize(error.message.size() - up_advice.size());
  error.code = Errc::damaged;
  error.message += ": run `leasehold migrate verify` to see what is wrong";
  return error;
}

Result<MigrationInfo> apply(Transaction& transaction, const Migration& migration) {
  if (auto ran = transaction.run_script(migration.up); !ran) return drifted(std::move(ran).error());
  auto info = info_of(migration, nullptr);
  auto noted = query(transaction, sql::MigrationRecord{migration.version, migration.name, info.checksum});
  if (!noted) return std::move(noted).error();
  if (!noted->empty()) info.applied_at = noted->front().applied_at;
  return info;
}

// Removes the record first: the script of 0000 drops the table that holds it.
Result<MigrationInfo> undo(Transaction& transaction, const Migration& migration) {
  if (auto gone = query(transaction, sql::MigrationForget{migration.version}); !gone) return std::move(gone).error();
  if (auto ran = transaction.run_script(migration.down); !ran) return drifted(std::move(ran).error());
  return info_of(migration, nullptr);
}

Error in_context(Error error, const Migration* migration, bool up) {
  if (migration == nullptr) return error;
  error.message = fmt::format("migration {} {}: {}", label_of(*migration), up ? "up" : "down", error.message);
  return error;
}

}  // namespace

struct Migrator::Goal {
  bool up;
  int version;

  /// Upwards the first missing one, downwards the last applied one: never leaves a gap.
  [[nodiscard]] const Migration* next(const Applied& applied, std::span<const Migration> known) const {
    const auto is_applied = [&](const Migration& m) { return find_applied(applied, m.version) != nullptr; };
    if (up) {
      const auto missing = std::find_if_not(known.begin(), known.end(), is_applied);
      return missing == known.end() ? nullptr : &*missing;
    }
    const auto last = std::find_if(known.rbegin(), known.rend(), is_applied);
    if (last == known.rend()) return nullptr;
    return version == 0 || last->version > version ? &*last : nullptr;
  }
};

Result<int> Migrator::version() {
  auto begun = backend_.begin(deadline());
  if (!begun) return std::move(begun).error();
  auto table = has_bookkeeping(**begun);
  if (!table) return std::move(table).error();
  if (!*table) return 0;
  auto highest = query(**begun, sql::SchemaVersion{});
  if (!highest) return std::move(highest).error();
  return highest->empty() ? 0 : static_cast<int>(highest->front().version);
}

Result<void> Migrator::require_current() {
  const auto known = backend_.dialect().migrations;
  // Usually the schema is current, and a read confirms it without waiting for a writer.
  const auto read = query_one(backend_, sql::SchemaVersion{}, deadline());
  if (read && read->version == known.back().version) return {};
  auto now_at = version();
  if (!now_at) return std::move(now_at).error();
  if (*now_at >= known.back().version) return require_known(*now_at, known);
  // `migrate up` would refuse the store of another build; a role without tables cannot tell.
  if (const auto applied = list_applied(backend_, deadline())) {
    if (auto fit = require_same_history(*applied, known); !fit) return fit;
  }
  if (auto fit = require_server(backend_, deadline()); !fit) return fit;
  return missing_schema(*now_at, known);
}

Result<std::vector<MigrationInfo>> Migrator::status() {
  auto applied = list_applied(backend_, deadline());
  if (!applied) return std::move(applied).error();
  const auto known = backend_.dialect().migrations;
  std::vector<MigrationInfo> all;
  for (const auto& migration : known) all.push_back(info_of(migration, find_applied(*applied, migration.version)));
  for (const auto& row : *applied) {
    if (row.version <= known.back().version) continue;
    all.push_back({static_cast<int>(row.version), row.name, row.checksum, row.applied_at, false});
  }
  return all;
}

Result<std::vector<MigrationInfo>> Migrator::up() {
  auto applied = list_applied(backend_, deadline());
  if (!applied) return std::move(applied).error();
  const auto known = backend_.dialect().migrations;
  if (auto fit = require_same_history(*applied, known); !fit) return std::move(fit).error();
  const Goal goal{.up = true, .version = known.back().version};
  if (goal.next(*applied, known) == nullptr) return std::vector<MigrationInfo>{};
  if (auto fit = require_server(backend_, deadline()); !fit) return std::move(fit).error();
  return reach(goal);
}

Result<std::vector<MigrationInfo>> Migrator::down(int version) {
  const auto known = backend_.dialect().migrations;
  if (version < 0 || version > known.back().version) {
    return Error{.code = Errc::invalid_argument,
                 .message = fmt::format("there is no schema version {}: this leasehold knows 0 (nothing) to {}",
                                        version, known.back().version)};
  }
  auto applied = list_applied(backend_, deadline());
  if (!applied) return std::move(applied).error();
  if (!applied->empty()) {
    if (auto fit = require_known(applied->back().version, known); !fit) return std::move(fit).error();
  }
  return reach({.up = false, .version = version});
}

Result<std::vector<MigrationInfo>> Migrator::reach(const Goal& goal) {
  std::vector<MigrationInfo> done;
  for (auto left = 2 * backend_.dialect().migrations.size(); left > 0; --left) {
    auto step = settle(goal);
    if (!step) return std::move(step).error();
    if (!*step) return done;
    done.push_back(std::move(**step));
  }
  return Error{.code = Errc::busy, .message = "another process is migrating the other way: try again"};
}

Migrator::Step Migrator::settle(const Goal& goal) {
  const auto until = deadline();
  for (auto pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
    const Migration* chosen = nullptr;
    auto step = attempt(goal, until, chosen);
    if (step) return step;
    auto error = std::move(step).error();
    const bool dropped_meanwhile = chosen == nullptr && error.code == Errc::schema_missing;
    bool again = error.code == Errc::busy || error.code == Errc::in_doubt || dropped_meanwhile;
    // Two processes that create the bookkeeping table at once cannot wait for each other: the slower one gets an error
    // about a duplicate. And a commit without an answer may have happened. So check.
    const auto applied = list_applied(backend_, until);
    if (applied && chosen != nullptr) {
      const auto* row = find_applied(*applied, chosen->version);
      const bool as_wanted = (row != nullptr) == goal.up;
      if (as_wanted && error.code == Errc::in_doubt) return std::optional(info_of(*chosen, row));
      again = again || as_wanted;
    }
    if (!again || BootClock::now() + pause >= until) return in_context(std::move(error), chosen, goal.up);
    std::this_thread::sleep_for(pause);
  }
}

Migrator::Step Migrator::attempt(const Goal& goal, BootTime deadline, const Migration*& chosen) {
  auto begun = backend_.begin(deadline);
  if (!begun) return std::move(begun).error();
  auto& transaction = **begun;
  auto applied = lock_applied(transaction);
  if (!applied) return std::move(applied).error();
  chosen = goal.next(*applied, backend_.dialect().migrations);
  if (chosen == nullptr) return std::optional<MigrationInfo>{};
  auto info = goal.up ? apply(transaction, *chosen) : undo(transaction, *chosen);
  if (!info) return std::move(info).error();
  if (auto committed = transaction.commit(); !committed) return std::move(committed).error();
  return std::optional(std::move(*info));
}

Result<std::vector<Drift>> Migrator::verify() {
  auto applied = list_applied(backend_, deadline());
  if (!applied) return std::move(applied).error();
  return check_schema(backend_, *applied, deadline());
}

Result<std::string> Migrator::plan() {
  auto applied = list_applied(backend_, deadline());
  if (!applied) return std::move(applied).error();
  if (auto fit = require_same_history(*applied, backend_.dialect().migrations); !fit) return std::move(fit).error();
  return plan_migrations(backend_.dialect(), *applied, [this](std::string_view sql) { return backend_.localize(sql); });
}

}  // namespace leasehold::storage

#include "storage/applied.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/checksum.h"
#include "storage/query.h"

namespace leasehold::storage {

Result<bool> has_bookkeeping(Transaction& transaction) {
  auto table = query(transaction, sql::MigrationPresent{});
  if (!table) return std::move(table).error();
  return !table->empty() && table->front().present;
}

Result<Applied> list_applied(Backend& backend, BootTime deadline) {
  auto begun = backend.begin(deadline);
  if (!begun) return std::move(begun).error();
  auto table = has_bookkeeping(**begun);
  if (!table) return std::move(table).error();
  if (!*table) return Applied{};
  auto applied = query(**begun, sql::MigrationList{});
  const bool dropped_meanwhile = !applied && applied.error().code == Errc::schema_missing;
  return dropped_meanwhile ? Applied{} : std::move(applied);
}

Result<Applied> lock_applied(Transaction& transaction) {
  auto table = has_bookkeeping(transaction);
  if (!table) return std::move(table).error();
  if (!*table) return Applied{};
  if (auto locked = query(transaction, sql::MigrationLock{}); !locked) return std::move(locked).error();
  return query(transaction, sql::MigrationList{});
}

const sql::MigrationList::Row* find_applied(const Applied& applied, int version) {
  const auto found =
      std::find_if(applied.begin(), applied.end(), [&](const auto& row) { return row.version == version; });
  return found == applied.end() ? nullptr : &*found;
}

std::string label_of(const Migration& migration) { return fmt::format("{:04}_{}", migration.version, migration.name); }

MigrationInfo info_of(const Migration& migration, const sql::MigrationList::Row* row) {
  MigrationInfo info;
  info.version = migration.version;
  info.name = migration.name;
  info.checksum = checksum(migration.up);
  if (row != nullptr) {
    info.applied_at = row->applied_at;
    info.changed = row->checksum != info.checksum;
  }
  return info;
}

Result<void> require_known(std::int64_t version, std::span<const Migration> known) {
  if (version <= known.back().version) return {};
  return Error{.code = Errc::schema_newer,
               .message = fmt::format("the store's schema is version {} and this leasehold knows only up to {}: update "
                                      "leasehold, or run `leasehold migrate down` with the newer one",
                                      version, known.back().version)};
}

Error missing_schema(std::int64_t version, std::span<const Migration> known) {
  const auto what = version == 0 ? std::string("the store has no leasehold schema")
                                 : fmt::format("the store's schema is version {} and this leasehold needs {}", version,
                                               known.back().version);
  return {.code = Errc::schema_missing, .message = what + ": run `leasehold migrate up`"};
}

}  // namespace leasehold::storage

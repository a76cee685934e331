#include "storage/migrations.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/text.h"
#include "storage/query.h"

namespace leasehold::storage {

Result<bool> has_bookkeeping(Transaction& transaction) {
  auto table = query(transaction, sql::MigrationPresent{});
  if (!table) return std::move(table).error();
  if (!table->empty() && table->front().earlier) return earlier_build("the store has its tables in one schema");
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

Result<void> require_server(Backend& backend, BootTime deadline) {
  auto begun = backend.begin(deadline);
  if (!begun) return std::move(begun).error();
  auto rows = query(**begun, sql::ServerVersion{});
  if (!rows) return std::move(rows).error();
  const auto& server = rows->front();
  if (!server.major || *server.major >= oldest_postgres) return {};
  return Error{
      .code = Errc::schema_missing,
      .message = fmt::format("the server is PostgreSQL {} and leasehold needs {} to {}: update the server, then "
                             "run `leasehold migrate up`",
                             server.version, oldest_postgres, newest_postgres)};
}

Error missing_schema(std::int64_t version, std::span<const Migration> known) {
  const auto what = version == 0 ? std::string("the store has no leasehold schema")
                                 : fmt::format("the store's schema is version {} and this leasehold needs {}", version,
                                               known.back().version);
  return {.code = Errc::schema_missing, .message = what + ": run `leasehold migrate up`"};
}

Error earlier_build(std::string_view finding) {
  return {.code = Errc::damaged,
          .message = fmt::format(
              "{}: another build of leasehold made the store, and until 0.1.0 no build migrates the store of "
              "another; use a new store (another file, database or ?schema=NAME), or remove this one "
              "with `leasehold migrate down --to 0` of the build that made it",
              finding)};
}

std::string checksum(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  return fmt::format("{:016x}", hash);
}

namespace {

std::string literal_of(const Param& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  const auto* text = std::get_if<std::string_view>(&value);
  if (text == nullptr) return "NULL";
  std::string quoted = "'";
  for (const char c : *text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

// `mark` is a parameter as the dialect writes it: ":name" by its name, "$2" by its number.
const Param* value_of(std::string_view mark, std::span<const Field> fields, std::span<const Param> values) {
  std::size_t number = 0;
  if (mark.front() == '$') std::from_chars(mark.data() + 1, mark.data() + mark.size(), number);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (number == i + 1 || (number == 0 && fields[i].name == mark.substr(1))) return &values[i];
  }
  return nullptr;
}

/// A named statement with its values inserted.
template <typename S>
std::string written_out(const Dialect& dialect, const S& statement) {
  const auto values = statement.params();
  const auto sql = dialect.statements[static_cast<std::size_t>(S::statement().index)];
  std::string out;
  for (std::size_t at = 0; at < sql.size();) {
    auto end = at + 1;
    const Param* value = nullptr;
    if (sql[at] == ':' || sql[at] == '$') {
      while (end < sql.size() && is_in_word(sql[end])) ++end;
      // In a cast such as ::bigint neither colon begins a parameter.
      value = value_of(sql.substr(at, end - at), S::statement().params, values);
    }
    out += value != nullptr ? literal_of(*value) : std::string(sql.substr(at, end - at));
    at = end;
  }
  if (!out.ends_with(';')) out += ';';
  return out;
}

}  // namespace

std::string plan_migrations(const Dialect& dialect, const Applied& applied,
                            const std::function<std::string(std::string_view)>& localize) {
  std::string steps;
  for (const auto& migration : dialect.migrations) {
    if (find_applied(applied, migration.version) != nullptr) continue;
    const auto sum = checksum(migration.up);
    const sql::MigrationRecord record{migration.version, migration.name, sum};
    steps += fmt::format("\n-- migration {}\nBEGIN;\n\n{}\n{}\n\nCOMMIT;\n", label_of(migration),
                         localize(migration.up), localize(written_out(dialect, record)));
  }
  if (steps.empty()) return fmt::format("-- leasehold: nothing to do, this {} store is up to date\n", dialect.name);
  return fmt::format(
      "-- leasehold: what `leasehold migrate up` would run on this {} store.\n"
      "-- Each migration is one transaction and notes itself. Stop at the first error: psql -v ON_ERROR_STOP=1,\n"
      "-- sqlite3 -bail.\n{}",
      dialect.name, steps);
}

}  // namespace leasehold::storage

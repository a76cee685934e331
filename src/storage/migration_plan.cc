#include "storage/migration_plan.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "storage/checksum.h"

namespace leasehold::storage {
namespace {

std::string literal_of(const Param& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  const auto* text = std::get_if<std::string_view>(&value);
  if (text == nullptr) return "NULL";
  std::string quoted = "'";
  for (const char c : *text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

// `mark` is how a dialect writes a parameter: ":name" by its name, "$2" by its number.
const Param* value_of(std::string_view mark, std::span<const Field> fields, std::span<const Param> values) {
  std::size_t number = 0;
  if (mark.front() == '$') std::from_chars(mark.data() + 1, mark.data() + mark.size(), number);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (number == i + 1 || (number == 0 && fields[i].name == mark.substr(1))) return &values[i];
  }
  return nullptr;
}

/// A named statement with its values written into it.
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
      // Of a cast, ::bigint, the first colon stands alone and the second begins no parameter.
      value = value_of(sql.substr(at, end - at), S::statement().params, values);
    }
    out += value != nullptr ? literal_of(*value) : std::string(sql.substr(at, end - at));
    at = end;
  }
  if (!out.ends_with(';')) out += ';';
  return out;
}

}  // namespace

std::string plan_migrations(const Backend& backend, const Applied& applied) {
  const auto& dialect = backend.dialect();
  std::string steps;
  for (const auto& migration : dialect.migrations) {
    if (find_applied(applied, migration.version) != nullptr) continue;
    const auto sum = checksum(migration.up);
    const sql::MigrationRecord record{migration.version, migration.name, sum};
    steps += fmt::format("\n-- migration {}\nBEGIN;\n\n{}\n{}\n\nCOMMIT;\n", label_of(migration),
                         backend.localize(migration.up), backend.localize(written_out(dialect, record)));
  }
  if (steps.empty()) return fmt::format("-- leasehold: nothing to do, this {} store is up to date\n", dialect.name);
  return fmt::format(
      "-- leasehold: what `leasehold migrate up` would run on this {} store.\n"
      "-- Each migration is one transaction and notes itself. Stop at the first error: psql -v ON_ERROR_STOP=1,\n"
      "-- sqlite3 -bail.\n{}",
      dialect.name, steps);
}

}  // namespace leasehold::storage

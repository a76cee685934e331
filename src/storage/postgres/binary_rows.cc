#include "storage/postgres/binary_rows.h"

#include <optional>
#include <string>
#include <string_view>

#include "storage/postgres/binary_format.h"

namespace leasehold::postgres {
namespace {

using storage::Cell;
using storage::Type;

constexpr std::int64_t day_us = 86'400'000'000;

std::int64_t multiply_clamped(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a > 0) == (b > 0) ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

std::int64_t interval_us(const char* in) {
  const auto days = std::int64_t{get<std::int32_t>(in + 8)} + 30 * std::int64_t{get<std::int32_t>(in + 12)};
  return add_clamped(get<std::int64_t>(in), multiply_clamped(days, day_us));
}

Cell decode_cell(Type type, const char* in, std::size_t length) {
  switch (type) {
    case Type::text:
    case Type::bytes: return std::string(in, length);
    case Type::integer: return get<std::int64_t>(in);
    case Type::boolean: return std::int64_t{*in != 0};
    case Type::time: return add_clamped(get<std::int64_t>(in), epoch_2000_us);
    case Type::duration: return interval_us(in);
    case Type::integers:
    case Type::texts:
    case Type::bytes_list: break;  // never a column
  }
  return {};
}

bool columns_fit(const PGresult* result, std::span<const storage::Field> columns) {
  if (PQnfields(result) != static_cast<int>(columns.size())) return false;
  for (int i = 0; i < PQnfields(result); ++i) {
    const auto type = columns[static_cast<std::size_t>(i)].type;
    if (type != Type::text && PQftype(result, i) != oids_of(type).one) return false;
    if (PQfformat(result, i) != 1) return false;
  }
  return true;
}

/// `SELECT f(...)` gives the whole answer as one composite value: a row description of one column instead of two
/// dozen, and no scan over the function's result.
std::optional<storage::Row> decode_composite(std::string_view data, std::span<const storage::Field> columns) {
  storage::Row row;
  row.reserve(columns.size());
  const auto number = [&data]() -> std::optional<std::int32_t> {
    if (data.size() < sizeof(std::int32_t)) return std::nullopt;
    const auto value = get<std::int32_t>(data.data());
    data.remove_prefix(sizeof(std::int32_t));
    return value;
  };
  if (number() != static_cast<std::int32_t>(columns.size())) return std::nullopt;
  for (const auto& column : columns) {
    const auto type = number();
    const auto length = number();
    if (!type || !length || static_cast<Oid>(*type) != oids_of(column.type).one) return std::nullopt;
    if (*length < 0) {
      row.emplace_back();
      continue;
    }
    const auto size = static_cast<std::size_t>(*length);
    if (data.size() < size) return std::nullopt;
    row.push_back(decode_cell(column.type, data.data(), size));
    data.remove_prefix(size);
  }
  return row;
}

Error unexpected_columns() {
  return {.code = Errc::damaged,
          .message =
              "postgresql: a function gives other columns than this version expects: run `leasehold migrate verify`"};
}

Result<storage::Rows> decode_composites(const PGresult* result, std::span<const storage::Field> columns) {
  storage::Rows rows;
  rows.reserve(static_cast<std::size_t>(PQntuples(result)));
  for (int r = 0; r < PQntuples(result); ++r) {
    auto row =
        decode_composite({PQgetvalue(result, r, 0), static_cast<std::size_t>(PQgetlength(result, r, 0))}, columns);
    if (!row) return unexpected_columns();
    rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace

Result<storage::Rows> decode_rows(const PGresult* result, std::span<const storage::Field> columns) {
  if (columns.size() > 1 && PQnfields(result) == 1) return decode_composites(result, columns);
  if (!columns_fit(result, columns)) return unexpected_columns();
  storage::Rows rows(static_cast<std::size_t>(PQntuples(result)));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].reserve(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto row = static_cast<int>(r);
      const auto column = static_cast<int>(c);
      rows[r].push_back(PQgetisnull(result, row, column) != 0
                            ? Cell{}
                            : decode_cell(columns[c].type, PQgetvalue(result, row, column),
                                          static_cast<std::size_t>(PQgetlength(result, row, column))));
    }
  }
  return rows;
}

storage::Rows text_rows(const PGresult* result) {
  storage::Rows rows(static_cast<std::size_t>(PQntuples(result)));
  for (int r = 0; r < PQntuples(result); ++r) {
    for (int c = 0; c < PQnfields(result); ++c) {
      const auto length = static_cast<std::size_t>(PQgetlength(result, r, c));
      rows[static_cast<std::size_t>(r)].push_back(
          PQgetisnull(result, r, c) != 0 ? Cell{} : Cell{std::string(PQgetvalue(result, r, c), length)});
    }
  }
  return rows;
}

}  // namespace leasehold::postgres

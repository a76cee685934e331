#include "storage/postgres/binary.h"

#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace leasehold::postgres {
namespace {

using storage::Cell;
using storage::Type;

constexpr std::int64_t epoch_2000_us = 946'684'800'000'000;
constexpr std::int64_t day_us = 86'400'000'000;

constexpr Oid oid_bool = 16;
constexpr Oid oid_int8 = 20;
constexpr Oid oid_text = 25;
constexpr Oid oid_timestamptz = 1184;
constexpr Oid oid_interval = 1186;

Oid oid_of(Type type) {
  switch (type) {
    case Type::text: return oid_text;
    case Type::integer: return oid_int8;
    case Type::boolean: return oid_bool;
    case Type::time: return oid_timestamptz;
    case Type::duration: return oid_interval;
  }
  return oid_text;
}

std::size_t width_of(Type type) {
  if (type == Type::boolean) return 1;
  return type == Type::duration ? 16 : 8;
}

template <typename T>
void put(char* out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out[i] = static_cast<char>(static_cast<std::make_unsigned_t<T>>(value) >> (8 * (sizeof(T) - 1 - i)));
  }
}

template <typename T>
T get(const char* in) {
  std::make_unsigned_t<T> value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<std::make_unsigned_t<T>>((value << 8) | static_cast<unsigned char>(in[i]));
  }
  return std::bit_cast<T>(value);
}

/// 'infinity' and absurd spans stay at the end of the scale.
std::int64_t add_clamped(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

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
    case Type::text: return std::string(in, length);
    case Type::integer: return get<std::int64_t>(in);
    case Type::boolean: return std::int64_t{*in != 0};
    case Type::time: return add_clamped(get<std::int64_t>(in), epoch_2000_us);
    case Type::duration: return interval_us(in);
  }
  return {};
}

bool columns_fit(const PGresult* result, std::span<const storage::Field> columns) {
  if (PQnfields(result) != static_cast<int>(columns.size())) return false;
  for (int i = 0; i < PQnfields(result); ++i) {
    const auto type = columns[static_cast<std::size_t>(i)].type;
    if (type != Type::text && PQftype(result, i) != oid_of(type)) return false;
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
    if (!type || !length || static_cast<Oid>(*type) != oid_of(column.type)) return std::nullopt;
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
  for (int r = 0; r < PQntuples(result); ++r) {
    auto row =
        decode_composite({PQgetvalue(result, r, 0), static_cast<std::size_t>(PQgetlength(result, r, 0))}, columns);
    if (!row) return unexpected_columns();
    rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace

BinaryParams::BinaryParams(std::span<const storage::Field> fields, std::span<const storage::Param> params) {
  reserve(params.size());
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (const auto* text = std::get_if<std::string_view>(&params[i])) {
      add(oid_text, text->empty() ? "" : text->data(), text->size());
    } else if (const auto* number = std::get_if<std::int64_t>(&params[i])) {
      add_number(fields[i].type, *number);
    } else {
      add(oid_of(fields[i].type), nullptr, 0);
    }
  }
}

BinaryParams::BinaryParams(std::string_view text) {
  reserve(1);
  add(oid_text, text.data(), text.size());
}

void BinaryParams::reserve(std::size_t count) {
  types_.reserve(count);
  values_.reserve(count);
  lengths_.reserve(count);
  formats_.reserve(count);
  numbers_.reserve(count);
}

void BinaryParams::add(Oid type, const char* value, std::size_t length) {
  types_.push_back(type);
  values_.push_back(value);
  lengths_.push_back(static_cast<int>(length));
  formats_.push_back(1);
}

void BinaryParams::add_number(Type type, std::int64_t value) {
  auto& number = numbers_.emplace_back();
  switch (type) {
    case Type::boolean: number[0] = value != 0 ? 1 : 0; break;
    case Type::time: put(number.data(), add_clamped(value, -epoch_2000_us)); break;
    case Type::text:
    case Type::integer:
    case Type::duration: put(number.data(), value); break;
  }
  add(oid_of(type), number.data(), width_of(type));
}

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

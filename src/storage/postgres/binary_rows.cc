#include "storage/postgres/binary_rows.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// The fixed length of a type's values; nothing if it varies.
std::optional<std::size_t> fixed_length(Type type) {
  switch (type) {
    case Type::boolean: return 1;
    case Type::integer:
    case Type::time: return 8;
    case Type::duration: return 16;
    default: return std::nullopt;
  }
}

/// Reads from the front, within bounds.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::int32_t> number() {
    const auto bytes = take(sizeof(std::int32_t));
    return bytes ? std::optional(get<std::int32_t>(bytes->data())) : std::nullopt;
  }

  std::optional<std::string_view> take(std::size_t size) {
    if (bytes_.size() < size) return std::nullopt;
    const auto front = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return front;
  }

  [[nodiscard]] std::size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

/// The elements of a one-dimensional array without NULLs.
std::optional<std::vector<std::string_view>> elements_of(std::string_view bytes, Oid type) {
  Reader in(bytes);
  const auto dimensions = in.number();
  const auto has_null = in.number();
  const auto element = in.number();
  if (!dimensions || !has_null || !element || static_cast<Oid>(*element) != type) return std::nullopt;
  std::vector<std::string_view> elements;
  if (*dimensions == 0) return in.left() == 0 ? std::optional(std::move(elements)) : std::nullopt;
  const auto count = in.number();
  const auto lower_bound = in.number();
  // Each element takes at least its length field: an impossible count must not make us reserve memory.
  if (*dimensions != 1 || !count || !lower_bound || *count < 0) return std::nullopt;
  if (static_cast<std::size_t>(*count) > in.left() / sizeof(std::int32_t)) return std::nullopt;
  elements.reserve(static_cast<std::size_t>(*count));
  for (std::int32_t i = 0; i < *count; ++i) {
    const auto length = in.number();
    const auto value = length && *length >= 0 ? in.take(static_cast<std::size_t>(*length)) : std::nullopt;
    if (!value) return std::nullopt;
    elements.push_back(*value);
  }
  return in.left() == 0 ? std::optional(std::move(elements)) : std::nullopt;
}

std::optional<Cell> decode_list(Type type, std::string_view bytes) {
  const auto elements = elements_of(bytes, oids_of(type).one);
  if (!elements) return std::nullopt;
  if (type == Type::texts || type == Type::bytes_list)
    return std::vector<std::string>(elements->begin(), elements->end());
  std::vector<std::int64_t> numbers;
  numbers.reserve(elements->size());
  for (const auto element : *elements) {
    if (element.size() != sizeof(std::int64_t)) return std::nullopt;
    const auto number = get<std::int64_t>(element.data());
    numbers.push_back(type == Type::times ? add_clamped(number, epoch_2000_us) : number);
  }
  return numbers;
}

/// Nothing if the bytes are not a value of this type.
std::optional<Cell> decode_cell(Type type, std::string_view bytes) {
  if (const auto length = fixed_length(type); length && *length != bytes.size()) return std::nullopt;
  switch (type) {
    case Type::text:
    case Type::bytes: return std::string(bytes);
    case Type::integer: return get<std::int64_t>(bytes.data());
    case Type::boolean: return std::int64_t{bytes.front() != 0};
    case Type::time: return add_clamped(get<std::int64_t>(bytes.data()), epoch_2000_us);
    case Type::duration: return interval_us(bytes.data());
    default: return decode_list(type, bytes);
  }
}

bool columns_fit(const PGresult* result, std::span<const storage::Field> columns) {
  if (PQnfields(result) != static_cast<int>(columns.size())) return false;
  for (int i = 0; i < PQnfields(result); ++i) {
    const auto type = columns[static_cast<std::size_t>(i)].type;
    if (type != Type::text && PQftype(result, i) != column_oid(type)) return false;
    if (PQfformat(result, i) != 1) return false;
  }
  return true;
}

/// `SELECT f(...)` returns the whole answer as one composite value: a row description of one column instead of two
/// dozen, and no scan over the function's result.
std::optional<storage::Row> decode_composite(std::string_view data, std::span<const storage::Field> columns) {
  storage::Row row;
  row.reserve(columns.size());
  Reader in(data);
  if (in.number() != static_cast<std::int32_t>(columns.size())) return std::nullopt;
  for (const auto& column : columns) {
    const auto type = in.number();
    const auto length = in.number();
    if (!type || !length || static_cast<Oid>(*type) != column_oid(column.type)) return std::nullopt;
    if (*length < 0) {
      row.emplace_back();
      continue;
    }
    const auto bytes = in.take(static_cast<std::size_t>(*length));
    auto cell = bytes ? decode_cell(column.type, *bytes) : std::nullopt;
    if (!cell) return std::nullopt;
    row.push_back(std::move(*cell));
  }
  if (in.left() != 0) return std::nullopt;
  return row;
}

std::string_view bytes_at(const PGresult* result, int row, int column) {
  return {PQgetvalue(result, row, column), static_cast<std::size_t>(PQgetlength(result, row, column))};
}

/// A row with matching columns.
std::optional<storage::Row> decode_row(const PGresult* result, int row, std::span<const storage::Field> columns) {
  storage::Row decoded;
  decoded.reserve(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto column = static_cast<int>(c);
    if (PQgetisnull(result, row, column) != 0) {
      decoded.emplace_back();
      continue;
    }
    auto cell = decode_cell(columns[c].type, bytes_at(result, row, column));
    if (!cell) return std::nullopt;
    decoded.push_back(std::move(*cell));
  }
  return decoded;
}

Error unexpected_columns() {
  return {.code = Errc::damaged,
          .message =
              "postgresql: a function returns other columns than this version expects: run `leasehold migrate verify`"};
}

}  // namespace

Result<storage::Rows> decode_rows(const PGresult* result, std::span<const storage::Field> columns) {
  const bool composites = columns.size() > 1 && PQnfields(result) == 1;
  if (!composites && !columns_fit(result, columns)) return unexpected_columns();
  storage::Rows rows;
  rows.reserve(static_cast<std::size_t>(PQntuples(result)));
  for (int r = 0; r < PQntuples(result); ++r) {
    auto row = composites ? decode_composite(bytes_at(result, r, 0), columns) : decode_row(result, r, columns);
    if (!row) return unexpected_columns();
    rows.push_back(std::move(*row));
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

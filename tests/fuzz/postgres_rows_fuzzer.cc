// Answers of a server, in PostgreSQL's binary format: whatever bytes come, they are read within their bounds or
// refused.
#include <libpq-fe.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/property.h"
#include "storage/postgres/binary_rows.h"

namespace leasehold::fuzz {
namespace {

using storage::Cell;
using storage::Field;
using storage::Row;
using storage::Type;

using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;
/// The bytes of one value; nothing for NULL.
using Value = std::optional<std::string>;

constexpr std::size_t most_columns = 6;

std::vector<Field> take_columns(Input& input) {
  constexpr std::array types = {Type::text,     Type::bytes,    Type::integer, Type::boolean,    Type::time,
                                Type::duration, Type::integers, Type::texts,   Type::bytes_list, Type::times};
  std::vector<Field> columns(1 + input.choice(most_columns));
  for (auto& column : columns) column = {.name = "c", .type = types.at(input.choice(types.size())), .nullable = true};
  return columns;
}

std::int64_t clamped(__int128 value) {
  constexpr __int128 highest = std::numeric_limits<std::int64_t>::max();
  constexpr __int128 lowest = std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value > highest ? highest : value < lowest ? lowest : value);
}

std::int64_t big_endian(std::string_view bytes) {
  std::int64_t value = static_cast<signed char>(bytes.front());
  for (const char byte : bytes.substr(1)) value = value * 256 + static_cast<unsigned char>(byte);
  return value;
}

std::optional<std::int64_t> take_number(std::string_view& bytes) {
  if (bytes.size() < 4) return std::nullopt;
  const auto number = big_endian(bytes.substr(0, 4));
  bytes.remove_prefix(4);
  return number;
}

/// The bytes after a length; nothing if it is NULL or longer than the rest.
std::optional<std::string> take_counted(std::string_view& bytes) {
  const auto length = take_number(bytes);
  if (!length || *length < 0 || *length > static_cast<std::int64_t>(bytes.size())) return std::nullopt;
  const auto size = static_cast<std::size_t>(*length);
  std::string counted(bytes.substr(0, size));
  bytes.remove_prefix(size);
  return counted;
}

/// The elements of an array that has one dimension or none: after the type of its elements comes for a dimension how
/// many they are and where counting begins.
std::optional<std::vector<std::string>> elements_of(std::string_view bytes, Oid type) {
  const auto dimensions = take_number(bytes);
  const auto with_nulls = take_number(bytes);
  const auto of_type = take_number(bytes);
  if (!with_nulls || !of_type || static_cast<Oid>(*of_type) != type) return std::nullopt;
  std::vector<std::string> elements;
  if (dimensions == 1) {
    const auto count = take_number(bytes);
    const auto first = take_number(bytes);
    if (!count || !first || *count < 0) return std::nullopt;
    while (static_cast<std::int64_t>(elements.size()) < *count) {
      auto element = take_counted(bytes);
      if (!element) return std::nullopt;
      elements.push_back(std::move(*element));
    }
  } else if (dimensions != 0) {
    return std::nullopt;
  }
  return bytes.empty() ? std::optional(std::move(elements)) : std::nullopt;
}

std::int64_t since_1970(std::int64_t since_2000) {
  return clamped(static_cast<__int128>(since_2000) + postgres::epoch_2000_us);
}

std::optional<Cell> meaning_of_list(Type type, std::string_view bytes) {
  auto elements = elements_of(bytes, postgres::oids_of(type).one);
  if (!elements) return std::nullopt;
  if (type == Type::texts || type == Type::bytes_list) return std::move(*elements);
  std::vector<std::int64_t> numbers;
  for (const auto& element : *elements) {
    if (element.size() != 8) return std::nullopt;
    numbers.push_back(type == Type::times ? since_1970(big_endian(element)) : big_endian(element));
  }
  return numbers;
}

/// The meaning of a value, computed in another way than the code under test; nothing if it is not of this type.
std::optional<Cell> meaning(Type type, const Value& value) {
  if (!value) return Cell{};
  const std::string_view bytes = *value;
  switch (type) {
    case Type::integer: return bytes.size() == 8 ? std::optional<Cell>(big_endian(bytes)) : std::nullopt;
    case Type::boolean:
      return bytes.size() == 1 ? std::optional<Cell>(std::int64_t{bytes != std::string_view("\0", 1)}) : std::nullopt;
    case Type::time:
      if (bytes.size() != 8) return std::nullopt;
      return since_1970(big_endian(bytes));
    case Type::duration: {
      if (bytes.size() != 16) return std::nullopt;
      const auto days = big_endian(bytes.substr(8, 4)) + 30 * big_endian(bytes.substr(12, 4));
      return clamped(static_cast<__int128>(big_endian(bytes.substr(0, 8))) +
                     clamped(static_cast<__int128>(days) * 86'400'000'000));
    }
    case Type::text:
    case Type::bytes: return std::string(bytes);
    default: return meaning_of_list(type, bytes);
  }
}

/// One row; nothing where a value is none of its type.
std::optional<Row> meaning(const std::vector<Field>& columns, const std::vector<Value>& values) {
  Row row;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto cell = meaning(columns[i].type, values[i]);
    if (!cell) return std::nullopt;
    row.push_back(std::move(*cell));
  }
  return row;
}

Answer answer_of(const std::vector<Oid>& types, const std::vector<Value>& values) {
  Answer answer(PQmakeEmptyPGresult(nullptr, PGRES_TUPLES_OK), &PQclear);
  std::string name = "c";
  std::vector<PGresAttDesc> columns;
  for (const auto type : types) columns.push_back({.name = name.data(), .format = 1, .typid = type, .typlen = -1});
  PQsetResultAttrs(answer.get(), static_cast<int>(columns.size()), columns.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string copy(values[i].value_or(""));
    const int length = values[i] ? static_cast<int>(copy.size()) : -1;
    PQsetvalue(answer.get(), 0, static_cast<int>(i), values[i] ? copy.data() : nullptr, length);
  }
  return answer;
}

void check(const PGresult* answer, const std::vector<Field>& columns, const std::optional<Row>& wanted) {
  const auto rows = postgres::decode_rows(answer, columns);
  if (!wanted) {
    require(!rows.ok() && rows.error().code == Errc::damaged, "what is no row of the statement is damaged");
    return;
  }
  require(rows.ok() && rows->size() == 1, "a row of the statement is read");
  require(rows->front() == *wanted, "a row says what its bytes mean");
}

void put_number(std::string& out, std::size_t number) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<char>(number >> shift));
}

/// An array as a server writes it, but for a byte that may be another, and an end that may be missing.
std::string take_list(Input& input, Type type) {
  std::string list;
  const auto count = input.choice(5);
  put_number(list, count == 0 ? 0 : 1);
  put_number(list, 0);
  put_number(list, postgres::oids_of(type).one);
  if (count > 0) put_number(list, count);
  if (count > 0) put_number(list, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto element = input.text(type == Type::integers || type == Type::times ? 8 : input.choice(12));
    put_number(list, element.size());
    list += element;
  }
  if (input.choice(4) == 1) list[input.choice(list.size())] = static_cast<char>(input.choice(256));
  if (input.choice(8) == 1) list.resize(input.choice(list.size()));
  return list;
}

Value take_value(Input& input, Type type) {
  const auto length = input.choice(18);
  if (length == 17) return Value();
  return storage::is_list(type) && length > 0 ? take_list(input, type) : std::string(input.text(length));
}

void check_rows(const std::vector<Field>& columns, Input input) {
  std::vector<Oid> types;
  std::vector<Value> values;
  for (const auto& column : columns) {
    types.push_back(postgres::column_oid(column.type));
    values.push_back(take_value(input, column.type));
  }
  check(answer_of(types, values).get(), columns, meaning(columns, values));
}

/// The values of a composite: how many, and for each its type, its length and its bytes.
std::optional<std::vector<Value>> parts_of(std::string_view bytes, const std::vector<Field>& columns) {
  if (take_number(bytes) != static_cast<std::int64_t>(columns.size())) return std::nullopt;
  std::vector<Value> values;
  for (const auto& column : columns) {
    const auto type = take_number(bytes);
    if (!type || static_cast<Oid>(*type) != postgres::column_oid(column.type)) return std::nullopt;
    auto behind = bytes;
    const auto length = take_number(behind);
    if (length && *length < 0) {
      values.emplace_back();
      bytes = behind;
      continue;
    }
    auto value = take_counted(bytes);
    if (!value) return std::nullopt;
    values.push_back(std::move(value));
  }
  if (!bytes.empty()) return std::nullopt;
  return values;
}

void check_composite(const std::vector<Field>& columns, std::string_view bytes) {
  constexpr Oid record = 2249;
  if (columns.size() < 2) return;
  const auto values = parts_of(bytes, columns);
  check(answer_of({record}, {Value(std::string(bytes))}).get(), columns,
        values ? meaning(columns, *values) : std::nullopt);
}

void check_other_columns(const std::vector<Field>& columns) {
  const std::vector<Oid> other(columns.size() + 1, postgres::oids_of(Type::integer).one);
  check(answer_of(other, {}).get(), columns, std::nullopt);
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  Input input(data, size);
  const auto columns = take_columns(input);
  check_rows(columns, input);
  check_composite(columns, input.rest());
  check_other_columns(columns);
  return 0;
}

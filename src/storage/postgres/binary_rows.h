// The shared parts of PostgreSQL's binary wire format: type numbers, byte order, the epoch.
#pragma once

#include <libpq-fe.h>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "leasehold/result.h"
#include "storage/statement.h"

namespace leasehold::postgres {

constexpr std::int64_t epoch_2000_us = 946'684'800'000'000;

/// PostgreSQL's number of a type, and of its array. For a list: of its elements.
struct Oids {
  Oid one;
  Oid array;
};

inline Oids oids_of(storage::Type type) {
  using storage::Type;
  switch (type) {
    case Type::text:
    case Type::texts: return {.one = 25, .array = 1009};
    case Type::bytes:
    case Type::bytes_list: return {.one = 17, .array = 1001};
    case Type::integer:
    case Type::integers: return {.one = 20, .array = 1016};
    case Type::boolean: return {.one = 16, .array = 1000};
    case Type::time:
    case Type::times: return {.one = 1184, .array = 1185};
    case Type::duration: return {.one = 1186, .array = 1187};
  }
  return {.one = 25, .array = 1009};
}

/// The number of a column of this type.
inline Oid column_oid(storage::Type type) { return is_list(type) ? oids_of(type).array : oids_of(type).one; }

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

/// 'infinity' and absurd spans are clamped.
inline std::int64_t add_clamped(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

// Decodes answers in PostgreSQL's binary wire format.

/// `damaged` if the columns are not those of the statement.
Result<storage::Rows> decode_rows(const PGresult* result, std::span<const storage::Field> columns);

/// The answer of a script, in text format.
storage::Rows text_rows(const PGresult* result);

}  // namespace leasehold::postgres

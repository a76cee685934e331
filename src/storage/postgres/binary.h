// Values in PostgreSQL's binary wire format: no text is parsed on either side, and NUL bytes in a text are
// refused by the server instead of cutting it short.
#pragma once

#include <libpq-fe.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "leasehold/result.h"
#include "storage/statement.h"
#include "storage/value.h"

namespace leasehold::postgres {

/// The parameters of one statement, ready for libpq. Texts are borrowed, like those of Param.
class BinaryParams {
 public:
  BinaryParams() = default;
  BinaryParams(std::span<const storage::Field> fields, std::span<const storage::Param> params);
  /// One text parameter.
  explicit BinaryParams(std::string_view text);
  /// It points into itself.
  BinaryParams(const BinaryParams&) = delete;
  BinaryParams& operator=(const BinaryParams&) = delete;
  BinaryParams(BinaryParams&&) noexcept = default;
  BinaryParams& operator=(BinaryParams&&) noexcept = default;

  [[nodiscard]] int count() const { return static_cast<int>(types_.size()); }
  [[nodiscard]] const Oid* types() const { return types_.data(); }
  [[nodiscard]] const char* const* values() const { return values_.data(); }
  [[nodiscard]] const int* lengths() const { return lengths_.data(); }
  [[nodiscard]] const int* formats() const { return formats_.data(); }

 private:
  using Number = std::array<char, 16>;

  void reserve(std::size_t count);
  void add(Oid type, const char* value, std::size_t length);
  void add_number(storage::Type type, std::int64_t value);

  std::vector<Oid> types_;
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
  std::vector<Number> numbers_;  ///< reserved up front: `values_` points into it, and moving keeps its place
};

/// `damaged` where the columns are not those of the statement.
Result<storage::Rows> decode_rows(const PGresult* result, std::span<const storage::Field> columns);

/// The answer to a script, in text format.
storage::Rows text_rows(const PGresult* result);

}  // namespace leasehold::postgres

// Parameters in PostgreSQL's binary wire format: neither side parses text, and the server refuses NUL bytes in a text
// instead of cutting it short.
#pragma once

#include <libpq-fe.h>

#include <array>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/postgres/texts.h"
#include "storage/statement.h"

namespace leasehold::postgres {

/// A one-dimensional array, built element by element; copies them.
class BinaryList {
 public:
  /// `element` is the type of an element. Exactly `count` elements must be added.
  BinaryList(storage::Type element, std::size_t count);

  void add(std::string_view string);
  void add(std::int64_t number);
  /// NULL, a number or a string.
  void add(const storage::Param& value);

  [[nodiscard]] Oid type() const;
  [[nodiscard]] std::span<const char> bytes() const { return bytes_; }

 private:
  void add_length(std::int32_t length);

  storage::Type element_;
  std::vector<char> bytes_;
};

/// The parameters of one statement, ready for libpq. Texts and bytes outside lists are borrowed, as in Param.
class BinaryParams {
 public:
  BinaryParams() = default;
  BinaryParams(std::span<const storage::Field> fields, std::span<const storage::Param> params, Charset charset);
  /// One text parameter.
  explicit BinaryParams(std::string_view text);
  /// It points into itself.
  BinaryParams(const BinaryParams&) = delete;
  BinaryParams& operator=(const BinaryParams&) = delete;
  BinaryParams(BinaryParams&&) noexcept = default;
  BinaryParams& operator=(BinaryParams&&) noexcept = default;

  void add(BinaryList list);

  [[nodiscard]] int count() const { return static_cast<int>(types_.size()); }
  [[nodiscard]] const Oid* types() const { return types_.data(); }
  [[nodiscard]] const char* const* values() const { return values_.data(); }
  [[nodiscard]] const int* lengths() const { return lengths_.data(); }
  [[nodiscard]] const int* formats() const { return formats_.data(); }

 private:
  using Number = std::array<char, 16>;

  void reserve(std::size_t count);
  void add(Oid type, const char* value, std::size_t length);
  void add(const storage::Field& field, std::string_view string, Charset charset);
  void add_number(storage::Type type, std::int64_t value);
  template <typename Element>
  void add_list(storage::Type type, std::span<const Element> elements);

  std::vector<Oid> types_;
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
  std::vector<Number> numbers_;    ///< reserved up front: `values_` points into it, and a move keeps its place
  std::list<std::string> fitted_;  ///< texts adapted to the database's encoding; a move keeps their place
  std::vector<BinaryList> lists_;  ///< `values_` points to their bytes, which do not move
};

}  // namespace leasehold::postgres

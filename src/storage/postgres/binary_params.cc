#include "storage/postgres/binary_params.h"

#include "storage/postgres/binary_rows.h"

namespace leasehold::postgres {
namespace {

using storage::Type;

std::size_t width_of(Type type) {
  if (type == Type::boolean) return 1;
  return type == Type::duration ? 16 : 8;
}

/// Writes the first 8 bytes of width_of(), or the only byte; the rest is days and months: zero.
void put_number(char* out, Type type, std::int64_t value) {
  if (type == Type::boolean) {
    *out = value != 0 ? 1 : 0;
  } else {
    put(out, type == Type::time ? add_clamped(value, -epoch_2000_us) : value);
  }
}

// The header of an array: dimensions, whether it contains NULLs, the element type; and if it has a dimension, its
// length and first index.
constexpr std::size_t word = sizeof(std::int32_t);
constexpr std::size_t nulls_at = word;
constexpr std::size_t length_of_head = 5 * word;
constexpr std::size_t length_of_empty = 3 * word;

}  // namespace

BinaryList::BinaryList(Type element, std::size_t count) : element_(element) {
  constexpr std::size_t guess = 12;
  bytes_.reserve(length_of_head + count * guess);
  bytes_.resize(count == 0 ? length_of_empty : length_of_head);
  put(bytes_.data(), std::int32_t{count == 0 ? 0 : 1});
  put(bytes_.data() + 2 * word, static_cast<std::uint32_t>(oids_of(element).one));
  if (count == 0) return;
  put(bytes_.data() + 3 * word, static_cast<std::int32_t>(count));
  put(bytes_.data() + 4 * word, std::int32_t{1});
}

Oid BinaryList::type() const { return oids_of(element_).array; }

void BinaryList::add_length(std::int32_t length) {
  bytes_.resize(bytes_.size() + word);
  put(bytes_.data() + bytes_.size() - word, length);
}

void BinaryList::add(std::string_view string) {
  add_length(static_cast<std::int32_t>(string.size()));
  bytes_.insert(bytes_.end(), string.begin(), string.end());
}

void BinaryList::add(std::int64_t number) {
  const auto width = width_of(element_);
  add_length(static_cast<std::int32_t>(width));
  bytes_.resize(bytes_.size() + width);
  put_number(bytes_.data() + bytes_.size() - width, element_, number);
}

void BinaryList::add(const storage::Param& value) {
  if (const auto* string = std::get_if<std::string_view>(&value)) {
    add(*string);
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    add(*number);
  } else {
    put(bytes_.data() + nulls_at, std::int32_t{1});
    add_length(-1);
  }
}

BinaryParams::BinaryParams(std::span<const storage::Field> fields, std::span<const storage::Param> params,
                           Charset charset) {
  reserve(params.size());
  for (std::size_t i = 0; i < params.size(); ++i) {
    const auto type = fields[i].type;
    if (const auto* string = std::get_if<std::string_view>(&params[i])) {
      add(fields[i], *string, charset);
    } else if (const auto* number = std::get_if<std::int64_t>(&params[i])) {
      add_number(type, *number);
    } else if (const auto* integers = std::get_if<storage::IntegerList>(&params[i])) {
      add_list(type, *integers);
    } else if (const auto* strings = std::get_if<storage::StringList>(&params[i])) {
      add_list(type, *strings);
    } else {
      add(oids_of(type).one, nullptr, 0);
    }
  }
}

BinaryParams::BinaryParams(std::string_view text) {
  reserve(1);
  add(oids_of(Type::text).one, text.data(), text.size());
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

void BinaryParams::add(const storage::Field& field, std::string_view string, Charset charset) {
  if (charset != Charset::unicode && field.type == Type::text && is_prose(field.name)) {
    string = fitted_.emplace_back(fitted(string, field.name, charset));
  }
  add(oids_of(field.type).one, string.empty() ? "" : string.data(), string.size());
}

void BinaryParams::add_number(Type type, std::int64_t value) {
  auto& number = numbers_.emplace_back();
  put_number(number.data(), type, value);
  add(oids_of(type).one, number.data(), width_of(type));
}

void BinaryParams::add(BinaryList list) {
  const auto bytes = lists_.emplace_back(std::move(list)).bytes();
  add(lists_.back().type(), bytes.data(), bytes.size());
}

template <typename Element>
void BinaryParams::add_list(Type type, std::span<const Element> elements) {
  BinaryList list(type, elements.size());
  for (const auto& element : elements) list.add(element);
  add(std::move(list));
}

}  // namespace leasehold::postgres

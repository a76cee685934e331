// Describes each public struct once, as records that ordinary functions read: JSON out and in, JSON Schema, the bounds
// of arguments. describe.h creates these records, described.h lists the structs.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "leasehold/limits.h"
#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold::model {

struct Field;

struct Described {
  std::string_view name{};
  std::span<const Field> fields{};
  const void* defaults = nullptr;  ///< of structs that callers fill in: a default instance. No key is required then
};

/// A value of a described struct.
struct Object {
  Described type{};
  const void* at = nullptr;
};

/// A token or an instance proves who holds something. A reader that must not act for other holders gets null instead;
/// the answer to a grant always has the caller's own.
enum class Proofs { shown, hidden };

/// std::monostate: no value.
using Value = std::variant<std::monostate, bool, std::int64_t, std::string, Duration, Timestamp,
                           std::vector<std::string>, std::vector<std::int64_t>, Object, std::vector<Object>>;

enum class Kind {
  boolean,
  integer,
  text,
  duration,
  timestamp,
  texts,
  integers,
  object,
  objects,
  word,     ///< a text: one of `words`
  bytes,    ///< a text that need not be UTF-8
  json,     ///< a text that is JSON, passed on unchanged
  inlined,  ///< an object whose members appear among those of the enclosing object
  hidden,   ///< for C++ only
};

/// What each text of a field must be.
enum class Form {
  any,
  name,  ///< as check_name() requires
  text,  ///< UTF-8 without NUL
  json,
};

/// Every moment from a caller is within these.
constexpr Timestamp first_moment = std::chrono::sys_days(std::chrono::year(1) / 1 / 1);
constexpr Timestamp end_of_moments = std::chrono::sys_days(std::chrono::year(bounds::last_year + 1) / 1 / 1);

struct Range {
  std::int64_t min = 0;
  std::int64_t max = 0;
};

struct Field {
  std::string_view name{};  ///< the key in JSON
  Kind kind = Kind::hidden;
  Value (*get)(const void* object) = nullptr;
  /// False: the value does not fit the member. Null: the field cannot be set.
  bool (*set)(void* object, Value&& value) = nullptr;
  void* (*part)(void* object) = nullptr;          ///< of an object: its address in the enclosing object
  void* (*append)(void* object) = nullptr;        ///< of a list of objects: the address of a new last element
  Described (*type)() = nullptr;                  ///< of an object, or of each element of a list
  std::span<const char* const> words{};           ///< of a word
  bool nullable = false;                          ///< may have no value
  bool empty_is_none = false;                     ///< an empty text or list, zero, the epoch mean no value
  bool left_out = false;                          ///< without a value, the key is left out
  bool (*present)(const void* object) = nullptr;  ///< if it returns false, the key is left out
  std::string_view condition{};                   ///< of `present`, in words: "it is a share"
  std::string_view meaning{};                     ///< for documentation; empty: that of its key, see keys.h
  std::string_view member{};                      ///< identifies the member; empty for derived fields
  /// A number, the microseconds of a duration, the bytes of a text, the length of a list; nothing without a value.
  std::optional<std::int64_t> (*measure)(const void* object) = nullptr;
  std::optional<Range> within{};  ///< the bounds of `measure`
  /// A text, or each text of a list, where it lies; nothing without a value.
  std::span<const std::string> (*texts)(const void* object) = nullptr;
  Form form = Form::any;     ///< of `texts`
  std::string_view label{};  ///< in messages; empty: the words of its name
  std::string_view rival{};  ///< the field that must have no value if this one has one
  bool required = false;     ///< of an argument: the key cannot be left out
  bool proof = false;        ///< lets a reader act for another holder; see Proofs

  [[nodiscard]] constexpr Field as(Kind other) const {
    auto changed = *this;
    changed.kind = other;
    return changed;
  }
  [[nodiscard]] constexpr Field or_null() const {
    auto changed = *this;
    changed.nullable = changed.empty_is_none = true;
    return changed;
  }
  /// Of a struct that tells about others, not of a grant.
  [[nodiscard]] constexpr Field is_proof() const {
    auto changed = or_null();
    changed.proof = true;
    return changed;
  }
  [[nodiscard]] constexpr Field if_any() const {
    auto changed = *this;
    changed.left_out = true;
    return changed;
  }
  [[nodiscard]] constexpr Field from(std::int64_t min, std::int64_t max) const {
    auto changed = *this;
    changed.within = Range{min, max};
    return changed;
  }
  [[nodiscard]] constexpr Field from(Duration min, Duration max) const { return from(min.count(), max.count()); }
  /// A number of rows.
  [[nodiscard]] constexpr Field at_least_one() const { return from(1, std::numeric_limits<int>::max()); }
  [[nodiscard]] constexpr Field up_to(std::size_t max) const { return from(0, static_cast<std::int64_t>(max)); }
  /// The text, or each text of a list, is a name.
  [[nodiscard]] constexpr Field as_name() const {
    auto changed = *this;
    changed.form = Form::name;
    if (kind == Kind::text) changed.within = Range{0, bounds::name_bytes};
    return changed;
  }
  [[nodiscard]] constexpr Field as_text(std::size_t max = bounds::text_bytes) const {
    auto changed = *this;
    changed.form = Form::text;
    if (kind == Kind::text) changed.within = Range{0, static_cast<std::int64_t>(max)};
    return changed;
  }
  [[nodiscard]] constexpr Field as_json(std::size_t max) const {
    auto changed = as(Kind::json).up_to(max);
    changed.form = Form::json;
    return changed;
  }
  [[nodiscard]] constexpr Field as_moment() const {
    return from(first_moment.time_since_epoch(), end_of_moments.time_since_epoch() - Duration(1));
  }
  [[nodiscard]] constexpr Field called(std::string_view spoken) const {
    auto changed = *this;
    changed.label = spoken;
    return changed;
  }
  [[nodiscard]] constexpr Field not_with(std::string_view other) const {
    auto changed = *this;
    changed.rival = other;
    return changed;
  }
  /// Only some words of the enumeration.
  [[nodiscard]] constexpr Field among(std::span<const char* const> some) const {
    auto changed = *this;
    changed.words = some;
    return changed;
  }
  [[nodiscard]] constexpr Field needed() const {
    auto changed = *this;
    changed.required = true;
    return changed;
  }
  [[nodiscard]] constexpr Field means(std::string_view text) const {
    auto changed = *this;
    changed.meaning = text;
    return changed;
  }
  /// `condition` is for documentation: the key is left out unless that is so.
  template <auto predicate>
  [[nodiscard]] constexpr Field when(std::string_view words_for_it) const;
};

/// Selects the description of T: each struct of described.h has its describe(Type<T>).
template <typename T>
struct Type {};

template <typename T>
Described described() {
  return describe(Type<T>());
}

template <typename T>
Object object_of(const T& value) {
  return {described<T>(), &value};
}

/// The field's value; none if it is empty and `empty_is_none` is set.
Value value_of(const Field& field, const void* object);

/// `invalid_argument` for the first field out of its bounds or not of its form, including those of nested objects.
Result<void> check_fields(const Object& object);

template <typename T>
Result<void> check_fields_of(const T& value) {
  return check_fields(object_of(value));
}

}  // namespace leasehold::model

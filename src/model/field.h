// A public struct is described once, as plain records that ordinary functions read: JSON out and in, JSON Schema, the
// bounds of what a caller may ask for.
// describe.h makes these records, described.h lists the structs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold::model {

struct Field;

struct Described {
  std::string_view name{};
  std::span<const Field> fields{};
  const void* defaults = nullptr;  ///< of what callers fill in: a fresh one. Nothing in it is required
};

/// A value of a described struct.
struct Object {
  Described type{};
  const void* at = nullptr;
};

/// std::monostate: there is none.
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
  json,     ///< a text that is JSON, and is passed on as it is
  inlined,  ///< an object whose members stand among those of the one around it
  hidden,   ///< for C++ only
};

struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

struct Field {
  std::string_view name{};  ///< the key in JSON
  Kind kind = Kind::hidden;
  Value (*get)(const void* object) = nullptr;
  /// False: the value does not fit into the member. Null: it cannot be set.
  bool (*set)(void* object, const Value& value) = nullptr;
  void* (*part)(void* object) = nullptr;          ///< of an object: where it lies in the one around it
  Described (*type)() = nullptr;                  ///< of an object, or of each of several
  std::span<const char* const> words{};           ///< of a word
  bool nullable = false;                          ///< there may be none
  bool empty_is_none = false;                     ///< an empty text or list, zero, the epoch: there is none
  bool left_out = false;                          ///< where there is none, its key is left out
  bool (*present)(const void* object) = nullptr;  ///< where this says no, its key is left out
  std::string_view member{};                      ///< tells members apart; empty for what is derived from them
  /// A number, the microseconds of a duration, the bytes of a text, the length of a list; nothing where there is none.
  std::optional<std::int64_t> (*measure)(const void* object) = nullptr;
  std::optional<Range> within{};  ///< what that may be

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
  [[nodiscard]] constexpr Field if_any() const {
    auto changed = *this;
    changed.left_out = true;
    return changed;
  }
  [[nodiscard]] constexpr Field from(std::int64_t least, std::int64_t most) const {
    auto changed = *this;
    changed.within = Range{least, most};
    return changed;
  }
  [[nodiscard]] constexpr Field from(Duration least, Duration most) const { return from(least.count(), most.count()); }
  [[nodiscard]] constexpr Field up_to(std::size_t most) const { return from(0, static_cast<std::int64_t>(most)); }
  template <auto predicate>
  [[nodiscard]] constexpr Field when() const;
};

/// Chooses the description of T: each struct of described.h has its describe(Type<T>).
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

/// The field's value; none where it is empty and that means so.
Value value_of(const Field& field, const void* object);

/// `invalid_argument` for the first field that is out of its bounds, those of objects in it included.
Result<void> check_fields(const Object& object);

}  // namespace leasehold::model

// The parameters and rows of a statement. The statement defines their types.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "leasehold/lease.h"
#include "leasehold/time.h"
#include "model/errors.h"
#include "model/replies.h"

namespace leasehold::storage {

using IntegerList = std::span<const std::int64_t>;
using StringList = std::span<const std::string_view>;

/// NULL, a number (also bool, time and duration in microseconds), a text or bytes, or a list of these. Texts, bytes
/// and lists are borrowed: they must outlive the call.
using Param = std::variant<std::monostate, std::int64_t, std::string_view, IntegerList, StringList>;

/// The same, but owned.
using Cell =
    std::variant<std::monostate, std::int64_t, std::string, std::vector<std::int64_t>, std::vector<std::string>>;
using Row = std::vector<Cell>;
using Rows = std::vector<Row>;

// A named statement: the same name, parameters and columns in every dialect.
//
// tools/embed_sql generates the list from the .sql pairs; see statements.h in the build folder.
enum class Type {
  text,  ///< UTF-8 without NUL
  bytes,
  integer,
  boolean,
  time,
  duration,
  // Lists.
  integers,
  texts,
  bytes_list,
  times,  ///< only as a column
};

constexpr bool is_list(Type type) {
  return type == Type::integers || type == Type::texts || type == Type::bytes_list || type == Type::times;
}

struct Field {
  std::string_view name;
  Type type;
  bool nullable;
};

enum class Access { read, write };

/// The part that both dialects share.
struct Statement {
  int index;  ///< into a dialect's texts, and into a connection's cache
  std::string_view name;
  Access access;
  /// For heartbeats: a late one costs its holder the lease, so they precede other writers.
  bool urgent;
  std::span<const Field> params;
  std::span<const Field> columns;
};

struct Migration {
  int version;
  std::string_view name;
  std::string_view up;
  std::string_view down;
};

/// One dialect: the embedded text of its .sql files.
struct Dialect {
  std::string_view name;
  std::span<const std::string_view> statements;  ///< by Statement::index
  /// The statement for many calls at once, by Statement::index; empty if it has no such form.
  std::span<const std::string_view> each;
  std::span<const Migration> migrations;  ///< in order of version
  std::string_view on_connect;            ///< run on every new connection; may be empty
};

/// The outcome of an act, one word from the store: a reply, or the word of an error code. It is read here, once.
class Outcome {
 public:
  Outcome() = default;
  explicit Outcome(std::string word) : word_(std::move(word)), reply_(reply_from(word_)) {}

  [[nodiscard]] bool done() const { return reply_ && is_done(*reply_); }
  /// `internal` for a word that is not an error code.
  [[nodiscard]] Errc refusal() const { return errc_from(word_).value_or(Errc::internal); }

  /// For acts with several good answers, or with refusals of their own.
  [[nodiscard]] bool is(Reply reply) const { return reply_ == reply; }
  /// For messages.
  [[nodiscard]] const std::string& word() const { return word_; }
  bool operator==(const Outcome&) const = default;

 private:
  std::string word_;
  std::optional<Reply> reply_;
};

// Converts between C++ values and the parameters and columns of a statement; used by the generated statements.h.
inline Param encode(std::string_view text) { return text; }
inline Param encode(std::int64_t number) { return number; }
inline Param encode(bool flag) { return std::int64_t{flag}; }
inline Param encode(IntegerList list) { return list; }
inline Param encode(StringList list) { return list; }
inline Param encode(Duration span) { return std::int64_t{span.count()}; }
inline Param encode(Timestamp when) { return std::int64_t{when.time_since_epoch().count()}; }

template <typename T>
Param encode(const std::optional<T>& value) {
  return value ? encode(*value) : Param{};
}

inline std::int64_t number_in(const Cell& cell) {
  const auto* number = std::get_if<std::int64_t>(&cell);
  return number ? *number : 0;
}

// A cell is read once, so a text (such as a payload) moves out of it.
inline void decode(Cell&& cell, std::string& out) {
  if (auto* text = std::get_if<std::string>(&cell)) out = std::move(*text);
}
inline void decode(Cell&& cell, Outcome& out) {
  if (auto* text = std::get_if<std::string>(&cell)) out = Outcome(std::move(*text));
}
inline void decode(Cell&& cell, std::vector<std::string>& out) {
  if (auto* texts = std::get_if<std::vector<std::string>>(&cell)) out = std::move(*texts);
}
inline void decode(Cell&& cell, std::vector<std::int64_t>& out) {
  if (auto* numbers = std::get_if<std::vector<std::int64_t>>(&cell)) out = std::move(*numbers);
}
inline void decode(const Cell& cell, std::vector<Timestamp>& out) {
  const auto* numbers = std::get_if<std::vector<std::int64_t>>(&cell);
  if (!numbers) return;
  out.reserve(numbers->size());
  for (const auto number : *numbers) out.emplace_back(Duration(number));
}
inline void decode(const Cell& cell, std::int64_t& out) { out = number_in(cell); }
inline void decode(const Cell& cell, bool& out) { out = number_in(cell) != 0; }
inline void decode(const Cell& cell, Duration& out) { out = Duration(number_in(cell)); }
inline void decode(const Cell& cell, Timestamp& out) { out = Timestamp(Duration(number_in(cell))); }

template <typename T>
void decode(Cell&& cell, std::optional<T>& out) {
  if (!std::holds_alternative<std::monostate>(cell)) decode(std::move(cell), out.emplace());
}

// Copies a column to the member of the same name; used by Row::as() of the generated statements.h.
template <typename From, typename To>
concept Fits = std::is_same_v<From, To> ||
               (std::is_same_v<From, std::int64_t> && (std::is_same_v<To, int> || std::is_same_v<To, Token>)) ||
               (std::is_same_v<From, std::string> &&
                (std::is_enum_v<To> || std::is_same_v<To, std::vector<std::string>> ||
                 std::is_same_v<To, std::vector<std::int64_t>>));

template <typename From, typename To>
requires Fits<From, To>
void assign(From&& from, To& to) {
  if constexpr (std::is_same_v<From, To>) {
    to = std::forward<From>(from);
  } else if constexpr (std::is_enum_v<To>) {
    read_word(from, to);
  } else if constexpr (std::is_same_v<To, int>) {
    to = static_cast<int>(from);
  } else if constexpr (std::is_same_v<To, Token>) {
    to = {from};
  } else if constexpr (std::is_same_v<To, std::vector<std::string>>) {
    to = texts_from_json(from);
  } else {
    to = integers_from_json(from);
  }
}

/// NULL leaves the member unchanged.
template <typename From, typename To>
requires Fits<From, To>
void assign(std::optional<From>&& from, To& to) {
  if (from) assign(std::move(*from), to);
}

template <typename From, typename To>
requires Fits<From, To>
void assign(std::optional<From>&& from, std::optional<To>& to) {
  if (from) assign(std::move(*from), to.emplace());
}

}  // namespace leasehold::storage

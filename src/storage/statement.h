// A named statement: the same name, parameters and columns in every dialect.
//
// The list itself is generated from the .sql pairs by tools/embed_sql; see statements.h in the build
// folder.
#pragma once

#include <span>
#include <string_view>

namespace leasehold::storage {

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

/// What both dialects share.
struct Statement {
  int index;  ///< into a dialect's texts, and into a connection's cache
  std::string_view name;
  Access access;
  /// Heartbeats: a late one costs its holder the lease, so they go before other writers.
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
  /// The statement for many calls at once, by Statement::index; empty where it has no such form.
  std::span<const std::string_view> each;
  std::span<const Migration> migrations;  ///< in order of version
  std::string_view on_connect;            ///< run on every new connection; may be empty
};

}  // namespace leasehold::storage

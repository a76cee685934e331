// Reads the statements and migrations of a dialect for embed_sql, and checks that two dialects are a pair. embed_sql.cc
// describes the notation.
#pragma once

#include <cctype>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sql_constants.h"

namespace embed_sql {

/// Fails the build.
[[noreturn]] void fail(const std::string& what);

struct Field {
  std::string name, type;
  bool nullable = false;
  bool operator==(const Field&) const = default;
};

struct Statement {
  std::string name, record, sql, each;
  bool writes = false, urgent = false;
  std::vector<Field> params, columns;
};

struct Dialect {
  std::string name, on_connect;
  std::map<std::string, Statement> statements;
  std::map<std::string, std::vector<Field>> records;
  struct Migration {
    std::string up, down;
  };
  std::map<std::string, Migration> migrations;  // by "0001_lease"
  std::map<std::string, std::string> local;     // by name of the file
};

/// The names of a type in C++ and SQL.
struct TypeNames {
  std::string param, cell, enumerator, postgres;
  bool list = false;
};

extern const std::map<std::string, TypeNames> type_names;
bool is_list(const Field& field);

std::string read(const std::filesystem::path& path);
Dialect read_dialect(const std::string& name, const std::filesystem::path& folder, const Constants& constants);
/// Fails if `b` lacks something that `a` has.
void check_pair(const Dialect& a, const Dialect& b);

/// Calls back for every :name outside strings, comments and casts.
template <typename OnText, typename OnParam>
void scan_params(const std::string& sql, OnText text, OnParam param) {
  for (std::size_t i = 0; i < sql.size();) {
    if (sql[i] == '\'') {
      const auto end = sql.find('\'', i + 1);
      const auto length = end == std::string::npos ? sql.size() - i : end - i + 1;
      text(sql.substr(i, length));
      i += length;
    } else if (sql.compare(i, 2, "::") == 0) {
      text("::");
      i += 2;
    } else if (sql[i] == ':' && i + 1 < sql.size() && std::islower(static_cast<unsigned char>(sql[i + 1]))) {
      auto end = i + 1;
      while (end < sql.size() && (std::isalnum(static_cast<unsigned char>(sql[end])) || sql[end] == '_')) ++end;
      param(sql.substr(i + 1, end - i - 1));
      i = end;
    } else {
      text(std::string(1, sql[i++]));
    }
  }
}

}  // namespace embed_sql

#include "storage/direct.h"

#include <algorithm>
#include <array>

namespace leasehold::storage {
namespace {

std::string doubled(std::string_view text, char mark) {
  std::string out(1, mark);
  for (const char c : text.substr(0, text.find('\0'))) {
    out += c;
    if (c == mark) out += c;
  }
  out += mark;
  return out;
}

bool needs_no_quotes(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9'); };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), fits);
}

/// The words that PostgreSQL or SQLite do not accept as a column's or a table's name.
constexpr std::array<std::string_view, 117> reserved_words = {"add",
                                                              "all",
                                                              "alter",
                                                              "analyse",
                                                              "analyze",
                                                              "and",
                                                              "any",
                                                              "array",
                                                              "as",
                                                              "asc",
                                                              "asymmetric",
                                                              "autoincrement",
                                                              "between",
                                                              "binary",
                                                              "both",
                                                              "case",
                                                              "cast",
                                                              "check",
                                                              "collate",
                                                              "column",
                                                              "commit",
                                                              "constraint",
                                                              "create",
                                                              "cross",
                                                              "current_date",
                                                              "current_role",
                                                              "current_time",
                                                              "current_timestamp",
                                                              "current_user",
                                                              "default",
                                                              "deferrable",
                                                              "delete",
                                                              "desc",
                                                              "distinct",
                                                              "do",
                                                              "drop",
                                                              "else",
                                                              "end",
                                                              "escape",
                                                              "except",
                                                              "exists",
                                                              "false",
                                                              "fetch",
                                                              "for",
                                                              "foreign",
                                                              "freeze",
                                                              "from",
                                                              "full",
                                                              "grant",
                                                              "group",
                                                              "having",
                                                              "ilike",
                                                              "in",
                                                              "index",
                                                              "initially",
                                                              "inner",
                                                              "insert",
                                                              "intersect",
                                                              "into",
                                                              "is",
                                                              "isnull",
                                                              "join",
                                                              "lateral",
                                                              "leading",
                                                              "left",
                                                              "like",
                                                              "limit",
                                                              "localtime",
                                                              "localtimestamp",
                                                              "natural",
                                                              "not",
                                                              "nothing",
                                                              "notnull",
                                                              "null",
                                                              "offset",
                                                              "on",
                                                              "only",
                                                              "or",
                                                              "order",
                                                              "outer",
                                                              "overlaps",
                                                              "placing",
                                                              "primary",
                                                              "raise",
                                                              "references",
                                                              "returning",
                                                              "right",
                                                              "select",
                                                              "session_user",
                                                              "set",
                                                              "similar",
                                                              "some",
                                                              "symmetric",
                                                              "table",
                                                              "tablesample",
                                                              "then",
                                                              "to",
                                                              "trailing",
                                                              "transaction",
                                                              "true",
                                                              "union",
                                                              "unique",
                                                              "update",
                                                              "user",
                                                              "using",
                                                              "values",
                                                              "variadic",
                                                              "verbose",
                                                              "when",
                                                              "where",
                                                              "window",
                                                              "with",
                                                              "authorization",
                                                              "concurrently",
                                                              "collation",
                                                              "if",
                                                              "row"};

bool is_reserved(std::string_view name) {
  return std::find(reserved_words.begin(), reserved_words.end(), name) != reserved_words.end();
}

}  // namespace

std::optional<std::string> TextRows::at(std::size_t row, std::string_view column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found == columns.end() || row >= rows.size()) return std::nullopt;
  return rows[row][static_cast<std::size_t>(found - columns.begin())];
}

std::string quote_literal(std::string_view text) { return doubled(text, '\''); }

std::string quote_name(std::string_view name) {
  if (needs_no_quotes(name) && !is_reserved(name)) return std::string(name);
  return doubled(name, '"');
}

}  // namespace leasehold::storage

#include "adopt/sqlite/fragments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace leasehold::adopt::sqlite {
namespace {

/// The end of the quoted text, quoted name or comment that begins at `at`; `at` if none does.
std::size_t skip_quoted(std::string_view sql, std::size_t at) {
  const auto behind = [&](std::string_view mark, std::size_t from) {
    const auto end = sql.find(mark, from);
    return end == std::string_view::npos ? sql.size() : end + mark.size();
  };
  const char first = sql[at];
  if (first == '\'' || first == '"' || first == '`') return behind(sql.substr(at, 1), at + 1);
  if (first == '[') return behind("]", at);
  if (sql.substr(at, 2) == "--") return behind("\n", at);
  if (sql.substr(at, 2) == "/*") return behind("*/", at);
  return at;
}

/// Calls `on_char(place, depth)` for each character outside of quotes.
template <typename F>
void each_outside_quotes(std::string_view sql, F on_char) {
  int depth = 0;
  for (std::size_t at = 0; at < sql.size();) {
    if (const auto end = skip_quoted(sql, at); end > at) {
      at = end;
      continue;
    }
    if (sql[at] == '(') ++depth;
    if (sql[at] == ')') --depth;
    on_char(at, depth);
    ++at;
  }
}

std::string without_quotes(std::string_view name) {
  name = trimmed(name);
  if (name.size() > 2 && (name.front() == '"' || name.front() == '`' || name.front() == '[')) {
    return std::string(name.substr(1, name.size() - 2));
  }
  return std::string(name);
}

Result<std::pair<std::string, std::string>> read_assignment(std::string_view text) {
  std::size_t equals = std::string_view::npos;
  each_outside_quotes(text, [&](std::size_t at, int depth) {
    if (text[at] == '=' && depth == 0 && equals == std::string_view::npos) equals = at;
  });
  auto column = equals == std::string_view::npos ? std::string() : without_quotes(text.substr(0, equals));
  if (column.empty() || column.find('(') != std::string::npos || trimmed(text.substr(equals + 1)).empty()) {
    return invalid(fmt::format("{} is no assignment: write column = expression", leasehold::quoted(trimmed(text))));
  }
  return std::pair(std::move(column), std::string(trimmed(text.substr(equals + 1))));
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

Result<Assignments> read_assignments(std::string_view fragment) {
  std::vector<std::size_t> commas;
  each_outside_quotes(fragment, [&](std::size_t at, int depth) {
    if (fragment[at] == ',' && depth == 0) commas.push_back(at);
  });
  commas.push_back(fragment.size());
  Assignments assignments;
  std::size_t begin = 0;
  for (const auto comma : commas) {
    auto one = read_assignment(fragment.substr(begin, comma - begin));
    if (!one) return std::move(one).error();
    assignments.push_back(std::move(*one));
    begin = comma + 1;
  }
  return assignments;
}

std::string with_placeholder(std::string_view fragment, std::string_view placeholder, std::string_view value) {
  std::vector<std::size_t> places;
  each_outside_quotes(fragment, [&](std::size_t at, int) {
    const auto end = at + placeholder.size();
    const bool whole = end >= fragment.size() || !is_in_word(fragment[end]);
    if (whole && fragment.substr(at, placeholder.size()) == placeholder) places.push_back(at);
  });
  std::string out;
  std::size_t begin = 0;
  for (const auto at : places) {
    out += fragment.substr(begin, at - begin);
    out += value;
    begin = at + placeholder.size();
  }
  out += fragment.substr(begin);
  return out;
}

bool mentions(std::string_view fragment, std::string_view word) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  for (auto from = fragment.begin(); from != fragment.end();) {
    const auto found = std::search(from, fragment.end(), word.begin(), word.end(), same);
    if (found == fragment.end()) return false;
    const auto end = found + static_cast<std::ptrdiff_t>(word.size());
    const bool starts = found == fragment.begin() || !is_in_word(*(found - 1));
    const bool ends = end == fragment.end() || !is_in_word(*end);
    if (starts && ends) return true;
    from = found + 1;
  }
  return false;
}

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
  return fmt::format("{}", fmt::join(texts, between));
}

}  // namespace leasehold::adopt::sqlite

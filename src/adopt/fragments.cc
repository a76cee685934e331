#include "adopt/fragments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace leasehold::adopt {
namespace {

/// The end of the quoted text, quoted name or comment that begins at `at`; `at` if none begins there.
std::size_t end_of_quotes(std::string_view sql, std::size_t at) {
  const auto behind = [&](std::string_view mark, std::size_t from) {
    const auto end = sql.find(mark, from);
    return end == std::string_view::npos ? sql.size() : end + mark.size();
  };
  if (sql[at] == '\'' || sql[at] == '"') return behind(sql.substr(at, 1), at + 1);
  if (sql.substr(at, 2) == "--") return behind("\n", at);
  if (sql.substr(at, 2) == "/*") return behind("*/", at);
  return at;
}

std::string_view word_at(std::string_view sql, std::size_t at) {
  std::size_t end = at;
  while (end < sql.size() && is_in_word(sql[end])) ++end;
  return sql.substr(at, end - at);
}

/// Cuts the text into pieces: placeholders (with their colon), and everything between them.
std::vector<std::string_view> pieces_of(std::string_view sql) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  const auto cut = [&](std::size_t end) {
    if (end > begin) pieces.push_back(sql.substr(begin, end - begin));
    begin = end;
  };
  for (std::size_t at = 0; at < sql.size();) {
    const auto behind = end_of_quotes(sql, at);
    const auto name = sql[at] == ':' ? word_at(sql, at + 1) : std::string_view();
    const bool cast = at > 0 && sql[at - 1] == ':';
    if (behind > at || name.empty() || cast || (name[0] >= '0' && name[0] <= '9')) {
      at = std::max(behind, at + 1);
      continue;
    }
    cut(at);
    at += name.size() + 1;
    cut(at);
  }
  cut(sql.size());
  return pieces;
}

bool is_placeholder(std::string_view piece) { return piece.size() > 1 && piece[0] == ':' && is_in_word(piece[1]); }

/// The parts between commas outside of parentheses and quotes.
std::vector<std::string_view> parts_of(std::string_view sql) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < sql.size();) {
    if (const auto behind = end_of_quotes(sql, at); behind > at) {
      at = behind;
      continue;
    }
    if (sql[at] == '(' || sql[at] == '[') ++depth;
    if (sql[at] == ')' || sql[at] == ']') --depth;
    if (sql[at] == ',' && depth == 0) {
      parts.push_back(trimmed(sql.substr(begin, at - begin)));
      begin = at + 1;
    }
    ++at;
  }
  parts.push_back(trimmed(sql.substr(begin)));
  return parts;
}

}  // namespace

std::vector<std::string> placeholders_of(std::string_view sql) {
  std::vector<std::string> names;
  for (const auto piece : pieces_of(sql)) {
    if (!is_placeholder(piece)) continue;
    std::string name(piece.substr(1));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::string with_placeholders(std::string_view sql, const Placeholders& meanings) {
  std::string text;
  for (const auto piece : pieces_of(sql)) {
    const auto found = is_placeholder(piece) ? meanings.find(piece.substr(1)) : meanings.end();
    text += found == meanings.end() ? piece : std::string_view(found->second);
  }
  return text;
}

Result<std::vector<Named>> assignments_of(std::string_view sql) {
  std::vector<Named> assignments;
  for (const auto part : parts_of(sql)) {
    const bool is_quoted = part.starts_with('"');
    const auto name_end = is_quoted ? end_of_quotes(part, 0) : word_at(part, 0).size();
    const auto rest = trimmed(part.substr(name_end));
    const auto name = is_quoted && name_end > 1 ? part.substr(1, name_end - 2) : part.substr(0, name_end);
    const auto value = rest.starts_with('=') ? trimmed(rest.substr(1)) : std::string_view();
    if (name.empty() || value.empty()) {
      return invalid(fmt::format("{} is no assignment: write column = expression, …", leasehold::quoted(part)));
    }
    assignments.emplace_back(std::string(name), std::string(value));
  }
  return assignments;
}

bool has_word(std::string_view sql, std::string_view word) {
  for (auto at = sql.find(word); at != std::string_view::npos; at = sql.find(word, at + 1)) {
    const auto behind = at + word.size();
    const bool starts = at == 0 || !is_in_word(sql[at - 1]);
    if (starts && (behind == sql.size() || !is_in_word(sql[behind]))) return true;
  }
  return false;
}

}  // namespace leasehold::adopt

#include "storage/postgres/texts.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/text.h"
#include "storage/postgres/dialect.h"

namespace leasehold::postgres {
namespace {

constexpr std::string_view schema_word = "leasehold";

// The warning that a commit was not replicated must reach us, whatever the role has set: see
// Connection::note_notice.
constexpr std::string_view bound_sql =
    "SELECT set_config('lock_timeout', $1::text, true), set_config('client_min_messages', 'warning', true)";

bool stands_alone(std::string_view sql, std::size_t at) {
  const auto end = at + schema_word.size();
  return (at == 0 || !is_in_word(sql[at - 1])) && (end == sql.size() || !is_in_word(sql[end]));
}

/// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace

Texts::Texts(std::string schema) : schema_(std::move(schema)) {
  for (const auto text : dialect().statements) add("leasehold", localize(text));
  for (const auto text : dialect().each) {
    each_.push_back(statements_.size());
    if (!text.empty()) add("leasehold_each", localize(text));
  }
  add("leasehold_bound", std::string(bound_sql));
}

void Texts::add(std::string_view name, std::string sql) {
  auto full_name = fmt::format("{}_{:016x}", name, hash_of(sql));
  statements_.push_back({.slot = statements_.size(), .name = std::move(full_name), .sql = std::move(sql)});
}

std::string in_schema(std::string_view sql, std::string_view schema) {
  if (schema == schema_word) return std::string(sql);
  std::string out;
  out.reserve(sql.size());
  std::size_t copied = 0;
  for (auto at = sql.find(schema_word); at != std::string_view::npos;
       at = sql.find(schema_word, at + schema_word.size())) {
    if (!stands_alone(sql, at)) continue;
    out += sql.substr(copied, at - copied);
    out += schema;
    copied = at + schema_word.size();
  }
  return out += sql.substr(copied);
}

}  // namespace leasehold::postgres

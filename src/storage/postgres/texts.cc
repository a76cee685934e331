#include "storage/postgres/texts.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "storage/postgres/backend.h"

namespace leasehold::postgres {
namespace {

/// The length in bytes of the character that begins with this byte, in well-formed UTF-8.
std::size_t length_from(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xE0) return 2;
  return first < 0xF0 ? 3 : 4;
}

std::uint32_t character_at(std::string_view text, std::size_t length) {
  const auto first = static_cast<unsigned char>(text.front());
  if (length == 1) return first;
  std::uint32_t character = first & (0x7FU >> length);
  for (const char byte : text.substr(1, length - 1))
    character = character << 6 | (static_cast<unsigned char>(byte) & 0x3FU);
  return character;
}

}  // namespace

Charset charset_of(const PGconn* connection) {
  const char* reported = PQparameterStatus(connection, "server_encoding");
  const std::string_view encoding = reported == nullptr ? "UTF8" : reported;
  // SQL_ASCII accepts any bytes.
  if (encoding == "UTF8" || encoding == "SQL_ASCII") return Charset::unicode;
  return encoding == "LATIN1" ? Charset::latin1 : Charset::ascii;
}

bool is_prose(std::string_view name) {
  constexpr std::array<std::string_view, 8> names = {"error",  "reason", "message", "stage",
                                                     "holder", "host",   "tty",     "title"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string fitted(std::string_view text, std::string_view name, Charset charset) {
  const std::uint32_t last = charset == Charset::latin1 ? 0xFF : 0x7F;
  std::string out;
  while (!text.empty()) {
    const auto length = std::min(length_from(static_cast<unsigned char>(text.front())), text.size());
    const auto character = character_at(text, length);
    if (character <= last) {
      out += text.substr(0, length);
    } else {
      out += name == "error" ? fmt::format("\\u{{{:x}}}", character) : "?";
    }
    text.remove_prefix(length);
  }
  return out;
}

namespace {

constexpr std::string_view schema_word = "leasehold";

// Lasts for one transaction although it is not SET LOCAL, which would warn outside a transaction block. A SELECT of
// set_config() would come too late, after the snapshot.
constexpr std::string_view isolation_sql = "SET transaction_isolation = 'read committed'";

// The warning that a commit was not replicated must reach us, whatever the role has set: see Connection::note_notice.
// The search path keeps functions of others from being called in place of PostgreSQL's.
constexpr std::string_view bound_sql =
    "SELECT pg_catalog.set_config('lock_timeout', $1::text, true), "
    "pg_catalog.set_config('client_min_messages', 'warning', true), "
    "pg_catalog.set_config('search_path', 'pg_catalog', true)";

/// The schemas of the engine and of the test clock.
constexpr std::array<std::string_view, 2> suffixes = {"_internal", "_test"};

// The length of a schema's name at this position: one of the three words, as a whole word. 0: there is none.
std::size_t schema_at(std::string_view sql, std::size_t at) {
  if (at > 0 && is_in_word(sql[at - 1])) return 0;
  auto end = at + schema_word.size();
  for (const auto suffix : suffixes) {
    if (sql.substr(end).starts_with(suffix)) end += suffix.size();
  }
  return end == sql.size() || !is_in_word(sql[end]) ? end - at : 0;
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
  add("leasehold_isolation", std::string(isolation_sql));
  add("leasehold_bound", std::string(bound_sql));
}

void Texts::add(std::string_view name, std::string sql) {
  auto full_name = fmt::format("{}_{:016x}", name, hash_of(sql));
  statements_.push_back({.slot = statements_.size(), .name = std::move(full_name), .sql = std::move(sql)});
}

std::string in_schema(std::string_view sql, std::string_view schema) {
  if (schema == schema_word) return std::string(sql);
  const bool is_quoted = schema.ends_with('"');
  const auto bare = schema.substr(0, schema.size() - (is_quoted ? 1 : 0));
  std::string out;
  out.reserve(sql.size());
  std::size_t copied = 0;
  for (auto at = sql.find(schema_word); at != std::string_view::npos;
       at = sql.find(schema_word, at + schema_word.size())) {
    const auto length = schema_at(sql, at);
    if (length == 0) continue;
    out += sql.substr(copied, at - copied);
    out += bare;
    out += sql.substr(at + schema_word.size(), length - schema_word.size());
    if (is_quoted) out += '"';
    copied = at + length;
  }
  return out += sql.substr(copied);
}

}  // namespace leasehold::postgres

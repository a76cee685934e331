#include "adopt/database.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "core/store_url.h"
#include "storage/postgres/backend.h"
#include "storage/sqlite/backend.h"

namespace leasehold::adopt {

Result<std::unique_ptr<storage::Direct>> open_database(std::string_view url, BootTime deadline) {
  auto parsed = parse_store_url(url);
  if (!parsed) return std::move(parsed).error();
  if (parsed->kind == StoreUrl::Kind::postgres) return leasehold::postgres::open_direct(*parsed, deadline);
  if (parsed->in_memory()) return invalid("a database in memory has no tables to adopt: name a file with --db");
  if (::access(parsed->path.c_str(), F_OK) != 0) {
    return Error{.code = Errc::not_found,
                 .message = fmt::format("there is no database file {}: name the one that has your table with --db",
                                        parsed->path)};
  }
  return leasehold::sqlite::open_direct(*parsed, deadline);
}

Result<void> in_transaction(storage::Direct& database, BootTime deadline, const std::function<Result<void>()>& work) {
  if (auto begun = database.begin(deadline); !begun) return begun;
  auto done = work();
  auto ended = database.run(done ? "COMMIT" : "ROLLBACK", deadline);
  if (!done) return done;
  if (!ended) return std::move(ended).error();
  return {};
}

namespace {

/// The end of the quoted text, quoted name or comment that begins at `at`; `at` if none does.
std::size_t behind_quotes(std::string_view sql, std::size_t at) {
  const auto behind = [&](std::string_view mark, std::size_t from) {
    const auto end = sql.find(mark, from);
    return end == std::string_view::npos ? sql.size() : end + mark.size();
  };
  if (sql[at] == '\'' || sql[at] == '"') return behind(sql.substr(at, 1), at + 1);
  if (sql.substr(at, 2) == "--") return behind("\n", at);
  if (sql.substr(at, 2) == "/*") return behind("*/", at);
  return at;
}

}  // namespace

std::string with_arguments(std::string_view sql, const Arguments& arguments, std::string_view rows) {
  std::string out;
  for (std::size_t at = 0; at < sql.size();) {
    if (const auto behind = behind_quotes(sql, at); behind > at) {
      out += sql.substr(at, behind - at);
      at = behind;
      continue;
    }
    std::size_t end = at + 1;
    while (end < sql.size() && is_in_word(sql[end])) ++end;
    const auto name = sql.substr(at + 1, end - at - 1);
    const bool cast = at > 0 && sql[at - 1] == ':';
    const auto found =
        std::find_if(arguments.begin(), arguments.end(), [&](const auto& one) { return one.first == name; });
    if (sql[at] == ':' && !cast && name == "rows" && !rows.empty()) {
      out += rows;
      at = end;
      continue;
    }
    if (sql[at] != ':' || cast || found == arguments.end()) {
      out += sql[at++];
      continue;
    }
    out += found->second ? storage::quote_literal(*found->second) : "NULL";
    at = end;
  }
  return out;
}

}  // namespace leasehold::adopt

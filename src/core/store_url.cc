#include "core/store_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.h"

namespace leasehold {
namespace {

constexpr std::string_view not_shown = "it is not shown, because it may hold a password";
constexpr std::string_view forms = "write sqlite:PATH, sqlite::memory: or postgresql://user@host/database";

struct Option {
  std::string_view name;
  std::string_view value;
};

std::vector<Option> split_options(std::string_view query) {
  std::vector<Option> options;
  while (!query.empty()) {
    const auto part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    const auto equals = part.find('=');
    options.push_back({part.substr(0, equals), equals == std::string_view::npos ? "" : part.substr(equals + 1)});
  }
  return options;
}

Error bad_option(const Option& option, std::string_view allowed) {
  if (may_hold_password(option.value)) return invalid(fmt::format("store option {}: {}", option.name, allowed));
  return invalid(fmt::format("store option {}={}: {}", option.name, quoted(option.value), allowed));
}

// PostgreSQL cuts a name after 63 bytes, and NAME_internal has to fit, too.
bool is_schema_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 54 && (name[0] < '0' || name[0] > '9') &&
         std::all_of(name.begin(), name.end(), fits) && !name.starts_with("pg_");
}

Result<void> take_sqlite_option(StoreUrl& url, const Option& option) {
  if (option.name != "synchronous") {
    return invalid(
        fmt::format("unknown option {} for a sqlite store: write synchronous=full|normal", quoted(option.name)));
  }
  if (option.value != "full" && option.value != "normal") return bad_option(option, "write full or normal");
  url.durable = option.value == "full";
  return {};
}

// Removes our own options; all others belong to libpq and stay in the URL.
Result<bool> take_postgres_option(StoreUrl& url, const Option& option) {
  if (option.name == "schema") {
    if (!is_schema_name(option.value)) {
      return bad_option(option, "a schema name has lower-case letters, digits and _, and does not begin with pg_");
    }
    url.schema = option.value;
  } else if (option.name == "prepare") {
    if (option.value != "auto" && option.value != "off") return bad_option(option, "write auto or off");
    url.prepare = option.value == "off" ? StoreUrl::Prepare::off : StoreUrl::Prepare::automatic;
  } else if (option.name == "pool") {
    const auto* end = option.value.data() + option.value.size();
    const auto parsed = std::from_chars(option.value.data(), end, url.pool);
    if (parsed.ec != std::errc() || parsed.ptr != end || url.pool < 1 || url.pool > 100) {
      return bad_option(option, "write a number from 1 to 100");
    }
  } else if (option.name == "synchronous") {
    if (option.value != "full") return bad_option(option, "grants on PostgreSQL are always durable; write full");
  } else {
    return false;
  }
  return true;
}

Result<StoreUrl> parse_sqlite(std::string_view rest) {
  StoreUrl url{.kind = StoreUrl::Kind::sqlite};
  const auto question = rest.find('?');
  url.path = rest.substr(0, question);
  if (url.path.starts_with("///")) url.path.erase(0, 2);  // sqlite:///abs/path, as other programs write it
  if (url.path.empty()) return invalid("the sqlite store has no path: write sqlite:PATH or sqlite::memory:");
  if (url.path.find('\0') != std::string::npos) return invalid("the path of the sqlite store has a NUL byte");
  if ((url.path.starts_with("//") || url.path.find("://") != std::string::npos) && may_hold_password(url.path)) {
    return invalid(fmt::format("the sqlite path looks like the address of a server ({}): {}", not_shown, forms));
  }
  const auto query = question == std::string_view::npos ? std::string_view{} : rest.substr(question + 1);
  for (const auto& option : split_options(query)) {
    if (auto taken = take_sqlite_option(url, option); !taken) return std::move(taken).error();
  }
  return url;
}

Result<StoreUrl> parse_postgres(std::string_view text) {
  StoreUrl url{.kind = StoreUrl::Kind::postgres};
  const auto question = text.find('?');
  url.conninfo = text.substr(0, question);
  if (text.find('\0') != std::string_view::npos) return invalid("the postgresql URL has a NUL byte");
  const auto query = question == std::string_view::npos ? std::string_view{} : text.substr(question + 1);
  char separator = '?';
  for (const auto& option : split_options(query)) {
    auto taken = take_postgres_option(url, option);
    if (!taken) return std::move(taken).error();
    if (*taken) continue;
    url.conninfo += fmt::format("{}{}={}", separator, option.name, option.value);
    separator = '&';
  }
  return url;
}

}  // namespace

bool may_hold_password(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : static_cast<char>(c);
  });
  const auto at = lower.rfind('@');
  const bool has_user_part = at != std::string::npos && lower.find(':') < at;
  return has_user_part || lower.find("password=") != std::string::npos || lower.find("passwd=") != std::string::npos;
}

Result<StoreUrl> parse_store_url(std::string_view text) {
  if (text.starts_with("sqlite:")) return parse_sqlite(text.substr(7));
  if (text.starts_with("postgresql://") || text.starts_with("postgres://")) return parse_postgres(text);
  const auto scheme = text.substr(0, text.find(':'));
  const bool is_word = std::all_of(scheme.begin(), scheme.end(), is_in_word);
  if (!is_word && may_hold_password(text))
    return invalid(fmt::format("this is not a store URL ({}): {}", not_shown, forms));
  if (scheme.size() == text.size()) return invalid(fmt::format("{} is not a store URL: {}", quoted(text), forms));
  return invalid(fmt::format("unknown store {}: {}", quoted(scheme), forms));
}

}  // namespace leasehold

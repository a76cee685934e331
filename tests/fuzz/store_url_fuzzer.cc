// Where a store is, as users write it.
#include "core/store_url.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "fuzz/property.h"

namespace leasehold::fuzz {
namespace {

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

void check_sqlite(const StoreUrl& url) {
  require(!url.path.empty() && !has_nul(url.path), "a sqlite store has a path that can be opened");
  // Of a path with more slashes than any system needs, each reading takes two away.
  if (url.path.starts_with("///")) return;
  const auto again = parse_store_url("sqlite:" + url.path + (url.durable ? "" : "?synchronous=normal"));
  require(again.ok() && again->kind == StoreUrl::Kind::sqlite, "a path that was read can be written");
  require(again->path == url.path && again->durable == url.durable, "a sqlite URL is read as it was written");
}

/// The names of the options that are left for libpq.
bool leaves(const StoreUrl& url, std::string_view option) {
  const auto question = url.conninfo.find('?');
  if (question == std::string::npos) return false;
  std::string options = url.conninfo.substr(question);
  options.front() = '&';
  return options.find("&" + std::string(option) + "=") != std::string::npos;
}

void check_postgres(const StoreUrl& url) {
  require(!has_nul(url.conninfo), "libpq reads all of its URL");
  require(url.pool >= 1 && url.pool <= 100, "a pool has 1 to 100 connections");
  for (const auto* ours : {"schema", "prepare", "pool", "synchronous"}) {
    require(!leaves(url, ours), "libpq never sees an option of ours");
  }
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  require(!url.schema.empty() && std::all_of(url.schema.begin(), url.schema.end(), fits), "a schema needs no quotes");
  const auto again = parse_store_url(url.conninfo);
  require(again.ok() && again->conninfo == url.conninfo, "what is left for libpq stays as it is");
  require(again->schema == "leasehold" && again->pool == StoreUrl{}.pool, "our options are taken out once");
}

void check_url(std::string_view text) {
  const auto url = parse_store_url(text);
  if (!url) {
    require(url.error().code == Errc::invalid_argument, "what is no URL is an invalid argument");
    require(is_utf8(url.error().message) || !is_utf8(text), "a message about text is text");
    return;
  }
  if (url->kind == StoreUrl::Kind::sqlite) {
    check_sqlite(*url);
  } else {
    check_postgres(*url);
  }
}

/// Logs and bug reports have messages in them.
void check_secret(std::string_view scheme, std::string_view rest) {
  constexpr std::string_view secret = "hunter2-and-more";
  // Where the password would stand in an option, or twice.
  if (scheme.find('?') != std::string_view::npos || scheme.find(secret) != std::string_view::npos ||
      rest.find(secret) != std::string_view::npos) {
    return;
  }
  std::string text(scheme);
  text.append("://ann:").append(secret).append("@db/").append(rest);
  const auto url = parse_store_url(text);
  require(url.ok() || url.error().message.find(secret) == std::string::npos, "a message never repeats the password");
  const auto words = std::string(scheme) + " password=" + std::string(secret) + " " + std::string(rest);
  const auto listed = parse_store_url(words);
  require(listed.ok() || listed.error().message.find(secret) == std::string::npos,
          "a message never repeats a password among settings");
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  Input input(data, size);
  check_url(input.rest());
  const auto scheme = input.part(':');
  check_secret(scheme, input.rest());
  return 0;
}

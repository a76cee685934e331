#include "wire/json.h"

#include <fmt/format.h>

// The library itself is header-only here: its one compiled copy is in this file.
#include <algorithm>
#include <boost/json/src.hpp>

#include "base/text.h"

namespace leasehold::wire {
namespace {

/// Length of the UTF-8 sequence at the start of `bytes`, 0 if there is none.
std::size_t sequence_length(std::string_view bytes) {
  for (std::size_t length = 1; length <= std::min<std::size_t>(4, bytes.size()); ++length) {
    if (is_utf8(bytes.substr(0, length))) return length;
  }
  return 0;
}

void render_into(std::string& out, const boost::json::value& value);

void render_into(std::string& out, const boost::json::object& object) {
  out += '{';
  for (const auto& [key, member] : object) {
    if (out.back() != '{') out += ',';
    out += boost::json::serialize(boost::json::string_view(key));
    out += ':';
    render_into(out, member);
  }
  out += '}';
}

void render_into(std::string& out, const boost::json::value& value) {
  if (const auto* object = value.if_object()) {
    render_into(out, *object);
  } else if (const auto* number = value.if_double()) {
    out += fmt::format("{}", *number);
  } else {
    out += boost::json::serialize(value);
  }
}

}  // namespace

std::string render(const boost::json::value& value) {
  std::string out;
  render_into(out, value);
  return out;
}

boost::json::string text(std::string_view bytes) {
  boost::json::string clean;
  clean.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    clean.append(length > 0 ? bytes.substr(0, length) : std::string_view("\xEF\xBF\xBD"));
    bytes.remove_prefix(length > 0 ? length : 1);
  }
  return clean;
}

boost::json::value seconds(Duration span) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(span);
  if (whole == span) return std::int64_t{whole.count()};
  return std::chrono::duration<double>(span).count();
}

boost::json::string timestamp(Timestamp when) { return boost::json::string(leasehold::to_string(when)); }

}  // namespace leasehold::wire

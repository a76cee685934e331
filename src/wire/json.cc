#include "wire/json.h"

#include <fmt/format.h>

// The library itself is header-only here: its one compiled copy is in this file.
#include <algorithm>
#include <boost/json/src.hpp>

#include "base/json_check.h"
#include "base/text.h"
#include "wire/base64.h"

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

void render_into(std::string& out, const boost::json::array& array) {
  out += '[';
  for (const auto& item : array) {
    if (&item != array.begin()) out += ',';
    render_into(out, item);
  }
  out += ']';
}

void render_into(std::string& out, const boost::json::value& value) {
  if (const auto* object = value.if_object()) {
    render_into(out, *object);
  } else if (const auto* array = value.if_array()) {
    render_into(out, *array);
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

std::string with_members(std::string object,
                         std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  object.pop_back();
  for (const auto& [key, value] : members) object.append(fmt::format(",\"{}\":{}", key, value));
  return object + '}';
}

std::string as_it_is(std::string_view kept) {
  if (!is_json(kept)) return render(text(kept));
  std::string line(kept);
  // Between the parts of JSON a line break is a blank, and inside a string there is none.
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
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

boost::json::value seconds_from_now(BootTime until) {
  return seconds(std::max(until - BootClock::now(), Duration::zero()));
}

boost::json::string timestamp(Timestamp when) { return boost::json::string(leasehold::to_string(when)); }

boost::json::array texts(const std::vector<std::string>& list) {
  boost::json::array out;
  for (const auto& one : list) out.push_back(text(one));
  return out;
}

boost::json::value text_or_null(std::string_view value) {
  return value.empty() ? boost::json::value(nullptr) : boost::json::value(text(value));
}

boost::json::value number_or_null(std::int64_t value) {
  return value == 0 ? boost::json::value(nullptr) : boost::json::value(value);
}

boost::json::value timestamp_or_null(const std::optional<Timestamp>& when) {
  return when ? boost::json::value(timestamp(*when)) : boost::json::value(nullptr);
}

void put_bytes(boost::json::object& object, std::string_view key, std::string_view bytes) {
  if (is_utf8(bytes)) {
    object[key] = bytes;
  } else {
    object[std::string(key) + "_base64"] = to_base64(bytes);
  }
}

boost::json::object encode(const Holder& holder) {
  return {{"name", text(holder.name)},
          {"host", text(holder.host)},
          {"pid", number_or_null(holder.pid)},
          {"tty", text_or_null(holder.tty)},
          {"boot_id", text_or_null(holder.boot_id)},
          {"process_start", number_or_null(holder.process_start)},
          {"instance", text_or_null(holder.instance)}};
}

}  // namespace leasehold::wire

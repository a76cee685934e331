#include "core/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invalid.h"
#include "base/text.h"
#include "core/duration.h"

namespace leasehold {
namespace {

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

}  // namespace

Result<void> check_name(std::string_view what, std::string_view name) {
  if (name.empty()) return invalid(fmt::format("the {} is empty", what));
  if (name.size() > max_name_bytes) {
    return invalid(
        fmt::format("the {} has {} bytes, {} are allowed: {}", what, name.size(), max_name_bytes, quoted(name)));
  }
  if (has_control_character(name)) return invalid(fmt::format("the {} has control characters: {}", what, quoted(name)));
  if (!is_utf8(name)) return invalid(fmt::format("the {} is not UTF-8: {}", what, quoted(name)));
  return {};
}

Result<void> check_text(std::string_view what, std::string_view text) {
  if (auto checked = check_size(what, text.size(), max_text_bytes); !checked) return checked;
  if (text.find('\0') != std::string_view::npos || !is_utf8(text)) {
    return invalid(fmt::format("the {} is not UTF-8 text: {}", what, quoted(text)));
  }
  return {};
}

Result<void> check_ttl(Duration ttl) {
  if (ttl < min_ttl || ttl > max_ttl) {
    return invalid(fmt::format("a ttl of {} is not between {} and {}", format_duration(ttl), format_duration(min_ttl),
                               format_duration(max_ttl)));
  }
  return {};
}

Result<void> check_wait(Duration wait) {
  if (wait >= Duration(0)) return {};
  return invalid(fmt::format("a time to wait of {} is negative", format_duration(wait)));
}

Duration bounded_wait(Duration wait) { return std::min(wait, max_wait); }

Result<void> check_range(std::string_view what, std::int64_t value, std::int64_t lowest, std::int64_t highest) {
  if (value >= lowest && value <= highest) return {};
  return invalid(fmt::format("a {} of {} is not between {} and {}", what, value, lowest, highest));
}

Result<void> check_size(std::string_view what, std::size_t bytes, std::size_t most) {
  if (bytes <= most) return {};
  return invalid(fmt::format("the {} has {} bytes, {} are allowed", what, bytes, most));
}

Result<void> check_limit(int limit) {
  if (limit < 1) return invalid(fmt::format("a limit of {} shows nothing: write 1 or more", limit));
  return {};
}

Result<void> check_holder(const Holder& holder) {
  if (auto name = check_name("holder name", holder.name); !name) return name;
  for (const auto* text : {&holder.host, &holder.boot_id, &holder.tty, &holder.instance}) {
    if (auto checked = check_text("holder", *text); !checked) return checked;
  }
  return {};
}

BootTime trusted_until(BootTime before_sending, Duration ttl, Duration remaining) {
  const auto margin = std::clamp<Duration>(ttl / 20, std::chrono::milliseconds(5), std::chrono::seconds(1));
  return before_sending + std::min(ttl, remaining) - margin;
}

}  // namespace leasehold

#include "model/field.h"

#include <fmt/format.h>
#include <algorithm>
#include <string>

#include "base/text.h"
#include "model/bounds.h"
#include "model/describe.h"

namespace leasehold::model {
namespace {

struct IsEmpty {
  bool operator()(std::monostate) const { return true; }
  bool operator()(bool) const { return false; }
  bool operator()(std::int64_t number) const { return number == 0; }
  bool operator()(Duration span) const { return span == Duration::zero(); }
  bool operator()(Timestamp when) const { return when == Timestamp{}; }
  bool operator()(const Object&) const { return false; }
  template <typename List>
  bool operator()(const List& list) const {
    return list.empty();
  }
};

}  // namespace

Value value_of(const Field& field, const void* object) {
  auto value = field.get(object);
  if (field.empty_is_none && std::visit(IsEmpty{}, value)) return {};
  return value;
}

namespace {

/// "max_failures" and "ttl_seconds" as words for messages.
std::string spoken(std::string_view name) {
  constexpr std::string_view unit = "_seconds";
  if (name.ends_with(unit)) name.remove_suffix(unit.size());
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// `around` names the enclosing object: "backoff ".
Result<void> check_within(const Field& field, std::int64_t measured, const std::string& around) {
  const auto& [min, max] = *field.within;
  if (measured >= min && measured <= max) return {};
  const auto what = around + spoken(field.name);
  switch (field.kind) {
    case Kind::duration: return check_span(what, Duration(measured), Duration(min), Duration(max));
    case Kind::integer: return check_range(what, measured, min, max);
    case Kind::texts:
    case Kind::integers:
      return invalid(fmt::format("the list of {} has {} entries, {} are allowed", what, measured, max));
    default: return check_size(what, static_cast<std::size_t>(measured), static_cast<std::size_t>(max));
  }
}

Result<void> check_fields_in(const Object& object, const std::string& around) {
  for (const auto& field : object.type.fields) {
    const auto measured = field.within ? field.measure(object.at) : std::nullopt;
    if (measured) {
      if (auto checked = check_within(field, *measured, around); !checked) return checked;
    }
    if (field.kind != Kind::object) continue;
    const auto value = field.get(object.at);
    if (const auto* part = std::get_if<Object>(&value)) {
      if (auto checked = check_fields_in(*part, around + spoken(field.name) + " "); !checked) return checked;
    }
  }
  return {};
}

}  // namespace

Result<void> check_fields(const Object& object) { return check_fields_in(object, ""); }

Duration time_left(BootTime until) { return std::max(until - BootClock::now(), Duration::zero()); }

std::int64_t whole_minutes(Duration span) { return std::chrono::duration_cast<std::chrono::minutes>(span).count(); }

}  // namespace leasehold::model

#include "model/field.h"

#include <fmt/format.h>
#include <algorithm>
#include <string>

#include "base/json.h"
#include "base/text.h"
#include "model/bounds.h"
#include "model/describe.h"
#include "model/errors.h"

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
std::string words_of_name(std::string_view name) {
  constexpr std::string_view unit = "_seconds";
  if (name.ends_with(unit)) name.remove_suffix(unit.size());
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string spoken(const Field& field) {
  return field.label.empty() ? words_of_name(field.name) : std::string(field.label);
}

/// The fields around the one that is checked. Only an error needs their words: a batch has thousands of fields.
struct Around {
  const Field* field = nullptr;
  const Around* outer = nullptr;
};

/// "backoff "
std::string words_of(const Around* around) {
  return around == nullptr ? "" : words_of(around->outer) + spoken(*around->field) + " ";
}

Result<void> check_within(const Field& field, std::int64_t measured, const Around* around) {
  const auto& [min, max] = *field.within;
  if (measured >= min && measured <= max) return {};
  const auto what = words_of(around) + spoken(field);
  switch (field.kind) {
    case Kind::duration: return check_span(what, Duration(measured), Duration(min), Duration(max));
    case Kind::integer: return check_range(what, measured, min, max);
    case Kind::timestamp: return check_moment(what, Timestamp(Duration(measured)));
    case Kind::texts:
    case Kind::integers:
      return invalid(fmt::format("the list of {} has {} entries, {} are allowed", what, measured, max));
    default: return check_size(what, static_cast<std::size_t>(measured), static_cast<std::size_t>(max));
  }
}

Result<void> check_form(Form form, const std::string& what, const std::string& text) {
  switch (form) {
    case Form::any: return {};
    case Form::name: return check_name(what, text);
    case Form::text: return check_utf8(what, text);
    case Form::json:
      return is_json(text) ? Result<void>() : invalid(fmt::format("the {} must be JSON: {}", what, quoted(text)));
  }
  return {};
}

Result<void> check_texts(const Field& field, const void* object, const Around* around) {
  if (field.form == Form::any || field.texts == nullptr) return {};
  const bool is_list = field.kind == Kind::texts;
  for (const auto& text : field.texts(object)) {
    if (text.empty() && field.empty_is_none && !is_list) continue;
    if (check_form(field.form, "", text)) continue;
    return check_form(field.form, words_of(around) + (is_list ? "entry of " : "") + spoken(field), text);
  }
  return {};
}

bool has_value(const Object& object, std::string_view name) {
  const auto found = std::find_if(object.type.fields.begin(), object.type.fields.end(),
                                  [&](const Field& f) { return f.name == name; });
  return found != object.type.fields.end() && !std::holds_alternative<std::monostate>(value_of(*found, object.at));
}

Result<void> check_rival(const Field& field, const Object& object) {
  if (field.rival.empty() || !has_value(object, field.name) || !has_value(object, field.rival)) return {};
  return invalid(
      fmt::format("{} and {} exclude each other: set one of them", spoken(field), words_of_name(field.rival)));
}

Result<void> check_fields_in(const Object& object, const Around* around);

Result<void> check_field(const Field& field, const Object& object, const Around* around) {
  if (const auto measured = field.within ? field.measure(object.at) : std::nullopt) {
    if (auto checked = check_within(field, *measured, around); !checked) return checked;
  }
  if (auto checked = check_texts(field, object.at, around); !checked) return checked;
  if (auto checked = check_rival(field, object); !checked) return checked;
  if (field.type == nullptr) return {};
  const auto value = field.get(object.at);
  const Around own{.field = &field, .outer = around};
  const auto* inner = field.kind == Kind::inlined ? around : &own;
  if (const auto* part = std::get_if<Object>(&value)) return check_fields_in(*part, inner);
  if (const auto* parts = std::get_if<std::vector<Object>>(&value)) {
    for (std::size_t i = 0; i < parts->size(); ++i) {
      auto checked = check_fields_in((*parts)[i], inner);
      if (!checked) return about_element(i, std::move(checked).error());
    }
  }
  return {};
}

Result<void> check_fields_in(const Object& object, const Around* around) {
  for (const auto& field : object.type.fields) {
    if (auto checked = check_field(field, object, around); !checked) {
      return field.kind == Kind::inlined ? checked : about_field(field.name, std::move(checked).error());
    }
  }
  return {};
}

}  // namespace

Result<void> check_fields(const Object& object) { return check_fields_in(object, nullptr); }

Duration time_left(BootTime until) { return std::max(until - BootClock::now(), Duration::zero()); }

std::int64_t whole_minutes(Duration span) { return std::chrono::duration_cast<std::chrono::minutes>(span).count(); }

}  // namespace leasehold::model

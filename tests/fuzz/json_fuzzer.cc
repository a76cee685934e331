// JSON that is kept as it was written: what is JSON, one member of it, and short lists. Boost.JSON is the second
// opinion.
#include <boost/json/parse.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "fuzz/property.h"
#include "wire/json.h"

namespace leasehold::fuzz {
namespace {

namespace json = boost::json;

struct Opinion {
  std::optional<json::value> value;
  json::error_code error;
};

Opinion boosts_opinion(std::string_view text) {
  constexpr std::size_t deepest = 1000;
  Opinion opinion;
  auto value = json::parse(json::string_view(text.data(), text.size()), opinion.error, {}, {.max_depth = deepest});
  if (!opinion.error) opinion.value = std::move(value);
  return opinion;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Boost makes values of what it reads, and refuses texts it has no value for. We only look at the form: a number may
/// have any size, and half of a surrogate pair is four digits.
bool is_about_meaning(std::string_view text, const json::error_code& error) {
  return has(text, "\\ud") || has(text, "\\uD") || error == json::error::exponent_overflow;
}

void check_form(std::string_view text, const Opinion& opinion) {
  if (is_json(text)) {
    require(opinion.value || is_about_meaning(text, opinion.error), "what we take as JSON, Boost takes, too");
    require(is_utf8(text), "JSON is UTF-8");
  } else {
    require(!opinion.value, "what Boost takes as JSON, we take, too");
  }
  const auto line = wire::as_it_is(text);
  require(is_json(line) && line.find('\n') == std::string::npos, "any bytes become one line of JSON");
}

void check_member(std::string_view text, const json::object& object) {
  // Two spellings of one name are one member for Boost.
  const bool one_spelling = !has(text, "\\u") && !has(text, "\\/");
  for (const auto& member : object) {
    const auto written = json_member(text, {member.key().data(), member.key().size()});
    // A name that is written with escapes is not found, by promise.
    if (!written && has(text, "\\")) continue;
    require(written.has_value(), "a member that is there is found");
    const auto value = boosts_opinion(*written).value;
    require(value.has_value(), "a member is JSON by itself");
    if (one_spelling) require(*value == member.value(), "a member is the one of that name");
  }
  const auto* stranger = "no such member";
  if (!object.contains(stranger)) require(!json_member(text, stranger), "a member that is not there is not found");
}

void check_texts(Input input) {
  std::vector<std::string> texts;
  while (!input.empty()) texts.emplace_back(input.part('\n'));
  const auto array = json_from_texts(texts);
  require(texts_from_json(array) == texts, "a list of texts comes back as it was");
  require(is_json(array) == is_utf8(array), "a list of texts is JSON");
}

void check_lists(std::string_view text) {
  std::size_t bytes = 0;
  for (const auto& one : texts_from_json(text)) bytes += one.size();
  require(bytes <= text.size(), "a list has no more than was written");
  require(integers_from_json(text).size() <= text.size(), "a list has no more numbers than digits");
}

void check_integers(Input input) {
  std::vector<std::int64_t> numbers;
  std::string array = "[";
  while (!input.empty()) {
    numbers.push_back(input.number<std::int64_t>());
    array += (array.size() > 1 ? "," : "") + std::to_string(numbers.back());
  }
  require(integers_from_json(array + "]") == numbers, "a list of numbers comes back as it was");
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  const Input input(data, size);
  const auto opinion = boosts_opinion(input.rest());
  check_form(input.rest(), opinion);
  const auto* object = opinion.value ? opinion.value->if_object() : nullptr;
  if (object != nullptr) check_member(input.rest(), *object);
  check_texts(input);
  check_lists(input.rest());
  check_integers(input);
  return 0;
}

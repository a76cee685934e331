// JSON that is kept as it was written: what is JSON, one member of it, and short lists. SQLite, which has to take what
// we store, is the second opinion.
#include <sqlite3.h>

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/json_text.h"
#include "base/text.h"
#include "fuzz/property.h"

namespace leasehold::fuzz {
namespace {

namespace json = boost::json;

sqlite3_stmt* validity() {
  sqlite3* connection = nullptr;
  sqlite3_stmt* statement = nullptr;
  const bool ready = sqlite3_open(":memory:", &connection) == SQLITE_OK &&
                     sqlite3_prepare_v2(connection, "SELECT json_valid(?1)", -1, &statement, nullptr) == SQLITE_OK;
  require(ready, "SQLite knows JSON");
  return statement;
}

bool sqlite_takes(std::string_view text) {
  static auto* const statement = validity();
  sqlite3_bind_text(statement, 1, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  const bool valid = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == 1;
  sqlite3_reset(statement);
  return valid;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// SQLite reads up to a NUL and only looks at the form: it takes half of a surrogate pair, any exponent, 2000 levels,
/// and bytes that are no text.
bool sqlite_is_lax(std::string_view text, std::string_view error) {
  return has(text, "\\ud") || has(text, "\\uD") || error == "exponent overflow" || error == "too deep" ||
         text.find('\0') != std::string_view::npos || !is_utf8(text);
}

void check_form(std::string_view text, const Result<json::value>& value) {
  require(is_json(text) == value.ok(), "what is JSON has a value");
  if (value) {
    require(sqlite_takes(text), "what we take as JSON, SQLite takes, too");
    require(is_utf8(text), "JSON is UTF-8");
  } else {
    require(!sqlite_takes(text) || sqlite_is_lax(text, value.error().message),
            "what SQLite takes as JSON, we take, too");
  }
  const auto line = json_line(text);
  require(is_json(line) && line.find('\n') == std::string::npos, "any bytes become one line of JSON");
}

void check_member(std::string_view text, const json::object& object) {
  for (const auto& member : object) {
    const auto written = json_member(text, member.key());
    require(written.has_value(), "a member that is there is found");
    const auto value = parse_json(*written);
    require(value.ok(), "a member is JSON by itself");
    require(*value == member.value(), "a member is the one of that name");
  }
  const auto* stranger = "no such member";
  if (!object.contains(stranger)) require(!json_member(text, stranger), "a member that is not there is not found");
}

void check_texts(Input input) {
  std::vector<std::string> texts;
  while (!input.empty()) texts.emplace_back(input.part('\n'));
  const auto array = json_from_texts(texts);
  require(is_json(array) == is_utf8(array), "a list of texts is JSON");
  if (is_json(array)) require(texts_from_json(array) == texts, "a list of texts comes back as it was");
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
  const auto value = leasehold::parse_json(input.rest());
  check_form(input.rest(), value);
  const auto* object = value ? value->if_object() : nullptr;
  if (object != nullptr) check_member(input.rest(), *object);
  check_texts(input);
  check_lists(input.rest());
  check_integers(input);
  return 0;
}

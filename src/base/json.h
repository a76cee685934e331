// The only JSON reader, on Boost.JSON: it checks texts that are stored byte for byte, and reads values, lists and
// members.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/result.h"

namespace boost::json {
class value;
}

namespace leasehold {

/// One value of RFC 8259 with blanks around it, in UTF-8, nested at most 1000 deep: the form that every store and every
/// common reader accepts. So it refuses half of a surrogate pair (\ud800) and an exponent beyond 31 bits.
bool is_json(std::string_view text);
/// JSON, and an object.
bool is_json_object(std::string_view text);

/// Parses any text that is_json() accepts. For any other text the error names the problem.
Result<boost::json::value> parse_json(std::string_view text);

// Short lists as a store keeps them: a JSON array of texts or of integers in one column.
std::string json_from_texts(const std::vector<std::string>& texts);

/// Skips elements of another type; empty if the text is not an array.
std::vector<std::string> texts_from_json(std::string_view array);
std::vector<std::int64_t> integers_from_json(std::string_view array);

// Parts of JSON as they are written, for texts that are kept byte for byte: a parsed value would round its numbers. The
// argument must be JSON: is_json() has accepted it, or a text that it is part of. Nothing is returned if it is of
// another type.

struct JsonMember {
  std::string_view key{};  ///< with its quotes
  std::string_view written{};
};
std::optional<std::vector<JsonMember>> json_members(std::string_view object);
std::optional<std::vector<std::string_view>> json_elements(std::string_view array);

/// The member of this name; the last one if there are several.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);
/// The members of an object as texts: a string as itself, null as nothing, any other value as written.
std::optional<std::vector<std::pair<std::string, std::optional<std::string>>>> texts_of_object(std::string_view object);

/// The text that a JSON string in quotes stands for.
std::string json_text(std::string_view written);

}  // namespace leasehold

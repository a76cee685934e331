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

/// The bytes of an object's member as written, for texts that are stored byte for byte: a parsed value would round its
/// numbers. `object` is JSON; nothing if it is not an object or has no such member. If the name occurs several times,
/// the last one counts.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);
/// The members of an object as texts: a string as itself, null as nothing, any other value as written. Nothing if the
/// text is no object. `object` is JSON.
std::optional<std::vector<std::pair<std::string, std::optional<std::string>>>> texts_of_object(std::string_view object);
/// The same for the elements of an array; nothing if the text is not an array. `array` is JSON.
std::optional<std::vector<std::string_view>> json_elements(std::string_view array);

}  // namespace leasehold

// The one reader of JSON, on Boost.JSON: checks texts that are kept byte for byte, and reads values, lists and members.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"

namespace boost::json {
class value;
}

namespace leasehold {

/// One value of RFC 8259 with blanks around it, in UTF-8, nested at most 1000 deep: what every store and every common
/// reader takes. So half of a surrogate pair (\ud800) is refused, and an exponent beyond 31 bits.
bool is_json(std::string_view text);

/// What is_json() takes, as a value. The error says what is wrong with anything else.
Result<boost::json::value> parse_json(std::string_view text);

// Short lists as a store keeps them: a JSON array of texts or of integers in one column.
std::string json_from_texts(const std::vector<std::string>& texts);

/// Elements of another type are passed over; what is no array has none.
std::vector<std::string> texts_from_json(std::string_view array);
std::vector<std::int64_t> integers_from_json(std::string_view array);

/// A member of an object as it is written, for what is kept byte for byte: a value would round its numbers. `object` is
/// JSON; nothing where it is no object or has no such member. Of several with that name the last counts.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);

}  // namespace leasehold

// Is it JSON? Texts that are kept byte for byte are looked at once, before they are stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

/// One value of RFC 8259 with blanks around it, in UTF-8, nested at most 1000 deep: what every store and every
/// common reader takes.
bool is_json(std::string_view text);

// Short lists as a store keeps them: a JSON array of texts or of integers in one column.
std::string json_from_texts(const std::vector<std::string>& texts);

/// Reads what our own statements make; of anything else, as much as makes sense.
std::vector<std::string> texts_from_json(std::string_view array);
std::vector<std::int64_t> integers_from_json(std::string_view array);

// A piece of a JSON object as it is written, for what has to be kept byte for byte.

/// The value of a member, out of an object that is_json() has looked at; nothing where there is no such member or no
/// object. Of several with that name the last counts. A name that is written with escapes is not found.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);

}  // namespace leasehold

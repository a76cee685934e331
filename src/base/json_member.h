// A piece of a JSON object as it is written, for what has to be kept byte for byte.
#pragma once

#include <optional>
#include <string_view>

namespace leasehold {

/// The value of a member, out of an object that is_json() has looked at; nothing where there is no such member or no
/// object. Of several with that name the last counts. A name that is written with escapes is not found.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);

}  // namespace leasehold

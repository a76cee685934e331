// Small questions about text.
#pragma once

#include <string>
#include <string_view>

namespace leasehold {

/// Well-formed UTF-8, without overlong forms and surrogates.
bool is_utf8(std::string_view text);

/// For error messages: quoted, control characters and broken bytes escaped, cut after 60 bytes.
std::string quoted(std::string_view text);

}  // namespace leasehold

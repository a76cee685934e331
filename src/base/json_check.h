// Is it JSON? Texts that are kept byte for byte are looked at once, before they are stored.
#pragma once

#include <string_view>

namespace leasehold {

/// One value of RFC 8259 with blanks around it, in UTF-8, nested at most 1000 deep: what every store and every
/// common reader takes.
bool is_json(std::string_view text);

}  // namespace leasehold

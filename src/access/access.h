// The state of Access, and the secrets of API tokens.
#pragma once

#include <string>
#include <string_view>

#include "lease/call.h"
#include "leasehold/access.h"

namespace leasehold {

struct Access::Impl : lease::StoreAccess {};

namespace access {

/// "lht_" and 43 random letters and digits: 256 bits.
std::string new_secret();

/// Whether it can be a secret at all; most other texts in its place are not sent to the store.
bool is_secret(std::string_view text);

/// `invalid_argument`, with the pattern in the message, unless it is "*" or "KIND:NAME".
Result<void> check_pattern(std::string_view pattern);

}  // namespace access
}  // namespace leasehold

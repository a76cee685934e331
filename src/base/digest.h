// Names that nobody else draws.
#pragma once

#include <string>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold {

/// 16 hex digits of randomness.
std::string random_hex();

/// For request ids: a coarse time in front keeps neighbours in an index together, the rest is random.
std::string random_request_id();

// Fingerprints of what people have planned.

/// 64 lower-case hexadecimal digits. An error only where libcrypto was built or set up without SHA-256.
Result<std::string> sha256_hex(std::string_view bytes);

}  // namespace leasehold

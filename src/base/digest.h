// Random names, unique in practice.
#pragma once

#include <string>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold {

/// 16 hex digits of randomness.
std::string random_hex();

/// For request ids: the coarse time prefix keeps neighbours together in an index, the rest is random.
std::string random_request_id();

// Fingerprints of plans.

/// 64 lower-case hexadecimal digits. Fails only if libcrypto was built or configured without SHA-256.
Result<std::string> sha256_hex(std::string_view bytes);

}  // namespace leasehold

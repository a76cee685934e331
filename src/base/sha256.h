// Fingerprints of what people have planned.
#pragma once

#include <string>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold {

/// 64 lower-case hexadecimal digits. An error only where libcrypto was built or set up without SHA-256.
Result<std::string> sha256_hex(std::string_view bytes);

}  // namespace leasehold

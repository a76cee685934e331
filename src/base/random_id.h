// Names that nobody else draws.
#pragma once

#include <string>

namespace leasehold {

/// 16 hex digits of randomness.
std::string random_hex();

/// For request ids: a coarse time in front keeps neighbours in an index together, the rest is random.
std::string random_request_id();

}  // namespace leasehold

// What every check says of an argument that cannot be meant.
#pragma once

#include <string>
#include <utility>

#include "leasehold/result.h"

namespace leasehold {

inline Error invalid(std::string message) { return {.code = Errc::invalid_argument, .message = std::move(message)}; }

}  // namespace leasehold

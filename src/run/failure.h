// What a system call that failed is told as.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "leasehold/result.h"

namespace leasehold::run {

/// Right after the call: why it failed stands in errno.
inline Error cannot(const char* what) {
  return {.code = Errc::internal, .message = fmt::format("cannot {}: {}", what, std::strerror(errno))};
}

}  // namespace leasehold::run

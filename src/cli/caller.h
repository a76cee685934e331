// Who holds what a command takes and leaves behind.
#pragma once

#include <string>

#include "leasehold/lease.h"

namespace leasehold::cli {

/// For `lock acquire` and `job claim`: this process is gone before anybody looks for the holder; the one that called it
/// (a shell, a script) is not. An empty name becomes "user@host:pid" of that one.
Holder calling_process(const std::string& name);

}  // namespace leasehold::cli

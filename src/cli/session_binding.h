// The process that a session stands for, so that its end is seen at once on this host.
#pragma once

#include <cstdint>
#include <string>

#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold::cli {

/// A holder who is that process: boot id, pid and start time tell it from every later one. `not_found` where there is
/// no such process. An empty name becomes "user@host:pid".
Result<Holder> holder_in_process(std::int64_t pid, const std::string& name);

}  // namespace leasehold::cli

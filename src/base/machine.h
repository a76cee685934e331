// Which machine and which boot this is.
#pragma once

#include <string>

#include "base/clock.h"

namespace leasehold {

/// Read from the kernel once per process.
const MachineFacts& this_machine();

std::string host_name();

/// The first line of a small file, without its newline; empty if it cannot be read.
std::string first_line_of(const std::string& path);

}  // namespace leasehold

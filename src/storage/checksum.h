// Tells whether a migration's text was edited after it had been applied.
#pragma once

#include <string>
#include <string_view>

namespace leasehold::storage {

/// FNV-1a with 64 bits, as 16 hexadecimal digits: the same on every machine, and small enough to read.
/// It notices edits and accidents; it is no protection against somebody who wants to fool it.
std::string checksum(std::string_view text);

}  // namespace leasehold::storage

// What a command is told of the locks that it runs under, and what a leasehold inside of it makes of that.
//
//   lock run deploy -- sh -c 'leasehold lock run deploy -- ...'      would wait for itself for ever
//
// The store refuses a thread that asks for what it has. A command is other processes than the one that took its lock,
// and any number of them: they are not the same holder, and may wait for each other. So each names in its environment
// those it runs inside of, and whoever takes a lock looks first whether one of these has it. In another store nobody
// has such a name: there it is harmless.
#pragma once

#include <string>
#include <vector>

#include "leasehold/lock.h"

namespace leasehold::cli {

/// NAME=VALUE: LEASEHOLD_KEY (the first name), _KEYS (all, one per line, where there are several), _TOKEN,
/// _EXPIRES_AT, _DB, _INSTANCE (the holder's) and _INSTANCES (of all holders it runs inside of, one per line).
std::vector<std::string> lock_environment(const Grant& grant, const std::vector<std::string>& names,
                                          const std::string& url);

/// `reentry`: what this runs inside of has one of the locks, and waiting for it would never end.
Result<void> check_reentry(const Locks& locks, const std::vector<std::string>& names,
                           const std::optional<Share>& share);

}  // namespace leasehold::cli

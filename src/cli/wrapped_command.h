// What `lock run` and `work` share: the command after the mark, and the store it is told of.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "leasehold/lease.h"
#include "run/process_tree.h"

namespace leasehold::cli {

/// As env, nohup and timeout have it: this tool failed, not the command.
inline constexpr int own_failure = 125;

/// Where the first `--` stands in the command line; its size if there is none.
std::size_t mark_position(const Context& context);

/// This tool, but for the process: `guard` is gone when the commands are, whatever happens to us.
Holder holder_guarded_by(const run::ProcessId& guard, const std::string& name);

/// For LEASEHOLD_DB: the command may change its folder before it calls leasehold itself.
std::string with_absolute_path(const std::string& url);

}  // namespace leasehold::cli

// Other processes of this host: is the one that wrote its pid somewhere still there?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace leasehold {

/// Where pids and start times mean the same as here: this boot, this pid namespace, this time namespace. Empty where
/// the kernel does not tell. It is the boot id of Holder::self().
const std::string& process_space();

enum class Liveness {
  alive,
  gone,  ///< ended, for certain: the pid is free or belongs to a later process
  cannot_tell,
};

/// Looks for a process of this process_space(). `process_start` as in Holder.
Liveness look_for_process(std::int64_t pid, std::int64_t process_start);

/// When a process of this process_space() began, as in Holder; nothing where there is none, or /proc does not tell.
std::optional<std::int64_t> start_of_process(std::int64_t pid);

}  // namespace leasehold

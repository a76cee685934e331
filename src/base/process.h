// Other processes of this host: is the one that wrote its pid somewhere still there?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace leasehold {

/// Where pids and start times mean the same as here: this boot, this pid namespace, this time namespace. Empty where
/// the kernel does not tell. It tells it to the processes of this machine only, so whoever knows it could look whether
/// a process is alive: it is what a store wants to see before it believes that one is gone.
const std::string& process_space();

/// What a store keeps and shows of a process space, which can be compared and proves nothing. The boot id of
/// Holder::self() is that of process_space(). Empty for an empty one.
std::string boot_id_of(const std::string& process_space);

enum class Liveness {
  alive,
  gone,  ///< ended, for certain: the pid is free or belongs to a later process
  cannot_tell,
};

/// Looks for a process of this process_space(). `process_start` as in Holder.
Liveness look_for_process(std::int64_t pid, std::int64_t process_start);

/// Program and arguments of a process; empty where /proc does not tell.
std::vector<std::string> command_line_of(std::int64_t pid);

/// When a process of this process_space() began, as in Holder; nothing where there is none, or /proc does not tell.
std::optional<std::int64_t> start_of_process(std::int64_t pid);

// Which machine and which boot this is.

/// Read from the kernel once per process.
const MachineFacts& this_machine();

std::string host_name();

/// The first line of a small file, without its newline; empty if it cannot be read.
std::string first_line_of(const std::string& path);

}  // namespace leasehold

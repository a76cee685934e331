// Checks whether another process of this host is still alive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace leasehold {

/// The scope in which pids and start times are comparable: this boot, this pid namespace, this time namespace. Empty if
/// the kernel does not provide it. Only processes of this machine can read it, so knowing it proves the ability to
/// check whether a process is alive: a store requires it before it believes that a process is gone.
const std::string& process_space();

/// The form of a process space that a store keeps and shows: comparable, but no proof. Empty for an empty process
/// space.
std::string boot_id_of(const std::string& process_space);

/// That of process_space(), and the boot id of Holder::self(). Computed once: every heartbeat of a session compares it.
const std::string& own_boot_id();

enum class Liveness {
  alive,
  gone,  ///< certainly ended: the pid is free or belongs to a later process
  cannot_tell,
};

/// Checks a process of this process_space(). `process_start` is as in Holder.
Liveness look_for_process(std::int64_t pid, std::int64_t process_start);

/// Program and arguments of a process; empty if /proc does not show them.
std::vector<std::string> command_line_of(std::int64_t pid);

/// The start time of a process of this process_space(), as in Holder; nothing if there is no such process or /proc does
/// not show it.
std::optional<std::int64_t> start_of_process(std::int64_t pid);

/// A process of this process_space(), with what kind of program it runs.
struct ProcessSpot {
  std::int64_t pid = 0;
  std::int64_t start = 0;  ///< as in Holder
  bool is_shell = false;
};

/// The caller, its parent, the parent's parent, and so on; without the first process of the machine or container. As
/// far as /proc shows them.
std::vector<ProcessSpot> processes_above();

// This machine and its current boot.

/// Read from the kernel once per process.
const MachineFacts& this_machine();

std::string host_name();

/// The first line of a small file, without its newline; empty if it cannot be read.
std::string first_line_of(const std::string& path);

}  // namespace leasehold

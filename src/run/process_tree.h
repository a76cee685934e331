// Finds all descendants of a process through the parent links in /proc, and ends them.
//
// A process can leave its tree by forking twice and calling setsid(). It does not escape from a root that is a child
// subreaper: an orphan becomes the root's own child.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace leasehold::run {

/// A pid may be reused; together with its start time it is unique.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
  friend bool operator<(const ProcessId& a, const ProcessId& b) {
    return a.pid != b.pid ? a.pid < b.pid : a.start_ticks < b.start_ticks;
  }
};

/// Children, their children and so on, without those below `foreign`. Dead but unreaped ones are included.
std::vector<ProcessId> descendants(pid_t root, const std::vector<ProcessId>& foreign = {});

/// A child of this process; nothing if /proc does not show it.
std::optional<ProcessId> find_child(pid_t pid);

/// Signals exactly this process; false if it is gone or may not be signalled.
bool send_signal(const ProcessId& process, int signal);

/// Continues a child of this process if it was stopped since the last call. For guardians and wardens: they must not
/// stay stopped.
void continue_if_stopped(const ProcessId& child);

/// Sends SIGTERM to all that did not get it before, and SIGCONT, since a stopped process does not handle the first.
/// Repeat it to reach processes that were being forked meanwhile.
void terminate_tree(pid_t root, std::set<ProcessId>& signalled);

/// Stops every process, so that none can escape the search by forking, then kills them all. Once is not always enough:
/// repeat until nothing is left.
void kill_tree(pid_t root, const std::vector<ProcessId>& foreign = {});

}  // namespace leasehold::run

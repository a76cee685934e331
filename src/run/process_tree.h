// Everything that descends from a process, found through the parent links in /proc, and ended.
//
// A process that wants to be found out of its tree forks twice and calls setsid(). It does not get
// away from a root that is a child subreaper: what loses its parent becomes the root's own child.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace leasehold::run {

/// A pid alone may be somebody else's by tomorrow; with its start time it is not.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
  friend bool operator<(const ProcessId& a, const ProcessId& b) {
    return a.pid != b.pid ? a.pid < b.pid : a.start_ticks < b.start_ticks;
  }
};

/// Children, their children and so on, those below `foreign` left out. Dead but unreaped ones are included.
std::vector<ProcessId> descendants(pid_t root, const std::vector<ProcessId>& foreign = {});

/// A child of this process; nothing where /proc does not show it.
std::optional<ProcessId> find_child(pid_t pid);

/// To exactly this process; false when it is gone or may not be signalled.
bool send_signal(const ProcessId& process, int signal);

/// Continues a child of this process if somebody has stopped it since the last call. For processes that guard others:
/// they must not sleep.
void continue_if_stopped(const ProcessId& child);

/// SIGTERM for all that were not told before, and SIGCONT, since a stopped process does not hear the
/// first. Repeat it to reach those that were being forked meanwhile.
void terminate_tree(pid_t root, std::set<ProcessId>& told);

/// Stops every process, so that none can fork away from under the search, then kills them all.
/// Once is not always enough: repeat until nothing is left.
void kill_tree(pid_t root, const std::vector<ProcessId>& foreign = {});

}  // namespace leasehold::run

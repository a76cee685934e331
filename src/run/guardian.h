// The guardian: a separate process between the wrapper and the command. It ends the command's whole process tree before
// the lease ends, whatever happens to the wrapper.
//
//   wrapper (database, heartbeats) <-- socketpair --> guardian (no database, no threads) --> command
//
// It has its own process group, so signals to the wrapper's job do not reach it. It adopts the orphans of the command's
// processes. Its only clock is CLOCK_BOOTTIME:
//
//   trusted_until - grace    no heartbeat extended the lease until now: SIGTERM
//   trusted_until - margin   SIGKILL, in rounds, until nothing is left
//
// It also ends the tree when the wrapper sends `stop`, when the wrapper's end of the socket closes (it was killed), and
// when the command exits and leaves processes behind.
//
// It outlives the tree, and lives until the wrapper has closed its end: if a guardian is gone, nothing it guarded is
// left (unless it was killed itself). So the store gets the guardian, or the warden above it, as the holder's process:
// on the same host, leases of processes that are gone are taken over at once.
#pragma once

#include <string>
#include <vector>

#include "leasehold/time.h"
#include "run/launch.h"
#include "run/message.h"

namespace leasehold::run {

/// How long before `trusted_until` SIGKILL begins.
Duration kill_margin(Duration grace);

/// Runs in the forked child: watches until the whole tree is gone, then exits.
[[noreturn]] void guard(std::vector<std::string> argv, Duration grace, Channel channel, Streams streams = {});

}  // namespace leasehold::run

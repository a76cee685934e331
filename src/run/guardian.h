// The guardian: a process of its own between the wrapper and the command, that ends the command's whole
// tree before the lease ends, whatever happens to the wrapper.
//
//   wrapper (database, heartbeats) <-- socketpair --> guardian (no database, no threads) --> command
//
// It has its own process group, so what stops or ends the wrapper's job does not reach it. It adopts
// whatever the command's processes leave orphaned. Its only clock is CLOCK_BOOTTIME:
//
//   trusted_until - grace    no heartbeat extended the lease until now: SIGTERM
//   trusted_until - margin   SIGKILL, in rounds, until nothing is left
//
// It also begins when the wrapper says `stop`, when the wrapper's end of the socket closes (it was
// killed), and for what the command left behind when it exited.
//
// It outlives the tree, and is there until the wrapper has closed its end: that a guardian is gone proves that nothing
// it guarded is left (unless it was killed itself). So it is the guardian, or the warden above it, whose process is
// told to the store as the holder's: on the same host, leases of processes that are gone are taken over at once.
#pragma once

#include <string>
#include <vector>

#include "leasehold/time.h"
#include "run/launch.h"
#include "run/message.h"

namespace leasehold::run {

/// How long before `trusted_until` the killing begins.
Duration kill_margin(Duration grace);

/// In the forked child: watches until the whole tree is gone, then exits.
[[noreturn]] void guard(std::vector<std::string> argv, Duration grace, Channel channel, Streams streams = {});

}  // namespace leasehold::run

// Processes that tell again and again that they are alive, for tests that end them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace leasehold::support {

/// The lines that a process of the tree writes as long as it lives.
struct Tick {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::int64_t begun_us = 0;  ///< when it began, by the boot-time clock
  std::int64_t boot_us = 0;   ///< when it reported so last
};

/// Works for a minute at most, should a test fail to end it.
[[noreturn]] void tick_into(const std::string& path);
Tick read_tick(const std::string& path);

/// Forks twice and leaves the session: the classic way to get away from one's parents. Ticks into `path`.
void start_runaway(const std::string& path);

bool is_alive(std::int64_t pid);
bool is_stopped(pid_t pid);
/// 0: it is gone.
pid_t parent_of(pid_t pid);

}  // namespace leasehold::support

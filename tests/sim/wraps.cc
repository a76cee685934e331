// The library's calls of the operating system, answered by the simulation.
//
// The linker (--wrap, see CMakeLists.txt) sends every call of these functions from other files here, and calls the
// originals __real_*. The names are those of the C++ ABI, hence the labels.
#include <fmt/format.h>

#include <cerrno>
#include <ctime>

#include "base/digest.h"
#include "base/process.h"
#include "sim/world.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the linker wants these names.
namespace leasehold::sim {
namespace {

World* world = nullptr;
Sleeper* sleeper = nullptr;

}  // namespace

Presence::Presence(World& here, Sleeper& who_sleeps) {
  world = &here;
  sleeper = &who_sleeps;
}

Presence::~Presence() {
  world = nullptr;
  sleeper = nullptr;
}

BootTime real_boot_now() noexcept __asm__("__real__ZN9leasehold9BootClock3nowEv");
BootTime boot_now() noexcept __asm__("__wrap__ZN9leasehold9BootClock3nowEv");
BootTime boot_now() noexcept { return world != nullptr ? world->boot_now() : real_boot_now(); }

const Clock& real_system_clock() __asm__("__real__ZN9leasehold12system_clockEv");
const Clock& clock_of_the_system() __asm__("__wrap__ZN9leasehold12system_clockEv");
const Clock& clock_of_the_system() { return world != nullptr ? *world : real_system_clock(); }

std::string real_random_hex() __asm__("__real__ZN9leasehold10random_hexB5cxx11Ev");
std::string drawn_hex() __asm__("__wrap__ZN9leasehold10random_hexB5cxx11Ev");
std::string drawn_hex() { return world != nullptr ? fmt::format("{:016x}", world->draw_number()) : real_random_hex(); }

std::string real_random_request_id() __asm__("__real__ZN9leasehold17random_request_idB5cxx11Ev");
std::string drawn_request_id() __asm__("__wrap__ZN9leasehold17random_request_idB5cxx11Ev");
std::string drawn_request_id() {
  return world != nullptr ? fmt::format("request-{:016x}", world->draw_number()) : real_random_request_id();
}

const std::string& real_process_space() __asm__("__real__ZN9leasehold13process_spaceB5cxx11Ev");
const std::string& space_of_processes() __asm__("__wrap__ZN9leasehold13process_spaceB5cxx11Ev");
const std::string& space_of_processes() { return world != nullptr ? world->process_space() : real_process_space(); }

Liveness real_look_for_process(std::int64_t pid,
                               std::int64_t start) __asm__("__real__ZN9leasehold16look_for_processEll");
Liveness seen_process(std::int64_t pid, std::int64_t start) __asm__("__wrap__ZN9leasehold16look_for_processEll");
Liveness seen_process(std::int64_t pid, std::int64_t start) {
  if (world == nullptr) return real_look_for_process(pid, start);
  return world->is_alive(pid) ? Liveness::alive : Liveness::gone;
}

int real_nanosleep(const timespec* span, timespec* rest) __asm__("__real_nanosleep");
int slept(const timespec* span, timespec* rest) __asm__("__wrap_nanosleep");
int slept(const timespec* span, timespec* rest) {
  if (sleeper == nullptr) return real_nanosleep(span, rest);
  sleeper->sleep(std::chrono::duration_cast<Duration>(std::chrono::seconds(span->tv_sec) +
                                                      std::chrono::nanoseconds(span->tv_nsec)));
  return 0;
}

}  // namespace leasehold::sim
// NOLINTEND(bugprone-reserved-identifier)

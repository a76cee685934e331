// Holder::self(): who this process is, so that somebody else can find it.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <sstream>

#include "base/machine.h"
#include "base/random_id.h"
#include "leasehold/lease.h"

namespace leasehold {
namespace {

// Field 22 of /proc/PID/stat, counted after the command's name, which may hold spaces and brackets.
std::int64_t process_start_ticks() {
  const auto line = first_line_of("/proc/self/stat");
  const auto end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::istringstream fields(line.substr(end_of_name + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::int64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

std::string terminal_name() {
  std::array<char, 128> name{};
  for (const int fd : {STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO}) {
    if (ttyname_r(fd, name.data(), name.size()) == 0) return name.data();
  }
  return {};
}

std::string user_name() {
  if (const char* user = std::getenv("USER"); user != nullptr && *user != '\0') return user;
  std::array<char, 1024> space{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, space.data(), space.size(), &found) == 0 && found != nullptr) return entry.pw_name;
  return fmt::format("uid{}", geteuid());
}

Holder describe_process() {
  Holder self;
  self.host = host_name();
  self.pid = getpid();
  self.name = fmt::format("{}@{}:{}", user_name(), self.host, self.pid);
  self.boot_id = this_machine().boot_id;
  self.process_start = process_start_ticks();
  self.tty = terminal_name();
  self.instance = random_hex();
  return self;
}

}  // namespace

Holder Holder::self(std::string name) {
  static std::mutex mutex;
  static Holder known;
  const std::lock_guard lock(mutex);
  // After a fork the child is another holder.
  if (known.pid != getpid()) known = describe_process();
  Holder self = known;
  if (!name.empty()) self.name = std::move(name);
  return self;
}

}  // namespace leasehold

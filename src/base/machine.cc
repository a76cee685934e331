#include "base/machine.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace leasehold {

std::string first_line_of(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return name.data();
}

const MachineFacts& this_machine() {
  static const MachineFacts facts = [] {
    struct stat time_namespace {};
    const bool known = stat("/proc/self/ns/time", &time_namespace) == 0;
    return MachineFacts{.machine_id = first_line_of("/etc/machine-id"),
                        .boot_id = first_line_of("/proc/sys/kernel/random/boot_id"),
                        .time_namespace = known ? static_cast<std::int64_t>(time_namespace.st_ino) : 0};
  }();
  return facts;
}

}  // namespace leasehold

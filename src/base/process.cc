// Identifies this process for others, and checks whether another process is still alive.
#include "base/process.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/digest.h"
#include "leasehold/lease.h"

namespace leasehold {
namespace {

struct ProcessStat {
  std::string name;
  char state = '?';
  std::int64_t parent = 0;
  std::int64_t threads = 0;
  std::int64_t start_ticks = 0;
};

// Fields 2, 3, 4, 20 and 22 of /proc/PID/stat, counted after the command name, which may contain spaces and brackets.
std::optional<ProcessStat> stat_of(const std::string& process) {
  const auto line = first_line_of("/proc/" + process + "/stat");
  const auto end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(end_of_name + 1));
  ProcessStat stat;
  const auto name = line.find('(') + 1;
  stat.name = line.substr(name, end_of_name - name);
  std::string skipped;
  fields >> stat.state >> stat.parent;
  for (int field = 5; field < 20; ++field) fields >> skipped;
  fields >> stat.threads >> skipped >> stat.start_ticks;
  if (!fields) return std::nullopt;
  return stat;
}

// The /proc of another pid namespace shows other processes under the same numbers.
bool proc_shows_our_pids() {
  std::array<char, 32> target{};
  if (readlink("/proc/self", target.data(), target.size() - 1) <= 0) return false;
  return std::to_string(getpid()) == target.data();
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
  self.boot_id = own_boot_id();
  if (const auto stat = stat_of("self")) self.process_start = stat->start_ticks;
  self.tty = terminal_name();
  self.instance = random_hex();
  return self;
}

}  // namespace

const std::string& process_space() {
  static const std::string space = [] {
    const auto& machine = this_machine();
    struct stat pids {};
    const bool known = !machine.boot_id.empty() && stat("/proc/self/ns/pid", &pids) == 0;
    return known ? fmt::format("{}/{}/{}", machine.boot_id, pids.st_ino, machine.time_namespace) : std::string();
  }();
  return space;
}

std::string boot_id_of(const std::string& process_space) {
  constexpr std::size_t digits = 32;
  if (process_space.empty()) return {};
  const auto digest = sha256_hex(process_space);
  return digest ? digest->substr(0, digits) : std::string();
}

const std::string& own_boot_id() {
  static const std::string boot_id = boot_id_of(process_space());
  return boot_id;
}

namespace {

/// By its program: a script has the name of its file, but its program is the shell. That of another user is not shown.
bool is_shell(std::int64_t pid, const std::string& name) {
  constexpr std::array<std::string_view, 9> shells = {"sh",  "bash", "dash", "zsh",    "ksh",
                                                      "ash", "fish", "mksh", "busybox"};
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", unknown);
  const auto shown = unknown ? name : program.filename().string();
  return std::find(shells.begin(), shells.end(), shown) != shells.end();
}

}  // namespace

std::vector<ProcessSpot> processes_above() {
  std::vector<ProcessSpot> found;
  if (!proc_shows_our_pids()) return found;
  for (std::int64_t pid = getpid(); pid > 1;) {
    const auto stat = stat_of(std::to_string(pid));
    if (!stat) break;
    found.push_back({.pid = pid, .start = stat->start_ticks, .is_shell = is_shell(pid, stat->name)});
    pid = stat->parent;
  }
  return found;
}

Liveness look_for_process(std::int64_t pid, std::int64_t process_start) {
  if (pid <= 0 || pid > std::numeric_limits<pid_t>::max() || process_start <= 0) return Liveness::cannot_tell;
  // Usually this is the current process; its heartbeats need not read /proc each time.
  if (pid == getpid()) {
    const auto own_start = Holder::self().process_start;
    if (own_start > 0) return own_start == process_start ? Liveness::alive : Liveness::gone;
  }
  // Checked with the kernel, because /proc may be mounted so that it hides other users' processes.
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return Liveness::gone;
  if (!proc_shows_our_pids()) return Liveness::cannot_tell;
  const auto stat = stat_of(std::to_string(pid));
  if (!stat) return Liveness::cannot_tell;
  if (stat->start_ticks != process_start) return Liveness::gone;
  // A zombie only waits for its parent; but a process with only its first thread ended still runs.
  const bool zombie = stat->state == 'Z' || stat->state == 'X';
  return zombie && stat->threads <= 1 ? Liveness::gone : Liveness::alive;
}

std::optional<std::int64_t> start_of_process(std::int64_t pid) {
  if (!proc_shows_our_pids()) return std::nullopt;
  const auto stat = stat_of(std::to_string(pid));
  return stat ? std::optional(stat->start_ticks) : std::nullopt;
}

std::vector<std::string> command_line_of(std::int64_t pid) {
  std::vector<std::string> words;
  if (!proc_shows_our_pids()) return words;
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
  for (std::string word; std::getline(file, word, '\0');) words.push_back(std::move(word));
  return words;
}

Holder Holder::self(std::string name) {
  static std::mutex mutex;
  static Holder known;
  const std::lock_guard lock(mutex);
  // After a fork the child is a different holder.
  if (known.pid != getpid()) known = describe_process();
  Holder self = known;
  if (!name.empty()) self.name = std::move(name);
  return self;
}

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

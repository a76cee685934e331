#include "run/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "run/signals.h"

namespace leasehold::run {
namespace {

/// If this many passes find new processes, something forks as fast as we search.
constexpr int max_freeze_passes = 64;

// Called directly: the header of glibc 2.36 declares both as C++ functions, which do not exist.
int open_handle(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }
bool signal_handle(int handle, int signal) { return ::syscall(SYS_pidfd_send_signal, handle, signal, nullptr, 0) == 0; }

struct Entry {
  ProcessId id;
  pid_t parent = 0;
};

template <typename Number>
Number number_in(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string_view next_field(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto field = text.substr(0, text.find(' '));
  text.remove_prefix(field.size());
  return field;
}

/// The second field is a name in brackets that may itself contain brackets and spaces: count from its end.
std::optional<Entry> parse_stat(std::string_view text) {
  const auto end_of_name = text.rfind(')');
  if (end_of_name == std::string_view::npos) return std::nullopt;
  Entry entry;
  entry.id.pid = number_in<pid_t>(text);
  text.remove_prefix(end_of_name + 1);
  next_field(text);  // state
  entry.parent = number_in<pid_t>(next_field(text));
  for (int field = 5; field < 22; ++field) next_field(text);
  entry.id.start_ticks = number_in<std::uint64_t>(next_field(text));
  return entry;
}

std::optional<Entry> read_entry(const std::string& pid) {
  const UniqueFd file(::open(("/proc/" + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const auto size = file ? ::read(file.get(), text.data(), text.size()) : -1;
  if (size <= 0) return std::nullopt;
  return parse_stat({text.data(), static_cast<std::size_t>(size)});
}

std::unordered_map<pid_t, std::vector<ProcessId>> children_of_all() {
  std::unordered_map<pid_t, std::vector<ProcessId>> children;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  while (const dirent* item = folder ? ::readdir(folder.get()) : nullptr) {
    if (item->d_name[0] < '0' || item->d_name[0] > '9') continue;
    if (const auto entry = read_entry(item->d_name)) children[entry->parent].push_back(entry->id);
  }
  return children;
}

}  // namespace

std::vector<ProcessId> descendants(pid_t root, const std::vector<ProcessId>& foreign) {
  const auto children = children_of_all();
  std::vector<ProcessId> found;
  std::vector<pid_t> to_visit{root};
  while (!to_visit.empty()) {
    const auto own = children.find(to_visit.back());
    to_visit.pop_back();
    if (own == children.end()) continue;
    for (const auto& child : own->second) {
      if (std::find(foreign.begin(), foreign.end(), child) != foreign.end()) continue;
      found.push_back(child);
      to_visit.push_back(child.pid);
    }
  }
  return found;
}

std::optional<ProcessId> find_child(pid_t pid) {
  const auto entry = read_entry(std::to_string(pid));
  return entry && entry->parent == ::getpid() ? std::optional(entry->id) : std::nullopt;
}

bool send_signal(const ProcessId& process, int signal) {
  const UniqueFd handle(open_handle(process.pid));
  if (!handle && errno != ENOSYS) return false;
  // The handle pins the process that has the pid now; the start time shows whether it is the right one.
  const auto now = read_entry(std::to_string(process.pid));
  if (!now || now->id != process) return false;
  if (!handle) return ::kill(process.pid, signal) == 0;
  return signal_handle(handle.get(), signal);
}

void continue_if_stopped(const ProcessId& child) {
  siginfo_t stopped{};
  const bool known = ::waitid(P_PID, static_cast<id_t>(child.pid), &stopped, WSTOPPED | WNOHANG) == 0;
  if (known && stopped.si_pid == child.pid) send_signal(child, SIGCONT);
}

void terminate_tree(pid_t root, std::set<ProcessId>& signalled) {
  for (const auto& process : descendants(root)) {
    if (!signalled.insert(process).second) continue;
    send_signal(process, SIGTERM);
    send_signal(process, SIGCONT);
  }
}

void kill_tree(pid_t root, const std::vector<ProcessId>& foreign) {
  std::set<ProcessId> stopped;
  for (int pass = 0; pass < max_freeze_passes; ++pass) {
    bool found_new = false;
    for (const auto& process : descendants(root, foreign)) {
      if (!stopped.insert(process).second) continue;
      send_signal(process, SIGSTOP);
      found_new = true;
    }
    if (!found_new) break;
  }
  for (const auto& process : descendants(root, foreign)) send_signal(process, SIGKILL);
}

}  // namespace leasehold::run

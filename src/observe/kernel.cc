// What the kernel knows about this process, under the names that Prometheus libraries use.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "observe/metrics.h"

namespace leasehold::observe {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Fields of /proc/self/stat behind the name of the program, which may contain blanks; the first is the state.
std::vector<std::string> stat_fields() {
  std::ifstream file("/proc/self/stat");
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  const auto end = all.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream rest(all.substr(end + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

double booted_at() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double value = 0;
    if (word == "btime" && file >> value) return value;
  }
  return 0;
}

std::int64_t open_descriptors() {
  std::error_code failed;
  std::filesystem::directory_iterator folder("/proc/self/fd", failed);
  if (failed) return 0;
  // The iterator itself has one open.
  return std::distance(folder, std::filesystem::directory_iterator()) - 1;
}

}  // namespace

void write_kernel_metrics(Exposition& text) {
  constexpr std::size_t started = 19;  // field 22 of proc(5), in ticks since the boot
  constexpr std::size_t rss = 21;      // field 24, in pages
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  text.family("process_cpu_seconds_total", "counter", "CPU time of this process.");
  text.sample({}, seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
  if (const auto fields = stat_fields(); fields.size() > rss) {
    text.family("process_resident_memory_bytes", "gauge", "Memory of this process.");
    text.sample({}, static_cast<std::int64_t>(std::stoll(fields[rss]) * sysconf(_SC_PAGESIZE)));
    text.family("process_start_time_seconds", "gauge", "When this process started, since 1970.");
    text.sample({}, booted_at() + std::stod(fields[started]) / static_cast<double>(sysconf(_SC_CLK_TCK)));
  }
  text.family("process_open_fds", "gauge", "Open file descriptors of this process.");
  text.sample({}, open_descriptors());
  rlimit most{};
  if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
    text.family("process_max_fds", "gauge", "File descriptors that this process may open.");
    text.sample({}, static_cast<std::int64_t>(most.rlim_cur));
  }
}

}  // namespace leasehold::observe

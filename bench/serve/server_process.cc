#include "server_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "../measure.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every libc declares it

namespace leasehold::bench {
namespace {

using namespace std::chrono_literals;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The port in the log's line about the address; 0 before that line.
std::uint16_t port_in(std::string_view log) {
  constexpr std::string_view address = "127.0.0.1:";
  const auto at = log.find(address);
  std::uint16_t port = 0;
  if (at != std::string_view::npos && log.find('\n', at) != std::string_view::npos) {
    std::from_chars(log.data() + at + address.size(), log.data() + log.size(), port);
  }
  return port;
}

pid_t start(const std::string& store_url, const std::string& log) {
  std::array<std::string, 8> words = {LEASEHOLD_TOOL, "serve",    "--db",        store_url,
                                      "--no-auth",    "--listen", "127.0.0.1:0", ""};
  std::array<char*, 8> arguments{};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) arguments[i] = words[i].data();
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, LEASEHOLD_TOOL, &files, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) die(fmt::format("cannot start {}", LEASEHOLD_TOOL));
  return pid;
}

}  // namespace

ServerProcess::ServerProcess(const std::string& store_url, const std::string& log) : pid_(start(store_url, log)) {
  for (int tries = 0; port_ == 0 && tries < 1000; ++tries) {
    std::this_thread::sleep_for(10ms);
    port_ = port_in(text_of(log));
  }
  if (port_ == 0) die("the server does not listen: " + text_of(log));
}

ServerProcess::~ServerProcess() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

double ServerProcess::resident_mib() const {
  const auto status = text_of(fmt::format("/proc/{}/status", pid_));
  constexpr std::string_view name = "VmRSS:";
  const auto at = status.find(name);
  if (at == std::string::npos) die("the server has ended");
  return std::stod(status.substr(at + name.size())) / 1024;
}

double ServerProcess::processor_seconds() const {
  const auto stat = text_of(fmt::format("/proc/{}/stat", pid_));
  // Behind the name, which may have spaces: the state is field 3, the user's and the system's time 14 and 15.
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  const std::vector<std::string> all{std::istream_iterator<std::string>(fields), {}};
  if (all.size() < 13) die("the server has ended");
  return (std::stod(all[11]) + std::stod(all[12])) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace leasehold::bench

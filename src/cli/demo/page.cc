#include "cli/demo/page.h"

#include <fmt/format.h>
#include <netdb.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cstring>
#include <thread>
#include <vector>

#include "leasehold/time.h"
#include "run/signals.h"

namespace leasehold::cli {
namespace {

constexpr Duration between_page_looks = std::chrono::milliseconds(50);
constexpr Duration longest_server_start = std::chrono::seconds(10);

/// Whether something accepts connections there.
bool answers(const std::string& address) {
  const auto colon = address.rfind(':');
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), &hints, &found) != 0) {
    return false;
  }
  const run::UniqueFd socket(::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol));
  const bool connected = socket && ::connect(socket.get(), found->ai_addr, found->ai_addrlen) == 0;
  ::freeaddrinfo(found);
  return connected;
}

Result<pid_t> start_server(const std::string& store_url, const std::string& address) {
  std::vector<std::string> words{"leasehold", "serve",     "--db",  store_url, "--listen",
                                 address,     "--no-auth", "--log", "error"};
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // Ctrl-C is for the demo, which ends the server when it ends.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, "/proc/self/exe", nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  return Error{.code = Errc::internal, .message = fmt::format("cannot start the server: {}", std::strerror(error))};
}

}  // namespace

Result<DemoPage> DemoPage::open(const std::string& store_url, const std::string& address) {
  if (address.rfind(':') == std::string::npos) {
    return Error{.code = Errc::invalid_argument, .message = "--serve: an address such as 127.0.0.1:7420"};
  }
  if (answers(address)) {
    return Error{.code = Errc::unavailable,
                 .message = address + " is in use: name another address, such as --serve=127.0.0.1:7421"};
  }
  auto pid = start_server(store_url, address);
  if (!pid) return std::move(pid).error();
  DemoPage page(*pid, address);
  const auto give_up = BootClock::now() + longest_server_start;
  while (!answers(address)) {
    if (page.has_ended() || BootClock::now() >= give_up) {
      return Error{.code = Errc::unavailable, .message = "the server did not start on " + address};
    }
    std::this_thread::sleep_for(between_page_looks);
  }
  return page;
}

DemoPage::~DemoPage() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

bool DemoPage::has_ended() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ <= 0;
}

void DemoPage::wait_for(const std::atomic<bool>& interrupted) {
  while (!interrupted && !has_ended()) std::this_thread::sleep_for(between_page_looks);
}

}  // namespace leasehold::cli

#include "cli/run/session_heartbeater.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/bind/chunk_options.h"
#include "run/signals.h"

namespace leasehold::cli {
namespace {

using run::UniqueFd;

/// Far longer than opening a store and one call of it may take.
constexpr Duration patience_with_start = std::chrono::seconds(60);

Error cannot_start(std::string_view why) {
  return {.code = Errc::internal, .message = fmt::format("cannot start the heartbeater: {}", why)};
}

std::vector<std::string> words_for(const HeartbeaterOrders& orders) {
  return {"leasehold",
          "session",
          "watch",
          fmt::format("--session={}", orders.session),
          fmt::format("--pid={}", orders.pid),
          fmt::format("--process-start={}", orders.process_start),
          fmt::format("--ttl={}us", orders.ttl.count()),
          fmt::format("--until={}", orders.until.time_since_epoch().count()),
          fmt::format("--report={}", heartbeater_report)};
}

/// Our environment, with the store in it: a password in a URL belongs neither on a command line nor in `ps`.
std::vector<std::string> environment_with(const std::string& store_url) {
  constexpr std::string_view variable = "LEASEHOLD_DB=";
  std::vector<std::string> all{std::string(variable) + store_url};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with(variable)) all.emplace_back(*entry);
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Neither end is 0 to 3, where the heartbeater gets other descriptors.
struct Pipe {
  static std::optional<Pipe> open() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
    const UniqueFd read_end(ends[0]);
    const UniqueFd write_end(ends[1]);
    constexpr int lowest = heartbeater_report + 1;
    Pipe pipe{UniqueFd(::fcntl(read_end.get(), F_DUPFD_CLOEXEC, lowest)),
              UniqueFd(::fcntl(write_end.get(), F_DUPFD_CLOEXEC, lowest))};
    return pipe.read_end && pipe.write_end ? std::optional(std::move(pipe)) : std::nullopt;
  }

  UniqueFd read_end;
  UniqueFd write_end;
};

/// The heartbeater's initial state, instead of ours.
class FreshStart {
 public:
  FreshStart(int token, int report) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, report, heartbeater_report);
    posix_spawn_file_actions_adddup2(&actions_, token, STDIN_FILENO);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", O_RDWR, 0);
    }
    posix_spawn_file_actions_addclosefrom_np(&actions_, heartbeater_report + 1);
    posix_spawn_file_actions_addchdir_np(&actions_, "/");
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  FreshStart(const FreshStart&) = delete;
  FreshStart& operator=(const FreshStart&) = delete;
  ~FreshStart() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

int spawn(pid_t& pid, const HeartbeaterOrders& orders, const std::string& store_url, int token, int report) {
  auto words = words_for(orders);
  auto environment = environment_with(store_url);
  const FreshStart start(token, report);
  // Not by its path: a newer leasehold may have replaced the file.
  return ::posix_spawn(&pid, "/proc/self/exe", start.actions(), start.attributes(), pointers_to(words).data(),
                       pointers_to(environment).data());
}

/// The heartbeater's whole report until it closes its end; nothing if that takes too long.
std::string read_report(int report) {
  std::string text;
  const auto until = BootClock::now() + patience_with_start;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - BootClock::now()).count();
    pollfd end{.fd = report, .events = POLLIN, .revents = 0};
    if (left <= 0) return {};
    if (::poll(&end, 1, static_cast<int>(left)) != 1) continue;
    std::array<char, 512> buffer{};
    const auto size = ::read(report, buffer.data(), buffer.size());
    if (size <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

std::optional<Token> read_heartbeater_token() {
  std::array<char, 32> buffer{};
  const auto size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  // Not closed: the next opened file would become the standard input.
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (nothing) ::dup2(nothing.get(), STDIN_FILENO);
  const auto number = size > 0 ? whole_number({buffer.data(), static_cast<std::size_t>(size)}) : std::nullopt;
  return number ? std::optional(Token{*number}) : std::nullopt;
}

Result<void> start_heartbeater(const HeartbeaterOrders& orders, const std::string& store_url) {
  auto token = Pipe::open();
  auto report = Pipe::open();
  if (!token || !report) return cannot_start(std::strerror(errno));
  const auto number = std::to_string(orders.token.value);
  // It fits into the pipe, so the write does not block.
  if (::write(token->write_end.get(), number.data(), number.size()) != static_cast<ssize_t>(number.size())) {
    return cannot_start(std::strerror(errno));
  }
  token->write_end.reset();
  pid_t pid = -1;
  const int error = spawn(pid, orders, store_url, token->read_end.get(), report->write_end.get());
  if (error != 0) return cannot_start(std::strerror(error));
  // Only the heartbeater has it now, so its end is noticed.
  report->write_end.reset();
  const auto word = read_report(report->read_end.get());
  if (word == heartbeater_ready) return {};
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return cannot_start(word.empty() ? "it ended without a message" : word);
}

}  // namespace leasehold::cli

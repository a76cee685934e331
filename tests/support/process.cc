#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

namespace leasehold::support {
namespace {

constexpr const char* role_variable = "LEASEHOLD_TEST_ROLE";

std::map<std::string, Role>& roles() {
  static std::map<std::string, Role> all;
  return all;
}

Environment merged_environment(const Environment& extra) {
  Environment all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : extra) {
    if (value.empty()) {
      all.erase(name);
    } else {
      all[name] = value;
    }
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  return ends;
}

void close_end(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

/// Appends what is there; closes the end at its end.
void drain(int& fd, std::string& text) {
  std::array<char, 4096> buffer{};
  const auto size = ::read(fd, buffer.data(), buffer.size());
  if (size > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  } else if (size == 0 || errno != EINTR) {
    close_end(fd);
  }
}

int milliseconds_until(BootTime until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - BootClock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(0, left));
}

}  // namespace

Process Process::start(const Arguments& argv, const Environment& env) {
  const auto in = make_pipe();
  const auto out = make_pipe();
  const auto err = make_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  auto arguments = argv;
  std::vector<std::string> variables;
  for (const auto& [name, value] : merged_environment(env)) variables.push_back(name + "=" + value);
  Process child;
  const int failure = ::posix_spawnp(&child.pid_, argv.at(0).c_str(), &actions, nullptr, pointers(arguments).data(),
                                     pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  for (const int end : {in[0], out[1], err[1]}) ::close(end);
  child.in_ = in[1];
  child.out_ = out[0];
  child.err_ = err[0];
  if (failure != 0) {
    child.pid_ = -1;
    throw std::runtime_error("cannot start " + argv.at(0) + ": " + std::strerror(failure));
  }
  return child;
}

Process Process::self(const std::string& role, const Environment& env) {
  auto with_role = env;
  with_role[role_variable] = role;
  return start({"/proc/self/exe"}, with_role);
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)),
      out_text_(std::move(other.out_text_)),
      err_text_(std::move(other.err_text_)) {}

Process::~Process() {
  close_pipes();
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Process::close_pipes() {
  close_end(in_);
  close_end(out_);
  close_end(err_);
}

bool Process::pump(BootTime until) {
  std::array<pollfd, 2> ends{pollfd{.fd = out_, .events = POLLIN, .revents = 0},
                             pollfd{.fd = err_, .events = POLLIN, .revents = 0}};
  if (out_ < 0 && err_ < 0) return false;
  if (::poll(ends.data(), ends.size(), milliseconds_until(until)) <= 0) return BootClock::now() < until;
  if (ends[0].revents != 0) drain(out_, out_text_);
  if (ends[1].revents != 0) drain(err_, err_text_);
  return true;
}

std::optional<std::string> Process::read_line(Duration timeout) {
  const auto until = BootClock::now() + timeout;
  for (;;) {
    const auto end = out_text_.find('\n');
    if (end != std::string::npos) {
      auto line = out_text_.substr(0, end);
      out_text_.erase(0, end + 1);
      return line;
    }
    if (out_ < 0 || !pump(until)) return std::nullopt;
  }
}

void Process::write(const std::string& text) {
  if (in_ < 0 || ::write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("cannot write to the process");
  }
}

void Process::close_input() { close_end(in_); }

void Process::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

Finished Process::finish(Duration timeout) {
  Finished result;
  close_end(in_);
  const auto until = BootClock::now() + timeout;
  int status = 0;
  // A grandchild may keep the pipes open, and a process may close them and go on: the end of the
  // process counts, not the end of its output.
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (BootClock::now() >= until) {
      result.timed_out = true;
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
      break;
    }
    if (out_ < 0 && err_ < 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pump(std::min(until, BootClock::now() + std::chrono::milliseconds(10)));
  }
  pid_ = -1;
  const auto grace = BootClock::now() + std::chrono::milliseconds(50);
  while (pump(grace)) {
  }
  close_pipes();
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.out = std::move(out_text_);
  result.err = std::move(err_text_);
  return result;
}

Finished run(const Arguments& argv, const Environment& env, const std::string& input, Duration timeout) {
  auto process = Process::start(argv, env);
  if (!input.empty()) process.write(input);
  return process.finish(timeout);
}

std::string env(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string{} : std::string(value);
}

bool add_role(const std::string& name, Role role) { return roles().emplace(name, std::move(role)).second; }

std::optional<int> run_role() {
  const auto name = env(role_variable);
  if (name.empty()) return std::nullopt;
  return roles().at(name)();
}

bool eventually(const std::function<bool()>& condition, Duration timeout) {
  const auto until = BootClock::now() + timeout;
  while (!condition()) {
    if (BootClock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  return true;
}

}  // namespace leasehold::support

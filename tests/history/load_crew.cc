#include "history/load_crew.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <thread>

namespace leasehold::history {
namespace {

using namespace std::chrono_literals;

/// After its time a process may still be in a call or two.
constexpr Duration grace = 60s;

volatile std::sig_atomic_t interrupted = 0;

int run_child(const LoadOptions& options, int process) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    run_process(options, process);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "process {}: {}\n", process, error.what());
    return 1;
  }
}

}  // namespace

bool Crew::run() {
  struct sigaction stop {};
  stop.sa_handler = [](int) { interrupted = 1; };
  ::sigaction(SIGTERM, &stop, nullptr);
  ::sigaction(SIGINT, &stop, nullptr);
  ends_at_ = BootClock::now() + options_.seconds;
  next_kill_ = BootClock::now() + options_.kill_every;
  for (int i = 0; i < options_.processes; ++i) start_one();
  bool reported = false;
  while (!running_.empty()) {
    reap_all();
    kill_one_now_and_then();
    if (interrupted != 0 && !reported) signal_all(SIGTERM);
    reported = interrupted != 0;
    if (BootClock::now() > ends_at_ + grace) signal_all(SIGKILL);
    std::this_thread::sleep_for(10ms);
  }
  return in_order_;
}

void Crew::start_one() {
  const int process = started_++;
  auto options = options_;
  options.seconds = ends_at_ - BootClock::now();
  std::fflush(nullptr);
  const auto pid = ::fork();
  if (pid == 0) ::_exit(run_child(options, process));
  if (pid < 0) {
    in_order_ = false;
    return;
  }
  running_[pid] = process;
}

void Crew::reap_all() {
  for (;;) {
    int status = 0;
    const auto pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    note_end(pid, status);
  }
}

void Crew::note_end(pid_t pid, int status) {
  const int process = running_[pid];
  running_.erase(pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const bool killed = WIFSIGNALED(status) && (options_.replace || killed_by_us_.contains(pid));
  if (!killed) {
    fmt::print(stderr, "process {} did not end in order\n", process);
    in_order_ = false;
    return;
  }
  if (interrupted == 0 && BootClock::now() < ends_at_) start_one();
}

void Crew::kill_one_now_and_then() {
  if (options_.kill_every == Duration(0) || BootClock::now() < next_kill_ || running_.empty()) return;
  next_kill_ = BootClock::now() + options_.kill_every;
  auto victim = running_.begin();
  std::advance(victim, dice_.roll(static_cast<int>(running_.size())));
  killed_by_us_.insert(victim->first);
  ::kill(victim->first, SIGKILL);
}

void Crew::signal_all(int number) const {
  for (const auto& [pid, process] : running_) ::kill(pid, number);
}

}  // namespace leasehold::history

#include "run/guardian.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <set>

#include "run/process_tree.h"
#include "run/signals.h"
#include "run/supervisor.h"

namespace leasehold::run {
namespace {

using std::chrono::milliseconds;
using Kind = Message::Kind;

/// The pause between two rounds of signals: short at first, longer for processes that do not end at once.
constexpr Duration first_pause = milliseconds(2);
constexpr Duration longest_pause = milliseconds(500);

class Guardian {
 public:
  Guardian(std::vector<std::string> argv, Duration grace, Channel channel, Streams streams)
      : grace_(grace), channel_(std::move(channel)), wrapper_group_(::getpgrp()) {
    launch_.argv = std::move(argv);
    launch_.streams = std::move(streams);
    ::setpgid(0, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_NAME, "leasehold-guard");
  }

  [[noreturn]] void run() {
    for (;;) {
      wait_for_something();
      // Messages first: after a pause a pending extension may postpone the deadline that woke us.
      take_messages();
      take_exec_report();
      reap();
      act_on_time();
    }
  }

 private:
  enum class Phase { before_start, running, terminating, killing };

  void wait_for_something() {
    std::array<pollfd, 4> watched{pollfd{.fd = wrapper_gone_ ? -1 : channel_.fd(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = children_.fd(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = launched_.exec_report.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = timer_.fd(), .events = POLLIN, .revents = 0}};
    ::poll(watched.data(), watched.size(), -1);
    children_.clear();
  }

  void take_messages() {
    Message message;
    while (!wrapper_gone_) {
      const auto state = channel_.receive(message);
      if (state == Channel::State::empty) return;
      if (state == Channel::State::closed) return lose_wrapper();
      obey(message);
    }
  }

  void obey(const Message& message) {
    switch (message.kind) {
      case Kind::grace: grace_ = Duration(message.number); return;
      case Kind::command: launch_.argv = unpacked(message.text); return;
      case Kind::go: return start(message);
      case Kind::extend: trusted_until_ = std::max(trusted_until_, BootTime(Duration(message.number))); return;
      case Kind::stop: return begin_to_end(EndReason::stop_requested, Duration(message.number));
      case Kind::signal:
        if (command_runs()) ::kill(-launched_.pid, static_cast<int>(message.number));
        return;
      default: return;
    }
  }

  void lose_wrapper() {
    wrapper_gone_ = true;
    if (phase_ == Phase::before_start) ::_exit(0);
    begin_to_end(EndReason::wrapper_died, grace_);
    // Only if the write cannot block: there may be no reader.
    pollfd out{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0) return;
    ::dprintf(STDERR_FILENO, "leasehold: the wrapper of %.200s died: killing the command and all it started\n",
              launch_.argv[0].c_str());
  }

  void start(const Message& go) {
    trusted_until_ = std::max(trusted_until_, BootTime(Duration(go.number)));
    launch_.environment = unpacked(go.text);
    // Without these descriptors the guardian could not notice the end of the command or of the lease.
    if (timer_.fd() < 0 || children_.fd() < 0) finish({.kind = Kind::start_failed, .number = EMFILE});
    phase_ = Phase::running;
    if (BootClock::now() >= term_at()) return begin_to_end(EndReason::lease_ran_out, grace_);
    // Taking the terminal from the other end of a pipeline (a pager) would stop that; see Supervisor::on_suspended.
    launch_.foreground = has_foreground(wrapper_group_) && ::isatty(STDOUT_FILENO) == 1;
    launched_ = launch(launch_, signals_);
    // Only the command has them now, so their other ends notice when it is gone.
    launch_.streams = {};
    if (launched_.pid < 0) finish({.kind = Kind::start_failed, .number = launched_.error});
  }

  void take_exec_report() {
    if (!launched_.exec_report) return;
    int error = 0;
    const auto size = ::read(launched_.exec_report.get(), &error, sizeof error);
    if (size < 0) return;
    launched_.exec_report.reset();
    if (size == 0) {
      channel_.send({.kind = Kind::started, .number = launched_.pid});
    } else {
      ::waitpid(launched_.pid, nullptr, 0);
      finish({.kind = Kind::start_failed, .number = error});
    }
  }

  void reap() {
    // Until exec has succeeded or failed, an exit of the child is not an exit of the command.
    if (phase_ == Phase::before_start || launched_.exec_report) return;
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
      if (pid != launched_.pid) continue;
      if (WIFSTOPPED(status)) {
        channel_.send({.kind = Kind::suspended, .number = WSTOPSIG(status)});
      } else {
        command_status_ = status;
      }
    }
    // A subreaper without children has no descendants at all: this is the proof, not a look into /proc.
    if (pid < 0 && errno == ECHILD) {
      const auto status_known = command_status_ ? std::int64_t{*command_status_} : Message::no_status;
      finish({.kind = Kind::ended, .number = status_known, .reason = reason_});
    }
    if (command_status_ && phase_ == Phase::running) end_what_was_left_behind();
  }

  void end_what_was_left_behind() {
    const auto left = static_cast<std::int64_t>(descendants(::getpid()).size());
    channel_.send({.kind = Kind::left_behind, .number = left});
    begin_to_end(EndReason::exited, grace_);
  }

  /// SIGTERM now, SIGKILL after `patience`, and in any case before the lease ends.
  void begin_to_end(EndReason reason, Duration patience) {
    if (phase_ == Phase::before_start) {
      finish({.kind = Kind::ended, .number = Message::no_status, .reason = reason});
    }
    if (phase_ != Phase::running) {
      // While leftovers are being ended, the lease may end, too.
      if (reason_ == EndReason::exited) reason_ = reason;
      kill_at_ = std::min({kill_at_, BootClock::now() + patience, trusted_until_ - margin()});
      return;
    }
    phase_ = Phase::terminating;
    reason_ = reason;
    next_round_ = BootClock::now();
    kill_at_ = std::min(next_round_ + patience, trusted_until_ - margin());
  }

  void act_on_time() {
    const auto now = BootClock::now();
    if (phase_ == Phase::running && now >= term_at()) begin_to_end(EndReason::lease_ran_out, grace_);
    if (phase_ == Phase::terminating && now >= kill_at_) begin_to_kill();
    if (phase_ == Phase::terminating || phase_ == Phase::killing) end_in_rounds();
    if (phase_ == Phase::running) timer_.arm(term_at());
  }

  void begin_to_kill() {
    phase_ = Phase::killing;
    pause_ = first_pause;
    next_round_ = kill_at_;
  }

  void end_in_rounds() {
    if (BootClock::now() >= next_round_) {
      if (phase_ == Phase::terminating) terminate_tree(::getpid(), end_requested_);
      if (phase_ == Phase::killing) kill_tree(::getpid());
      next_round_ = BootClock::now() + pause_;
      pause_ = std::min(pause_ * 2, longest_pause);
    }
    timer_.arm(phase_ == Phase::terminating ? std::min(next_round_, kill_at_) : next_round_);
  }

  [[nodiscard]] Duration margin() const { return kill_margin(grace_); }
  [[nodiscard]] BootTime term_at() const { return trusted_until_ - std::max(grace_, margin()); }
  [[nodiscard]] bool command_runs() const { return launched_.pid > 0 && !command_status_; }

  /// The store may list this process as the holder until the wrapper has released the lease, so it must stay alive
  /// until then.
  [[noreturn]] void finish(const Message& last_word) {
    channel_.send(last_word);
    Message ignored;
    while (!wrapper_gone_ && channel_.receive(ignored) != Channel::State::closed) {
      pollfd wrapper{.fd = channel_.fd(), .events = POLLIN, .revents = 0};
      ::poll(&wrapper, 1, -1);
    }
    ::_exit(0);
  }

  Duration grace_;
  const Channel channel_;
  const pid_t wrapper_group_;
  const DeafToSignals signals_;
  const ChildWatch children_;
  const BootTimer timer_;

  Launch launch_;
  Launched launched_;
  std::optional<int> command_status_;
  Phase phase_ = Phase::before_start;
  EndReason reason_ = EndReason::exited;
  bool wrapper_gone_ = false;
  BootTime trusted_until_{};
  BootTime kill_at_{};
  BootTime next_round_{};
  std::set<ProcessId> end_requested_;
  Duration pause_ = first_pause;
};

}  // namespace

Duration kill_margin(Duration grace) {
  return std::clamp(grace / 3, Duration(milliseconds(10)), Duration(milliseconds(500)));
}

void guard(std::vector<std::string> argv, Duration grace, Channel channel, Streams streams) {
  Guardian(std::move(argv), grace, std::move(channel), std::move(streams)).run();
}

}  // namespace leasehold::run

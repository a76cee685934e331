#include "run/supervisor.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>

#include "run/ending.h"
#include "run/guardian.h"
#include "run/signals.h"

namespace leasehold::run {
namespace {

using std::chrono::milliseconds;
using Kind = Message::Kind;

/// How long to keep trying after `trusted_until` before reporting that something cannot be killed.
constexpr Duration last_attempts = std::chrono::seconds(2);

/// Only a shell in our session could continue us; without one, a stop would last for ever.
bool can_be_continued() { return ::getsid(::getppid()) == ::getsid(0); }

}  // namespace

Result<std::unique_ptr<Supervisor>> Supervisor::fork_guardian(const std::vector<std::string>& argv, Duration grace,
                                                              Warn warn) {
  auto channels = make_channels();
  if (!channels) return cannot("create a socketpair");
  // If the guardian is killed, its descendants come to us.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto foreign = descendants(::getpid());
  const pid_t guardian = ::fork();
  if (guardian < 0) return cannot("fork");
  if (guardian == 0) {
    // If we are killed while the guardian is stopped, it still ends the command.
    ::prctl(PR_SET_PDEATHSIG, SIGCONT);
    { const Channel not_ours = std::move(channels->wrapper); }
    guard(argv, grace, std::move(channels->guardian));
  }
  const auto self = find_child(guardian);
  if (!self) return Error{.code = Errc::internal, .message = "cannot read /proc, which is needed to find processes"};
  std::unique_ptr<Supervisor> supervisor(
      new Supervisor(std::move(channels->wrapper), *self, grace, std::move(warn), std::move(foreign)));
  if (supervisor->timer_.fd() < 0) return cannot("create a timer");
  return supervisor;
}

Supervisor::Supervisor(Channel channel, ProcessId guardian, Duration grace, Warn warn, std::vector<ProcessId> foreign)
    : channel_(std::move(channel)),
      guardian_(guardian),
      grace_(grace),
      warn_(std::move(warn)),
      foreign_(std::move(foreign)) {}

void Supervisor::set_grace(Duration grace) {
  grace_ = grace;
  channel_.send({.kind = Kind::grace, .number = grace.count()});
}

void Supervisor::start(const std::vector<std::string>& environment, BootTime trusted_until) {
  signals_.emplace();
  if (timeout_) limit_ = BootClock::now() + *timeout_;
  trusted_until_us_ = std::max(trusted_until_us_.load(), trusted_until.time_since_epoch().count());
  channel_.send({.kind = Kind::go, .number = trusted_until_us_, .text = packed(environment)});
}

void Supervisor::extend(BootTime trusted_until) {
  trusted_until_us_ = trusted_until.time_since_epoch().count();
  channel_.send({.kind = Kind::extend, .number = trusted_until_us_});
}

void Supervisor::stop() {
  channel_.send({.kind = Kind::stop, .number = grace_.count()});
  // In case it was stopped.
  send_signal(guardian_, SIGCONT);
}

BootTime Supervisor::own_deadline() const { return trusted_until() - kill_margin(grace_) / 2; }

Ending Supervisor::wait() {
  std::optional<Ending> ending;
  while (!ending) {
    // A stopped guardian would not notice the end of the command, and we would hold the lease for ever.
    continue_if_stopped(guardian_);
    sleep_until_something();
    pass_on_signals();
    ending = take_messages();
    if (!ending) stop_after_limit();
    // Last, because after a pause of this process the timer fires although everything has long ended.
    if (!ending && BootClock::now() >= own_deadline()) {
      ending = Ending{.kind = end_tree_myself() ? Ending::Kind::lease_lost : Ending::Kind::survived};
    }
  }
  if (command_ > 0 && has_foreground(command_)) give_foreground(::getpgrp());
  ending->timed_out = timed_out_;
  return *ending;
}

void Supervisor::stop_after_limit() {
  if (BootClock::now() < limit_) return;
  limit_ = BootTime::max();
  timed_out_ = true;
  stop();
}

void Supervisor::sleep_until_something() {
  timer_.arm(std::min(own_deadline(), limit_));
  std::array<pollfd, 3> watched{pollfd{.fd = channel_.fd(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = signals_->fd(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = timer_.fd(), .events = POLLIN, .revents = 0}};
  ::poll(watched.data(), watched.size(), -1);
}

void Supervisor::pass_on_signals() {
  while (const auto signal = signals_->next()) {
    if (*signal == SIGCHLD) continue;
    asked_to_stop_ |= *signal == SIGTERM || *signal == SIGINT || *signal == SIGHUP || *signal == SIGQUIT;
    channel_.send({.kind = Kind::signal, .number = *signal});
  }
}

std::optional<Ending> Supervisor::take_messages() {
  Message message;
  for (;;) {
    const auto state = channel_.receive(message);
    if (state == Channel::State::empty) return std::nullopt;
    if (state == Channel::State::closed) {
      return Ending{.kind = end_tree_myself() ? Ending::Kind::guardian_died : Ending::Kind::survived};
    }
    if (auto ending = understand(message)) return ending;
  }
}

std::optional<Ending> Supervisor::understand(const Message& message) {
  switch (message.kind) {
    case Kind::started: command_ = static_cast<pid_t>(message.number); return std::nullopt;
    case Kind::suspended: on_suspended(static_cast<int>(message.number)); return std::nullopt;
    case Kind::left_behind: warn_(describe_left_behind(message)); return std::nullopt;
    default: return ending_in(message);
  }
}

/// Job control as a shell expects it: the whole job stops, and the whole job continues.
void Supervisor::on_suspended(int signal) {
  if (::isatty(STDIN_FILENO) != 1) return;
  const pid_t own_group = ::getpgrp();
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (!(wants_terminal && has_foreground(own_group)) && can_be_continued()) {
    if (has_foreground(command_)) give_foreground(own_group);
    warn_("suspended, and the heartbeats with it: unless continued in time, the lease expires");
    ::kill(::getpid(), SIGSTOP);
  }
  if (has_foreground(own_group)) give_foreground(command_);
  channel_.send({.kind = Kind::signal, .number = SIGCONT});
}

bool Supervisor::end_tree_myself() {
  for (Duration pause = milliseconds(2);; pause = std::min<Duration>(pause * 2, milliseconds(100))) {
    kill_tree(::getpid(), foreign_);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (descendants(::getpid(), foreign_).empty()) return true;
    if (BootClock::now() >= trusted_until() + last_attempts) return false;
    ::poll(nullptr, 0, static_cast<int>(std::chrono::duration_cast<milliseconds>(pause).count()));
  }
}

}  // namespace leasehold::run

#include "cli/command_stops.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <array>
#include <csignal>

#include "base/quiet_thread.h"
#include "cli/print.h"
#include "core/duration.h"
#include "run/boot_timer.h"

namespace leasehold::cli {
namespace {

sigset_t signals_that_stop() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&wanted, signal);
  }
  return wanted;
}

}  // namespace

StopSignals::StopSignals(CommandStops& stops, Duration grace)
    : stops_(stops), grace_(grace), end_(eventfd(0, EFD_CLOEXEC)) {
  const auto wanted = signals_that_stop();
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  signals_ = run::UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  thread_ = start_quiet_thread([this] { watch(); });
}

StopSignals::~StopSignals() {
  eventfd_write(end_.get(), 1);
  thread_.join();
}

void StopSignals::watch() {
  const run::BootTimer timer;
  for (;;) {
    std::array<pollfd, 3> watched{pollfd{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = end_.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = timer.fd(), .events = POLLIN, .revents = 0}};
    poll(watched.data(), watched.size(), -1);
    if (watched[1].revents != 0) return;
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof info) == sizeof info) hear(static_cast<int>(info.ssi_signo));
    if (BootClock::now() >= grace_ends_) {
      stops_.commands.request_stop();
      timer.disarm();
    } else if (grace_ends_ != BootTime::max()) {
      timer.arm(grace_ends_);
    }
  }
}

void StopSignals::hear(int signal) {
  if (first_ == 0) {
    first_ = signal;
    grace_ends_ = BootClock::now() + grace_;
    stops_.claiming.request_stop();
    if (grace_ == Duration(0)) return say("leasehold: stopping");
    say("leasehold: stopping: running commands get {} to finish; a second signal ends them at once",
        format_duration(grace_));
  } else {
    stops_.at_once.request_stop();
  }
}

}  // namespace leasehold::cli

#include "cli/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <array>
#include <csignal>

#include "base/quiet_thread.h"

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

StopSignals::StopSignals(Reactions reactions)
    : reactions_(std::move(reactions)), heard_(eventfd(0, EFD_CLOEXEC)), end_(eventfd(0, EFD_CLOEXEC)) {
  const auto wanted = signals_that_stop();
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  signals_ = run::UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  thread_ = start_quiet_thread([this] { watch(); });
}

StopSignals::StopSignals(std::stop_source stop)
    : StopSignals({.on_first = [stop]() mutable { stop.request_stop(); },
                   .on_another = [] {},
                   .on_alarm = [stop]() mutable { stop.request_stop(); }}) {}

StopSignals::~StopSignals() {
  eventfd_write(end_.get(), 1);
  thread_.join();
}

void StopSignals::watch() {
  for (;;) {
    std::array<pollfd, 3> watched{pollfd{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = end_.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = timer_.fd(), .events = POLLIN, .revents = 0}};
    poll(watched.data(), watched.size(), -1);
    if (watched[1].revents != 0) return;
    if (watched[2].revents != 0) {
      timer_.disarm();
      reactions_.on_alarm();
    }
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof info) == sizeof info) hear(static_cast<int>(info.ssi_signo));
  }
}

void StopSignals::hear(int signal) {
  if (first_ != 0) return reactions_.on_another();
  first_ = signal;
  eventfd_write(heard_.get(), 1);
  reactions_.on_first();
}

}  // namespace leasehold::cli

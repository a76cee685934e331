#include "cli/stop_signals.h"

#include <csignal>

namespace leasehold::cli {
namespace {

volatile std::sig_atomic_t signal_seen = 0;

}  // namespace

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int number) { signal_seen = number; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int stop_signal() { return signal_seen; }

}  // namespace leasehold::cli

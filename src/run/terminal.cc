#include "run/terminal.h"

#include <unistd.h>

#include <csignal>

namespace leasehold::run {

bool has_foreground(pid_t group) { return ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == group; }

void give_foreground(pid_t group) {
  // From the background this call stops the caller, unless it is deaf to that.
  sigset_t block;
  sigset_t before;
  ::sigemptyset(&block);
  ::sigaddset(&block, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &block, &before);
  ::tcsetpgrp(STDIN_FILENO, group);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace leasehold::run

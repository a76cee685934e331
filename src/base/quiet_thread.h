// Threads of the library block all signals: signals belong to the program that uses it.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace leasehold {

/// Throws std::system_error if no thread can be created.
template <typename Run>
std::thread start_quiet_thread(Run&& run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    std::thread thread(std::forward<Run>(run));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace leasehold

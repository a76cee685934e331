// How `work` and `chunk run` come to their end, step by step.
//
//   first signal    claims nothing more; running commands may finish for `grace`
//   then            they get SIGTERM, and SIGKILL if that is not enough
//   second signal   the same without waiting any longer
#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

#include "leasehold/time.h"
#include "run/unique_fd.h"

namespace leasehold::cli {

struct CommandStops {
  std::stop_source claiming;
  std::stop_source commands;  ///< SIGTERM, and after a while SIGKILL
  std::stop_source at_once;   ///< hardly any time between the two
};

/// Takes SIGTERM, SIGINT and SIGHUP, unless they are ignored (nohup), for the whole process: make it before any other
/// thread, which inherits that they are blocked.
class StopSignals {
 public:
  StopSignals(CommandStops& stops, Duration grace);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// The first that came; 0: none.
  [[nodiscard]] int first() const { return first_; }

 private:
  void watch();
  void hear(int signal);

  CommandStops& stops_;
  const Duration grace_;
  run::UniqueFd signals_;
  run::UniqueFd end_;
  std::atomic<int> first_ = 0;
  BootTime grace_ends_ = BootTime::max();
  std::thread thread_;
};

}  // namespace leasehold::cli

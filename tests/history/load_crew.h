// The processes of a load: started, killed now and then if that was asked for, followed by others, waited for.
#pragma once

#include <sys/types.h>

#include <map>
#include <set>

#include "history/load.h"

namespace leasehold::history {

class Crew {
 public:
  /// The calling process must not have used the library yet: what a process of it is would be inherited.
  explicit Crew(const LoadOptions& options) : options_(options), dice_(options.seed, -1) {}

  /// Until all have ended. True: all of them in order.
  bool run();

 private:
  void start_one();
  void reap_all();
  void note_end(pid_t pid, int status);
  void kill_one_now_and_then();
  void signal_all(int number) const;

  const LoadOptions& options_;
  Dice dice_;
  int started_ = 0;
  bool in_order_ = true;
  BootTime ends_at_{};
  BootTime next_kill_{};
  std::map<pid_t, int> running_;
  std::set<pid_t> killed_by_us_;
};

}  // namespace leasehold::history

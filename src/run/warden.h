// The warden: a process that starts a guardian for each command of a wrapper that has threads.
//
//   wrapper (database, threads) <---> warden (neither) ---> guardian ---> command
//              ^                                               |
//              +------------------- a channel each ------------+
//
// A process with threads cannot simply fork, and guardians must not inherit its database connections. So the wrapper
// forks the warden while it has neither, and the warden forks the guardians.
//
// It ends when the wrapper is gone and no guardian is left. So the store gets the warden as the holder's process: while
// it lives, a part of the commands may live, too, even if the wrapper was killed; once it is gone, others on this host
// may take over at once.
//
// Threading: fork() before any thread exists; everything else from any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/time.h"
#include "run/launch.h"
#include "run/message.h"
#include "run/process_tree.h"

namespace leasehold::run {

class Warden {
 public:
  /// Every guardian runs `argv`.
  static Result<std::unique_ptr<Warden>> fork(const std::vector<std::string>& argv);
  Warden(const Warden&) = delete;
  Warden& operator=(const Warden&) = delete;
  /// Waits for the warden, which ends with its last guardian.
  ~Warden();

  /// The channel to a new guardian, which waits for `grace` and `go`. An error: the warden is gone.
  [[nodiscard]] Result<Channel> new_guardian(Streams streams) const;

  /// In case the warden or its guardians were stopped.
  void wake() const;

  /// A guardian's channel closes when nothing of its command is left, unless the warden itself was killed: then the
  /// orphans of its guardians come to this process, and this function ends them.
  void end_what_came_to_us() const;

  [[nodiscard]] const ProcessId& process() const { return process_; }

 private:
  Warden(UniqueFd channel, ProcessId process, std::vector<ProcessId> foreign);

  UniqueFd channel_;
  const ProcessId process_;
  /// Earlier children of this process, and the warden: not to be ended.
  const std::vector<ProcessId> foreign_;
};

}  // namespace leasehold::run

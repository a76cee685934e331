// The warden: a process that starts a guardian for each command of a wrapper that has threads.
//
//   wrapper (database, threads) <---> warden (neither) ---> guardian ---> command
//              ^                                               |
//              +------------------- a channel each ------------+
//
// A process with threads cannot simply fork, and its database connections are not for guardians to inherit. So the
// warden is forked while there is neither, and guardians are forked from it.
//
// It ends when the wrapper is gone and no guardian is left. So it is the one to be named as the process that holds the
// leases: as long as it lives, something of the commands may live, too, even if the wrapper was killed; once it is
// gone, others on this host may take over at once.
//
// Threading: fork() before there are threads; everything else from any thread.
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
  /// Waits for the warden, which goes away with its last guardian.
  ~Warden();

  /// The channel to a new guardian, which waits for `grace` and `go`. An error: the warden is gone.
  [[nodiscard]] Result<Channel> new_guardian(Streams streams) const;

  /// In case somebody stopped the warden or its guardians.
  void wake() const;

  /// A guardian's channel is closed when nothing of its command is left, unless the warden itself was killed: then
  /// what its guardians leave behind comes to this process, and this ends it.
  void end_what_came_to_us() const;

  [[nodiscard]] const ProcessId& process() const { return process_; }

 private:
  Warden(UniqueFd channel, ProcessId process, std::vector<ProcessId> foreign);

  UniqueFd channel_;
  const ProcessId process_;
  /// Children this process had before, and the warden: not to be ended.
  const std::vector<ProcessId> foreign_;
};

}  // namespace leasehold::run

// Lets the processes that write to one file take turns.
//
// SQLite's busy handler makes everybody sleep and try again, and whoever commits in a loop always wins.
// The gate is a lock on a sidecar file (PATH-gate) with a turnstile before it: the next in turn stands in
// the turnstile, so the one who has just written cannot slip in again. Nothing is wrong without it: it
// is only about fairness, and who has waited too long (the process inside may be stopped) walks around.
#pragma once

#include <string>

#include "leasehold/time.h"

namespace leasehold::sqlite {

class WriteGate {
 public:
  /// Creates the sidecar file. Where that fails, everybody is let through.
  explicit WriteGate(const std::string& path);
  WriteGate(const WriteGate&) = delete;
  WriteGate& operator=(const WriteGate&) = delete;
  ~WriteGate();

  /// Waits for a turn, for a third of a second at most. Urgent ones pass the turnstile by. For one thread at a time.
  void enter(bool urgent, BootTime deadline);
  void leave();

 private:
  bool take(short what, int byte) const;
  bool wait_for(int byte, BootTime until) const;

  int file_ = -1;
  bool inside_ = false;
  BootTime walk_around_until_{};
};

}  // namespace leasehold::sqlite

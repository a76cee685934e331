// The terminal while `leasehold top` has it: the alternate screen, keys without echo, signals as something to wait for.
#pragma once

#include <termios.h>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "cli/top/layout.h"
#include "run/signals.h"

namespace leasehold::cli {

/// Signals that end, stop or resize the program, lined up behind a descriptor to poll. To be made before any thread
/// is: threads inherit that they are blocked.
class TopSignals {
 public:
  TopSignals();
  TopSignals(const TopSignals&) = delete;
  TopSignals& operator=(const TopSignals&) = delete;
  ~TopSignals();

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// The next one that came; nothing: none.
  [[nodiscard]] std::optional<int> next() const;

 private:
  sigset_t before_{};
  run::UniqueFd fd_;
};

/// As long as this lives, stdin and stdout are ours; then everything is as it was.
class TopTerminal {
 public:
  /// Whether there is somebody to show it to: a terminal on both ends that can move its cursor.
  static bool is_there();

  TopTerminal() { enter(); }
  TopTerminal(const TopTerminal&) = delete;
  TopTerminal& operator=(const TopTerminal&) = delete;
  ~TopTerminal() { leave(); }

  [[nodiscard]] static ScreenSize size();

  /// In place of what was shown before; what has not changed is not written again.
  void show(const std::vector<std::string>& lines, ScreenSize size);

  /// What was typed; nothing: the terminal is gone.
  std::optional<std::string> read_typed();

  /// Ctrl-Z: gives the terminal back, stops, and takes it again when the program goes on.
  void stop_and_come_back();

 private:
  void enter();
  void leave();

  termios before_{};
  std::string shown_;
};

}  // namespace leasehold::cli

// The terminal during `leasehold top`: the alternate screen, keys without echo, signals to poll for.
#pragma once

#include <termios.h>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "cli/top/layout.h"
#include "run/signals.h"

namespace leasehold::cli {

/// Signals that end, stop or resize the program, queued behind a descriptor to poll. Create it before any thread:
/// threads inherit that they are blocked.
class TopSignals {
 public:
  TopSignals();
  TopSignals(const TopSignals&) = delete;
  TopSignals& operator=(const TopSignals&) = delete;
  ~TopSignals();

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// The next pending signal; nothing if there is none.
  [[nodiscard]] std::optional<int> next() const;

 private:
  sigset_t before_{};
  run::UniqueFd fd_;
};

/// Owns stdin and stdout while it lives, and then restores them.
class TopTerminal {
 public:
  /// Whether both ends are a terminal that can move its cursor.
  static bool is_there();

  TopTerminal() { enter(); }
  TopTerminal(const TopTerminal&) = delete;
  TopTerminal& operator=(const TopTerminal&) = delete;
  ~TopTerminal() { leave(); }

  [[nodiscard]] static ScreenSize size();

  /// Replaces the previous screen; an unchanged screen is not written again.
  void show(const std::vector<std::string>& lines, ScreenSize size);

  /// The typed bytes; nothing if the terminal is gone.
  std::optional<std::string> read_typed();

  /// Ctrl-Z: restores the terminal, stops, and takes it again when the program continues.
  void stop_and_come_back();

 private:
  void enter();
  void leave();

  termios before_{};
  std::string shown_;
};

}  // namespace leasehold::cli

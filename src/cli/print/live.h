// Lines on a terminal that are redrawn in place.
//
//   LiveScreen screen;
//   for (...) screen.show(lines);      // the last ones stay
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/context.h"
#include "leasehold/lock.h"
#include "leasehold/time.h"

namespace leasehold::cli {

/// For terminals only: stdout must be one. Belongs to one thread.
class LiveScreen {
 public:
  /// Replaces the previous lines. The terminal cuts lines that are too long; this drops lines that do not fit the
  /// height, since scrolled lines could not be overwritten.
  void show(const std::vector<std::string>& lines);

  /// Call it before writing something else: the shown lines stay.
  void leave() { shown_ = 0; }

  /// The number of lines that fit.
  [[nodiscard]] static std::size_t height();

 private:
  std::size_t shown_ = 0;
};

// Progress: one line on stderr that is redrawn in place on a terminal.
//
//   ProgressLine progress;
//   for (...) progress.show([&] { return fmt::format("{} jobs", done); });

/// Shows nothing if stderr is not a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// Calls `text` only now and then, when it will be shown: call this as often as you like.
  template <typename Text>
  void show(Text text) {
    if (is_due()) write(text());
  }

  /// Call it before writing something else.
  void clear();

 private:
  bool is_due();
  void write(const std::string& text);

  const bool wanted_;
  bool shown_ = false;
  BootTime next_{};
};

/// "[#########...........]  45%"
std::string progress_bar(std::int64_t done, std::int64_t all);

// Shows on a terminal what a command waits for: one line on stderr, updated every second and removed at the end.
//
//   auto grant = say_while_waiting(wants_wait_line(context, wait), [&] { return waits_for_locks(locks, names); },
//                                  [&] { return locks.acquire_all(names, options); });

/// While it exists, a thread updates the line. A very short wait shows nothing.
class WaitLine {
 public:
  /// Called on another thread; an empty text shows nothing.
  using Describe = std::function<std::string()>;

  explicit WaitLine(Describe describe);
  WaitLine(const WaitLine&) = delete;
  WaitLine& operator=(const WaitLine&) = delete;
  ~WaitLine();

 private:
  std::jthread thread_;
};

/// Whether to show a wait line: the command may wait, and stderr is a terminal; not with --json, not with -q.
[[nodiscard]] bool wants_wait_line(const Context& context, Duration wait, bool quiet = false);

/// Returns the result of `call`; shows the line while it waits.
template <typename Call>
auto say_while_waiting(bool wanted, WaitLine::Describe describe, Call call) {
  if (!wanted) return call();
  const WaitLine line(std::move(describe));
  return call();
}

/// "waiting for deploy: held by ana on box, frees in 20s": short, so that a narrow terminal shows the end, too.
std::string waits_for_locks(const Locks& locks, const std::vector<std::string>& names);
/// "waiting for a job in mail: 2 running, 1 deferred"
std::string waits_for_job(const Store& store, const std::string& queue);

}  // namespace leasehold::cli

// Lines on a terminal that are written over again in place.
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

/// Only where stdout is a terminal. Belongs to one thread.
class LiveScreen {
 public:
  /// In place of what was shown before. Lines that are too long are cut by the terminal, lines that are too many by us:
  /// what has scrolled away could not be written over.
  void show(const std::vector<std::string>& lines);

  /// Before something else is written: what was shown stays.
  void leave() { shown_ = 0; }

  /// How many lines there is room for.
  [[nodiscard]] static std::size_t height();

 private:
  std::size_t shown_ = 0;
};

// How far it is: one line on stderr that is written over again while a person looks.
//
//   ProgressLine progress;
//   for (...) progress.show([&] { return fmt::format("{} jobs", done); });

/// Where stderr is no terminal, nothing is shown.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// Asks for the text only now and then, when it will be shown: call it as often as you like.
  template <typename Text>
  void show(Text text) {
    if (is_due()) write(text());
  }

  /// Before something else is written.
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

// Says on a terminal what a command waits for: one line on stderr, renewed every second and taken away at the end.
//
//   auto grant = say_while_waiting(wants_wait_line(context, wait), [&] { return waits_for_locks(locks, names); },
//                                  [&] { return locks.acquire_all(names, options); });

/// While there is one, a thread asks what is waited for. A wait that is over in a moment says nothing.
class WaitLine {
 public:
  /// Called on another thread; an empty text: there is nothing to say.
  using Describe = std::function<std::string()>;

  explicit WaitLine(Describe describe);
  WaitLine(const WaitLine&) = delete;
  WaitLine& operator=(const WaitLine&) = delete;
  ~WaitLine();

 private:
  std::jthread thread_;
};

/// Whether somebody may wait and a person looks who wants to read: not with --json, not with -q.
[[nodiscard]] bool wants_wait_line(const Context& context, Duration wait, bool quiet = false);

/// What `call` gives; while it waits, the line is there.
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

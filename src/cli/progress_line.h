// How far it is: one line on stderr that is written over again while a person looks.
//
//   ProgressLine progress;
//   for (...) progress.show([&] { return fmt::format("{} jobs", done); });
#pragma once

#include <string>

#include "leasehold/time.h"

namespace leasehold::cli {

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

}  // namespace leasehold::cli

// The input and output of a command under a lease.
//
//   stdin    a payload, a chunk
//   stdout   ours, or kept as the result
//   stderr   passed on to ours; its end is kept, for the error text
//   fd 3     its reports, a line at a time
//
// Belongs to one thread, which polls. Nothing here blocks: if our own stderr does not accept more, the command waits.
#pragma once

#include <poll.h>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"
#include "run/launch.h"
#include "run/signals.h"

namespace leasehold::cli {

class CommandStreams {
 public:
  struct Wanted {
    std::string_view input;
    bool keep_output = false;
    std::size_t longest_line = 4096;  ///< on descriptor 3; longer lines are cut
  };
  using OnLine = std::function<void(std::string_view line)>;

  static Result<CommandStreams> open(const Wanted& wanted, OnLine on_line);
  /// Our own streams, unchanged; but /dev/null for a terminal on stdin, since the command is not in its foreground.
  static CommandStreams inherited();

  /// The command's ends; once.
  run::Streams take_theirs() { return std::move(theirs_); }

  void add_to(std::vector<pollfd>& watched) const;
  /// Reads and passes on the available output.
  void serve();
  /// Reads what is left in the pipes after the command's end.
  void finish();

  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] bool output_was_cut() const { return output_was_cut_; }
  [[nodiscard]] const std::string& error_tail() const { return error_tail_; }
  /// Text on descriptor 3 without an end of line.
  [[nodiscard]] const std::string& unfinished_line() const { return line_; }

 private:
  CommandStreams(std::size_t longest_line, OnLine on_line)
      : longest_line_(longest_line), on_line_(std::move(on_line)) {}
  // True if something was read.
  bool serve_output();
  bool serve_errors();
  bool serve_lines();
  bool pass_errors_on(int patience_ms);

  std::size_t longest_line_;
  OnLine on_line_;
  run::Streams theirs_;
  run::UniqueFd output_end_;
  run::UniqueFd error_end_;
  run::UniqueFd line_end_;
  std::string output_;
  bool output_was_cut_ = false;
  std::string unpassed_errors_;
  std::string error_tail_;
  std::string line_;
};

}  // namespace leasehold::cli

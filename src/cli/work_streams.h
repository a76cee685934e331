// What goes into a job's command and comes out of it.
//
//   stdin    the payload
//   stdout   ours, or kept as the result
//   stderr   passed on to ours; its end is kept, for the error text
//   fd 3     progress, a line at a time
//
// Belongs to one thread, which polls. Nothing here waits for anybody: where our own stderr does not take more, the
// command waits.
#pragma once

#include <poll.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"
#include "run/launch.h"
#include "run/unique_fd.h"

namespace leasehold::cli {

class WorkStreams {
 public:
  using OnProgress = std::function<void(std::string_view line)>;

  static Result<WorkStreams> open(std::string_view payload, bool keep_output, OnProgress on_progress);

  /// The command's ends; once.
  run::Streams take_theirs() { return std::move(theirs_); }

  void add_to(std::vector<pollfd>& watched) const;
  /// Reads and passes on what is there.
  void serve();
  /// The command is gone: what is left in the pipes.
  void finish();

  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] bool output_was_cut() const { return output_was_cut_; }
  [[nodiscard]] const std::string& error_tail() const { return error_tail_; }

 private:
  explicit WorkStreams(OnProgress on_progress) : on_progress_(std::move(on_progress)) {}
  // True: something came.
  bool serve_output();
  bool serve_errors();
  void serve_progress();
  bool pass_errors_on(int patience_ms);

  OnProgress on_progress_;
  run::Streams theirs_;
  run::UniqueFd output_end_;
  run::UniqueFd error_end_;
  run::UniqueFd progress_end_;
  std::string output_;
  bool output_was_cut_ = false;
  std::string unpassed_errors_;
  std::string error_tail_;
  std::string progress_line_;
};

}  // namespace leasehold::cli

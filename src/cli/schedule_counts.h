// Where a command under a schedule may tell what it has done: a file of its own, LEASEHOLD_COUNTS_FILE.
//
//   auto counts = CountsFile::open();
//   ... run the command with counts->variable() in its environment ...
//   counts->read()          // "{"rows":120}", or nothing
//
// The file has no name in any folder: it goes with this process, however that ends.
#pragma once

#include <optional>
#include <string>

#include "leasehold/result.h"
#include "run/unique_fd.h"

namespace leasehold::cli {

/// Belongs to one thread.
class CountsFile {
 public:
  static Result<CountsFile> open();

  /// "LEASEHOLD_COUNTS_FILE=/proc/12/fd/7"
  [[nodiscard]] std::string variable() const;
  /// What was written. Empty: nothing. What is no JSON, or too much of it, is an error.
  [[nodiscard]] Result<std::string> read() const;

 private:
  explicit CountsFile(run::UniqueFd file) : file_(std::move(file)) {}

  run::UniqueFd file_;
};

/// The same for a run that is over: what cannot be kept is told, with the name of the run in front, and left out.
std::string counts_told(const CountsFile& file, const std::string& name);

}  // namespace leasehold::cli

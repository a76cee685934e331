// The verdict on a whole history: each thing by itself, for linearizability is a property of each thing.
#pragma once

#include <string>
#include <vector>

#include "history/history.h"
#include "history/linearize.h"

namespace leasehold::history {

struct Report {
  std::size_t objects = 0;
  std::size_t acts = 0;
  std::size_t in_doubt = 0;
  std::vector<std::string> violations{};  ///< each a few lines: what, where, why
  std::vector<std::string> undecided{};   ///< the objects
  std::string praise = "linearizable";    ///< what is said when nothing is wrong

  /// violated, if anything is; else undecided, if anything is.
  [[nodiscard]] Verdict verdict() const;
  /// "12 objects, 3410 acts, 7 in doubt: linearizable"
  [[nodiscard]] std::string summary() const;
};

/// `most`: how hard to try with each object; see linearize().
Report check(const History& history, std::size_t max = 1'000'000);

/// For a store that may have lost what it had acknowledged (an asynchronous standby took over, an old copy was
/// restored): only what must hold even then. No token is granted twice, and of two grants of a thing, one after the
/// other, the later one has the greater token.
Report check_tokens(const History& history);

}  // namespace leasehold::history

// Is there an order of the acts on one thing that agrees with real time and with the specification?
//
// A depth-first search as Wing and Gong describe it: of the acts that could come next, those that began before the
// first unfinished one ended, take one that the specification allows, and go on from there; where none is left, go
// back. What was tried is remembered as (set of acts taken, state), as Lowe does it, so that nothing is tried twice.
// Acts that may have happened can be taken at any point after their start, or never.
#pragma once

#include <string>
#include <vector>

#include "history/specification.h"

namespace leasehold::history {

enum class Verdict {
  linearizable,
  violated,   ///< no order was found, and all were tried
  undecided,  ///< there were too many to try
};

struct Finding {
  Verdict verdict = Verdict::linearizable;
  /// Violated: an order that goes as far as any does, by place in the acts ...
  std::vector<std::size_t> order{};
  /// ... and what cannot come next, with the reason.
  struct Obstacle {
    std::size_t act = 0;
    std::string why;
  };
  std::vector<Obstacle> obstacles{};
};

/// `acts` of one thing, by start. `most`: how many sets with their states are remembered before it gives up.
Finding linearize(const std::vector<Act>& acts, const Surroundings& around, std::size_t max = 1'000'000);

}  // namespace leasehold::history

// The options of leasehold-sim.
#pragma once

#include <span>
#include <string>

#include "leasehold/result.h"
#include "sim/options.h"

namespace leasehold::sim {

struct Arguments {
  RunOptions run;                ///< of the first run; each further one has the next seed
  bool seed_given = false;       ///< false: a random one is to be drawn
  std::int64_t steps = 100'000;  ///< of all runs together
  bool replay = false;           ///< one run, with its whole trace
  bool shrink = false;
  bool json = false;
  bool help = false;
  std::string svg;  ///< the file for the timeline; empty: none
};

extern const char* const usage;

/// `invalid_argument` says what is wrong.
Result<Arguments> parse_arguments(std::span<char* const> words);

}  // namespace leasehold::sim

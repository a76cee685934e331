// How many random sequences a model test draws, and which.
#pragma once

#include <cstdlib>
#include <string>

namespace leasehold::support {

/// The same ones every time, so that what is red here is red for everybody. RC_PARAMS="max_success=3000" draws others,
/// and says which seed repeats them.
inline void draw(int sequences) {
  ::setenv("RC_PARAMS", ("seed=20261116 max_success=" + std::to_string(sequences)).c_str(), 0);
}

}  // namespace leasehold::support

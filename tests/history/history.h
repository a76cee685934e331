// The records of a load, read back.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "history/act.h"

namespace leasehold::history {

struct History {
  std::string run;                        ///< begins every key
  std::int64_t ttl = 0;                   ///< of every lease, in microseconds
  std::vector<Act> acts;                  ///< by start
  std::map<int, Nanoseconds> last_words;  ///< from when on a process may be gone, with all it held
};

/// Reads every process' file in the folder. Throws std::runtime_error where that is not what a load has written.
History read_history(const std::string& folder);

/// Adds the lines of one process.
void add_lines(History& history, std::string_view lines);

}  // namespace leasehold::history

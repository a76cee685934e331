// What happened between two looks at a set: who went on where another one had stopped, what expired, what failed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/chunk_picture.h"

namespace leasehold::cli {

/// Told picture after picture. What begins and ends between two of them is not noticed.
class ChunkNews {
 public:
  /// One line for everything that is new; nothing for the first picture.
  std::vector<std::string> since_last(const ChunkPicture& picture);

 private:
  struct Seen {
    Token token;
    std::string holder;
    ChunkState state = ChunkState::running;
  };

  void look_at_held(std::vector<std::string>& news, const ChunkInfo& chunk);
  void look_at_exhausted(std::vector<std::string>& news, const ChunkInfo& chunk);

  bool first_ = true;
  std::map<std::string, Seen> held_;  ///< by key, also when nobody holds it any more
  std::set<std::string> exhausted_;
};

}  // namespace leasehold::cli

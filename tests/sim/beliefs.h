// What holders believe: which key is theirs, and until when. The library says so, with `trusted_until`.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "leasehold/time.h"

namespace leasehold::sim {

struct Belief {
  std::string key;
  std::int64_t token = 0;
  std::int64_t pid = 0;
  /// All keys under one lease have one deadline: "job 12 at 177...", "session s1 at ...", "worker 7".
  std::string lease;
};

class Beliefs {
 public:
  void begin(Belief belief, BootTime until) {
    deadlines_[belief.lease] = until;
    auto& known = beliefs_[belief.key];
    std::erase_if(known, [&](const Belief& one) { return one.token == belief.token && one.pid == belief.pid; });
    known.push_back(std::move(belief));
  }
  void extend(const std::string& lease, BootTime until) {
    if (deadlines_.contains(lease)) deadlines_[lease] = until;
  }
  /// A holder that gives up reports it before it calls the store.
  void give_up(const std::string& key, std::int64_t token) {
    std::erase_if(beliefs_[key], [&](const Belief& one) { return one.token == token; });
  }
  void give_up_lease(const std::string& lease) {
    for (auto& [key, known] : beliefs_) std::erase_if(known, [&](const Belief& one) { return one.lease == lease; });
    deadlines_.erase(lease);
  }
  /// A process that is gone believes nothing.
  void forget_process(std::int64_t pid) {
    for (auto& [key, known] : beliefs_) std::erase_if(known, [&](const Belief& one) { return one.pid == pid; });
  }
  void forget_all() {
    beliefs_.clear();
    deadlines_.clear();
  }

  [[nodiscard]] const std::vector<Belief>& about(const std::string& key) { return beliefs_[key]; }
  [[nodiscard]] BootTime deadline(const Belief& belief) const {
    const auto found = deadlines_.find(belief.lease);
    return found == deadlines_.end() ? BootTime{} : found->second;
  }

 private:
  std::map<std::string, std::vector<Belief>> beliefs_;
  std::map<std::string, BootTime> deadlines_;
};

}  // namespace leasehold::sim

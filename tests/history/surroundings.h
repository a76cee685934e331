// Facts that the rules need but an object's own history does not contain: how late it may have been by the store's
// clock, which processes may be gone, until when sessions were alive for certain, which claims got lost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "history/history.h"

namespace leasehold::history {

class Surroundings {
 public:
  Surroundings() = default;
  explicit Surroundings(const History& history);

  /// The latest that the store's clock can have shown at this moment. Where its readings do not fit a clock that runs
  /// evenly (it was set, or another server took over): any time.
  [[nodiscard]] StoreTime latest(Nanoseconds when) const;
  /// The earliest.
  [[nodiscard]] StoreTime earliest(Nanoseconds when) const;

  /// The process may have ended by then: what it held may be taken over at once.
  [[nodiscard]] bool gone(int process, Nanoseconds by) const;

  /// The session may be over for an act that began at `start` and took effect before `by`, at the store's time `at`.
  [[nodiscard]] bool session_may_be_over(const std::string& session, Nanoseconds start, Nanoseconds by,
                                         StoreTime at) const;

  /// The session may have been closed by itself before `by`.
  [[nodiscard]] bool session_may_be_closed(const std::string& session, Nanoseconds by) const;

  /// The process has said the same with the same token before, and the answer was that it took effect.
  [[nodiscard]] bool said_before(const Act& act) const;

  /// How many claims without an answer may have taken effect by then: each may have taken any job.
  [[nodiscard]] std::int64_t lost_claims(Nanoseconds by) const;

  [[nodiscard]] std::int64_t ttl() const { return ttl_; }

 private:
  struct Session {
    int process = 0;
    std::vector<std::pair<Nanoseconds, StoreTime>> known_until;  ///< reported at, lives until
    Nanoseconds closed_from = never;
  };

  void learn_clock(const History& history);
  void learn_session(const Act& act);

  bool steady_ = false;
  StoreTime offset_least_ = 0;  ///< store's clock less boot time, in microseconds
  StoreTime offset_most_ = 0;
  std::int64_t ttl_ = 0;
  std::map<int, Nanoseconds> last_words_;
  std::map<std::string, Session> sessions_;
  std::vector<Nanoseconds> lost_claims_;
  std::map<std::string, std::int64_t> first_said_;  ///< number of the act, by object, verb, token and process
};

}  // namespace leasehold::history

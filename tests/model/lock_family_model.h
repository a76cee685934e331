// What the lock family promises, in C++: no database, no concurrency, time is a number.
#pragma once

#include "model/lock_family_state.h"

namespace leasehold::lock_family {

class LockFamilyModel {
 public:
  explicit LockFamilyModel(Moment now) : now_(now) {}

  void advance(Moment by) { now_ += by; }
  /// The latest that was given for a lock; 0: none.
  Moment token(const std::string& name) { return lock(name).token; }

  std::string acquire(const Names& names, const Request& request);
  std::string share(const std::string& name, const Permits& permits, const Request& request);
  std::string heartbeat(const std::string& name, Moment token, std::optional<Moment> ttl);
  std::string release(const std::string& name, Moment token);
  std::string revoke(const std::string& name, std::optional<Moment> token);
  /// Keeps the places for as long as the ttl.
  std::string wait(const Names& names, const Request& request);
  std::string leave(const Names& names, const std::string& request);
  /// Has a place, and was not silent for too long.
  [[nodiscard]] bool stands(const std::string& request) const {
    return std::any_of(line_.begin(), line_.end(),
                       [&](const Place& place) { return place.request_id == request && place.until > now_; });
  }
  std::string recover(std::int64_t max);
  std::string reap(const std::string& holder);
  std::string prune(Moment older_than);

  std::string show(const std::string& name);
  std::string holders(const std::string& name);
  std::string list(bool only_held);
  std::string status();
  /// The events since the last call.
  std::string news();

 private:
  /// The obstacle of a request; an empty outcome if there is none.
  struct Obstacle {
    std::string outcome{};
    std::string why{};
    const Grant* reported = nullptr;
    std::int64_t waiters = 0;
  };

  Lock& lock(const std::string& name) { return locks_[name]; }

  [[nodiscard]] std::string answer(const std::string& outcome, const std::string& why, const std::string& key,
                                   const Grant* reported, std::int64_t waiters = 0, bool replayed = false) const {
    Answer said{.outcome = outcome, .why = why, .key = key, .waiters = waiters, .replayed = replayed};
    if (reported != nullptr) said.reported = reported->reported();
    const bool is_to_holder =
        outcome == "granted" || outcome == "extended" || outcome == "released" || outcome == "revoked";
    if (said.reported && !is_to_holder) said.reported->token = 0;
    return say(said, now_);
  }
  /// Why a token, or a request, does not count.
  std::string lost(const std::string& name, const Grant* grant, bool replayed = false) {
    return grant == nullptr ? answer("lost", "superseded", name, lock(name).shown(now_), 0, replayed)
                            : answer("lost", grant->loss(), name, grant, 0, replayed);
  }

  void tell(const std::string& key, const std::string& what, const Grant& grant, const std::string& detail = {},
            const std::string& previous = {}) {
    events_.push_back({.key = key,
                       .what = what,
                       .token = grant.token,
                       .holder = grant.holder,
                       .previous_holder = previous,
                       .detail = detail});
  }
  /// Ends a lease with all that it holds; writes an event for each name but those in `taken`.
  std::int64_t end(Grant& grant, const std::string& reason, const std::string& detail, const Names& taken = {}) {
    grant.ended_at = now_;
    grant.end_reason = reason;
    grant.end_detail = detail;
    for (const auto& name : grant.names) {
      if (std::find(taken.begin(), taken.end(), name) != taken.end()) continue;
      tell(name, reason, grant, detail.empty() ? grant.words() : detail);
    }
    return static_cast<std::int64_t>(grant.names.size());
  }

  const Grant* asked_before(const std::string& request) const;
  Obstacle obstacle_of_whole(const Lock& lock, const Request& request) const;
  Obstacle obstacle_of_shares(const Lock& lock, const Request& request) const;
  Obstacle no_room(const Lock& lock, const Permits& permits, const Request& request) const;
  Obstacle obstacle_in_line(const std::string& name, const Request& request);
  Obstacle obstacle_before(const std::string& name, const Request& request);
  std::int64_t ahead(const std::string& name, const std::string& request) const;
  Grant& new_grant(const Names& names, const Request& request);
  void give_up_places(const Names& names, const std::string& request);
  std::vector<Grant*> open_grants();
  bool is_over(const std::string& name, const Lock& lock, Moment older_than) const;

  Moment now_;
  std::map<std::string, Lock> locks_;  ///< in order of names
  std::deque<Grant> grants_;           ///< in order of their leases
  std::vector<Place> line_;            ///< in order of arrival
  std::vector<Happened> events_;
};

}  // namespace leasehold::lock_family

#include "model/lock_family_ask.h"
#include "model/lock_family_end.h"
#include "model/lock_family_look.h"

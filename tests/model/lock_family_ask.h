// How the model of the lock family judges requests, and its lines.
#pragma once

#include "model/lock_family_model.h"

namespace leasehold::lock_family {

inline const Grant* LockFamilyModel::asked_before(const std::string& request) const {
  const auto found = std::find_if(grants_.begin(), grants_.end(), [&](const Grant& grant) {
    return !request.empty() && grant.request_id == request && !grant.forgotten;
  });
  return found == grants_.end() ? nullptr : &*found;
}

inline LockFamilyModel::Obstacle LockFamilyModel::obstacle_of_whole(const Lock& lock, const Request& request) const {
  if (lock.shared || lock.whole == nullptr) return {};
  if (lock.whole->live(now_))
    return {.outcome = lock.whole->is_of(request) ? "reentry" : "held", .reported = lock.whole};
  if (lock.whole->counts(now_)) return {.outcome = "held", .why = "delayed", .reported = lock.whole};
  return {};
}

inline LockFamilyModel::Obstacle LockFamilyModel::obstacle_of_shares(const Lock& lock, const Request& request) const {
  Obstacle found;
  if (!lock.shared) return found;
  for (const auto* share : lock.holders(now_)) {
    if (share->live(now_) && share->is_of(request)) {
      found = {.outcome = "reentry", .reported = share};
    } else if (share->live(now_) && found.outcome != "reentry") {
      found = {.outcome = "held", .reported = lock.shown(now_)};
    } else if (share->counts(now_) && found.outcome.empty()) {
      found = {.outcome = "held", .why = "delayed", .reported = lock.delayed(now_)};
    }
  }
  return found;
}

inline LockFamilyModel::Obstacle LockFamilyModel::no_room(const Lock& lock, const Permits& permits,
                                                          const Request& request) const {
  std::int64_t alive = permits.count;
  std::int64_t counted = permits.count;
  std::int64_t own = permits.count;
  const Grant* latest_own = nullptr;
  bool any = false;
  if (!lock.shared) return {};
  for (const auto* share : lock.holders(now_)) {
    any = any || share->counts(now_);
    if (share->live(now_)) alive += share->share->count;
    if (share->counts(now_)) counted += share->share->count;
    if (!share->live(now_) || !share->is_of(request)) continue;
    own += share->share->count;
    latest_own = share;
  }
  const auto* shown = lock.shown(now_);
  if (any && lock.capacity != permits.capacity) {
    return {.outcome = "mismatch",
            .why = lock.capacity ? std::to_string(*lock.capacity) : "unlimited",
            .reported = shown->live(now_) ? shown : lock.delayed(now_)};
  }
  if (latest_own != nullptr && permits.capacity && own > *permits.capacity) {
    return {.outcome = "reentry", .reported = latest_own};
  }
  if (permits.capacity && alive > *permits.capacity) return {.outcome = "held", .reported = shown};
  if (permits.capacity && counted > *permits.capacity) {
    return {.outcome = "held", .why = "delayed", .reported = lock.delayed(now_)};
  }
  return {};
}

inline std::int64_t LockFamilyModel::ahead(const std::string& name, const std::string& request) const {
  std::int64_t count = 0;
  for (const auto& place : line_) {
    if (place.name != name || place.until <= now_) continue;
    if (place.request_id == request) break;
    ++count;
  }
  return count;
}

inline LockFamilyModel::Obstacle LockFamilyModel::obstacle_in_line(const std::string& name, const Request& request) {
  const auto before = ahead(name, request.request_id);
  // Those before it may be waiting for the share it has.
  if (before == 0 || lock(name).is_shared_by(request, now_)) return {};
  return {.outcome = "busy", .reported = lock(name).shown(now_), .waiters = before};
}

inline Grant& LockFamilyModel::new_grant(const Names& names, const Request& request) {
  Moment token = now_;
  for (const auto& name : names) token = std::max(token, lock(name).token + 1);
  for (const auto& name : names) lock(name).token = token;
  grants_.push_back({.holder = request.holder,
                     .instance = request.instance,
                     .request_id = request.request_id,
                     .ttl = request.ttl,
                     .delay = request.delay,
                     .heartbeat_at = now_,
                     .expires_at = now_ + request.ttl,
                     .token = token,
                     .names = names});
  return grants_.back();
}

inline std::string LockFamilyModel::acquire(const Names& asked, const Request& request) {
  auto names = asked;
  std::sort(names.begin(), names.end());
  if (const auto* before = asked_before(request.request_id)) {
    for (const auto& name : names) {
      if (before->names != names || lock(name).shared || lock(name).whole != before) return lost(name, nullptr, true);
    }
    if (!before->live(now_)) return lost(names.front(), before, true);
    return answer("granted", "", names.front(), before, 0, true);
  }
  for (const auto& name : names) {
    auto found = obstacle_of_whole(lock(name), request);
    if (found.outcome.empty()) found = obstacle_of_shares(lock(name), request);
    if (found.outcome.empty()) found = obstacle_in_line(name, request);
    if (!found.outcome.empty()) return answer(found.outcome, found.why, name, found.reported, found.waiters);
  }
  std::map<std::string, std::string> previous;
  for (const auto& name : names) {
    auto& whole = lock(name).whole;
    if (lock(name).shared || whole == nullptr || !whole->open()) continue;
    for (const auto& other : names) {
      if (lock(other).whole == whole && !lock(other).shared) previous[other] = whole->holder;
    }
    end(*whole, "expired", "", names);
  }
  for (const auto& name : names) {
    if (!lock(name).shared) continue;
    for (auto* share : lock(name).holders(now_)) end(*share, "expired", "");
  }
  give_up_places(names, request.request_id);
  auto& mine = new_grant(names, request);
  for (const auto& name : names) {
    lock(name).whole = &mine;
    lock(name).shared = false;
    const auto from = previous[name];
    tell(name, from.empty() ? "acquired" : "reclaimed", mine, "", from);
  }
  return answer("granted", "", names.front(), &mine);
}

inline std::string LockFamilyModel::share(const std::string& name, const Permits& permits, const Request& request) {
  auto& wanted = lock(name);
  if (const auto* before = asked_before(request.request_id)) {
    if (!before->share || before->names.front() != name || before->share->count != permits.count ||
        (before->live(now_) && before->share->capacity != permits.capacity)) {
      return lost(name, nullptr, true);
    }
    return before->live(now_) ? answer("granted", "", name, before, 0, true) : lost(name, before, true);
  }
  auto found = obstacle_of_whole(wanted, request);
  if (found.outcome.empty()) found = no_room(wanted, permits, request);
  if (found.outcome.empty()) found = obstacle_in_line(name, request);
  if (!found.outcome.empty()) return answer(found.outcome, found.why, name, found.reported, found.waiters);
  std::string previous;
  if (!wanted.shared && wanted.whole != nullptr && wanted.whole->open()) {
    previous = wanted.whole->holder;
    end(*wanted.whole, "expired", "", {name});
  }
  for (auto* other : wanted.shared ? wanted.holders(now_) : std::vector<Grant*>{}) {
    if (other->over(now_)) end(*other, "expired", "");
  }
  give_up_places({name}, request.request_id);
  auto& mine = new_grant({name}, request);
  mine.share = permits;
  wanted.shares.push_back(&mine);
  wanted.shared = true;
  wanted.capacity = permits.capacity;
  tell(name, previous.empty() ? "acquired" : "reclaimed", mine, mine.words(), previous);
  return answer("granted", "", name, &mine);
}

inline void LockFamilyModel::give_up_places(const Names& names, const std::string& request) {
  std::erase_if(line_, [&](const Place& place) {
    return place.request_id == request && std::find(names.begin(), names.end(), place.name) != names.end();
  });
}

/// Why a waiter in the line still waits.
inline LockFamilyModel::Obstacle LockFamilyModel::obstacle_before(const std::string& name, const Request& request) {
  auto found = obstacle_in_line(name, request);
  if (found.outcome.empty()) return found;
  const auto* shown = lock(name).shown(now_);
  if (shown == nullptr || !shown->counts(now_)) return found;
  found.outcome = "held";
  if (!shown->live(now_)) found.why = "delayed";
  return found;
}

inline std::string LockFamilyModel::wait(const Names& asked, const Request& request) {
  const auto& id = request.request_id;
  auto names = asked;
  std::sort(names.begin(), names.end());
  std::vector<Place*> own;
  for (auto& place : line_) {
    if (place.request_id == id && place.until > now_) own.push_back(&place);
  }
  const bool kept = own.size() == names.size();
  if (kept) {
    for (auto* place : own) place->until = now_ + request.ttl;
  } else {
    give_up_places(names, id);
    for (const auto& name : names) line_.push_back({.name = name, .request_id = id, .until = now_ + request.ttl});
  }
  for (const auto& name : names) {
    const auto found = obstacle_before(name, request);
    if (!found.outcome.empty()) return answer(found.outcome, found.why, name, found.reported, found.waiters, kept);
  }
  return answer("free", "", names.front(), lock(names.front()).shown(now_), 0, kept);
}

inline std::string LockFamilyModel::leave(const Names& names, const std::string& request) {
  const bool stood = std::any_of(line_.begin(), line_.end(), [&](const Place& place) {
    return place.request_id == request && place.until > now_ &&
           std::find(names.begin(), names.end(), place.name) != names.end();
  });
  give_up_places(names, request);
  return stood ? "left" : "was not there";
}

}  // namespace leasehold::lock_family

// How grants go on and come to their end, in the model of the lock family.
#pragma once

#include "model/lock_family_model.h"

namespace leasehold::lock_family {

inline std::string LockFamilyModel::heartbeat(const std::string& name, Moment token, std::optional<Moment> ttl) {
  if (lock(name).token == 0) return answer("not_found", "", name, nullptr);
  auto* grant = lock(name).with(token);
  if (grant == nullptr || !grant->live(now_)) return lost(name, grant);
  grant->ttl = ttl.value_or(grant->ttl);
  grant->heartbeat_at = now_;
  grant->expires_at = now_ + grant->ttl;
  return answer("extended", "", name, grant);
}

inline std::string LockFamilyModel::release(const std::string& name, Moment token) {
  if (lock(name).token == 0) return answer("not_found", "", name, nullptr);
  auto* grant = lock(name).with(token);
  if (grant != nullptr && grant->end_reason == "released") return answer("released", "", name, grant, 0, true);
  if (grant == nullptr || !grant->open()) return lost(name, grant);
  end(*grant, "released", "");
  return answer("released", "", name, grant);
}

inline std::string LockFamilyModel::revoke(const std::string& name, std::optional<Moment> token) {
  if (lock(name).token == 0) return answer("not_found", "", name, nullptr);
  Grant* latest = nullptr;
  for (auto* grant : lock(name).holders(now_)) {
    if (!grant->open() || (token && grant->token != *token)) continue;
    end(*grant, "revoked", "because");
    latest = grant;
  }
  if (latest != nullptr) return answer("revoked", "", name, latest);
  return token ? lost(name, lock(name).with(*token)) : answer("free", "", name, lock(name).shown(now_));
}

inline std::vector<Grant*> LockFamilyModel::open_grants() {
  std::vector<Grant*> all;
  for (auto& grant : grants_) {
    if (grant.open()) all.push_back(&grant);
  }
  return all;
}

inline std::string LockFamilyModel::recover(std::int64_t max) {
  std::int64_t stale = 0;
  std::int64_t ended = 0;
  for (auto* grant : open_grants()) {
    if (grant->expires_at > now_) continue;
    stale += static_cast<std::int64_t>(grant->names.size());
    if (max-- > 0) ended += end(*grant, "expired", "");
  }
  return std::to_string(ended) + " of " + std::to_string(stale);
}

inline std::string LockFamilyModel::reap(const std::string& holder) {
  Grant* suspect = nullptr;
  for (auto* grant : open_grants()) {
    if (grant->holder != holder) continue;
    if (suspect == nullptr || grant->heartbeat_at < suspect->heartbeat_at) suspect = grant;
  }
  if (suspect == nullptr) return "nobody";
  end(*suspect, "expired", "process gone");
  return "reaped";
}

/// It was neither held nor waited for since then, and its token is that old, too.
inline bool LockFamilyModel::is_over(const std::string& name, const Lock& lock, Moment older_than) const {
  const auto gone = [&](const Grant* grant) {
    return grant->ended_at && *grant->ended_at < now_ - older_than && grant->free_at() <= now_;
  };
  return lock.token < now_ - older_than && (lock.whole == nullptr || gone(lock.whole)) &&
         std::all_of(lock.shares.begin(), lock.shares.end(), gone) &&
         std::none_of(line_.begin(), line_.end(),
                      [&](const Place& place) { return place.name == name && place.until > now_; });
}

inline std::string LockFamilyModel::prune(Moment older_than) {
  for (auto& [name, lock] : locks_) {
    std::erase_if(lock.shares, [&, token = lock.token, shared = lock.shared](Grant* share) {
      const bool old = share->ended_at && *share->ended_at < now_ - older_than && share->free_at() <= now_;
      return old && !(shared && share->token == token);
    });
  }
  std::erase_if(locks_, [&](const auto& entry) { return is_over(entry.first, entry.second, older_than); });
  for (auto& grant : grants_) {
    const auto has = [&](const std::string& name) {
      const auto& shares = lock(name).shares;
      return lock(name).whole == &grant || std::find(shares.begin(), shares.end(), &grant) != shares.end();
    };
    const bool old = grant.ended_at && *grant.ended_at < now_ - older_than;
    if (old && std::none_of(grant.names.begin(), grant.names.end(), has)) grant.forgotten = true;
  }
  return "pruned";
}

}  // namespace leasehold::lock_family

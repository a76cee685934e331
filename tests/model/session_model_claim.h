// The model's claims: which session may have an item, and what blocks the others.
#pragma once

#include "model/session_model.h"

namespace leasehold::session_model {

inline std::string SessionModel::reported(const ModelClaim& claim, bool replayed) {
  const auto& of = opening(claim.opening);
  return say(Taken{.item = claim.item,
                   .session = of.session,
                   .token = claim.token,
                   .taken_at = claim.taken_at,
                   .expires_at = of.expires_at,
                   .replayed = replayed},
             now_);
}

/// Why a session can have nothing; empty: it can.
inline std::string SessionModel::unfit(const std::string& id, Ago ago) {
  const auto* caller = session(id);
  if (caller == nullptr) return "unregistered unknown";
  if (ago && caller->token != earlier(session_tokens_[id], *ago)) return "unregistered superseded";
  const auto why = caller->unfit(now_);
  return why.empty() ? "" : "unregistered " + why;
}

/// The claim that keeps an opening from having an item: of what is above, of what is below, of what conflicts.
/// `giving` is the session that gives it away.
inline ModelClaim* SessionModel::blocker(int caller, const std::string& key, int giving) {
  const auto* wanted = item(key);
  std::set<std::string> above;
  for (auto next = wanted->parent; !next.empty(); next = items_.at(next).parent) above.insert(next);
  std::set<std::string> below;
  for (const auto& [other, its] : items_) {
    for (auto next = its.parent; !next.empty(); next = items_.at(next).parent) {
      if (next == key) below.insert(other);
    }
  }
  for (const auto& rivals : {above, below, wanted->conflicts}) {
    for (const auto& rival : rivals) {
      auto* held = active(rival);
      if (alive(held) && held->opening != caller && held->opening != giving) return held;
    }
  }
  return nullptr;
}

/// Blocked, or an exclusive session with another item than these; empty: nothing is in the way.
inline std::string SessionModel::obstacle(int caller, const std::string& key, const std::string& leaving, int giving) {
  if (item(key) != nullptr) {
    if (const auto* held = blocker(caller, key, giving); held != nullptr) return refuse("blocked", held);
  }
  if (!opening(caller).exclusive) return "";
  const auto* other = find_claim([&](const ModelClaim& claim) {
    return claim.active() && claim.opening == caller && claim.item != key && claim.item != leaving;
  });
  return other == nullptr ? "" : refuse("at_capacity", other);
}

inline std::string SessionModel::grant(int caller, const std::string& key, const std::string& from, bool created) {
  auto& wanted = items_.at(key);
  wanted.token = std::max(wanted.token + 1, now_);
  item_tokens_[key].push_back(wanted.token);
  opening(caller).work(now_);
  claims_.push_back({.item = key, .token = wanted.token, .opening = caller, .taken_at = now_});
  const auto& of = opening(caller);
  return say(Taken{.item = key,
                   .session = of.session,
                   .token = wanted.token,
                   .taken_at = now_,
                   .expires_at = of.expires_at,
                   .from = from,
                   .created = created},
             now_);
}

/// `leaving` is what the opening gives up for it, if anything.
inline std::string SessionModel::acquire(int caller, const std::string& key, bool create, const std::string& leaving) {
  const auto* wanted = item(key);
  if (wanted == nullptr && !create) return "not_found";
  if (wanted != nullptr && wanted->done_at) return "terminal";
  const auto* held = active(key);
  const bool mine = held != nullptr && held->opening == caller;
  if (!mine && alive(held)) return refuse("held", held);
  const auto* latest = wanted == nullptr ? nullptr : claim(key, wanted->token);
  if (latest != nullptr && latest->end_reason == "revoked" && latest->opening == caller) return "lost revoked";
  if (const auto needed = mine || wanted == nullptr ? "" : waits_for(key); !needed.empty()) {
    return refuse("blocked", alive(active(needed)) ? active(needed) : nullptr);
  }
  if (!mine) {
    if (const auto refusal = obstacle(caller, key, leaving, caller); !refusal.empty()) return refusal;
  }
  if (!leaving.empty()) active(leaving)->end("switched", key, now_);
  if (mine) return reported(*held, true);
  const auto from = held == nullptr ? "" : opening(held->opening).session;
  if (held != nullptr) end(held->opening, "expired", "");
  if (wanted == nullptr) items_[key] = {.created_at = now_};
  return grant(caller, key, from, wanted == nullptr);
}

inline std::string SessionModel::take(const std::string& key, const std::string& id, Ago ago, bool create) {
  if (const auto why = unfit(id, ago); !why.empty()) return why;
  return acquire(latest_[id], key, create, "");
}

inline bool SessionModel::is_free(int caller, const std::string& key) {
  const auto& it = items_.at(key);
  if (it.done_at || alive(active(key)) || !waits_for(key).empty() || blocker(caller, key, caller) != nullptr)
    return false;
  const auto* latest = claim(key, it.token);
  if (latest != nullptr && latest->end_reason == "revoked" && latest->opening == caller) return false;
  return std::none_of(items_.begin(), items_.end(),
                      [&](const auto& other) { return other.second.parent == key && !other.second.done_at; });
}

/// Why none of these, none of which is done, can be had.
inline std::string SessionModel::none_left(int caller, const Words& children) {
  const auto first_to_free = [&](const ModelClaim* a, const ModelClaim* b) {
    if (b == nullptr || a == nullptr) return a == nullptr ? b : a;
    const auto place = [&](const ModelClaim& of) { return std::pair(opening(of.opening).expires_at, of.item); };
    return place(*b) < place(*a) ? b : a;
  };
  const ModelClaim* held = nullptr;
  for (const auto& key : children) {
    if (alive(active(key)) && active(key)->opening != caller) held = first_to_free(held, active(key));
  }
  if (held != nullptr) return refuse("held", held);
  for (const auto& key : children) {
    if (const auto needed = waits_for(key); !needed.empty()) {
      return refuse("blocked", alive(active(needed)) ? active(needed) : nullptr);
    }
  }
  for (auto& claim : claims_) {
    if (!claim.active() || !alive(&claim) || claim.opening == caller) continue;
    for (const auto& key : children) {
      std::set<std::string> rivals = items_.at(key).conflicts;
      for (auto up = items_.at(key).parent; !up.empty(); up = items_.at(up).parent) rivals.insert(up);
      for (const auto& [other, its] : items_) {
        for (auto up = its.parent; !up.empty(); up = items_.at(up).parent) {
          if (up == key) rivals.insert(other);
        }
      }
      if (rivals.contains(claim.item)) held = first_to_free(held, &claim);
    }
  }
  return held != nullptr ? refuse("blocked", held) : "empty";
}

/// Of the children of an item: other sequences have left theirs in the store.
inline std::string SessionModel::next(const std::string& id, int ago, const std::string& parent) {
  if (const auto why = unfit(id, ago); !why.empty()) return why;
  const int caller = latest_[id];
  if (item(parent) == nullptr) return "not_found";
  if (const auto refusal = obstacle(caller, "", "", caller); !refusal.empty()) return refusal;
  Words children;
  for (const auto& [key, its] : items_) {
    if (its.parent == parent && !its.done_at) children.push_back(key);
  }
  std::sort(children.begin(), children.end(), [&](const auto& a, const auto& b) {
    const auto place = [&](const auto& key) {
      return std::tuple(-items_.at(key).priority, items_.at(key).created_at, key);
    };
    return place(a) < place(b);
  });
  for (const auto& key : children) {
    if (is_free(caller, key)) return acquire(caller, key, false, "");
  }
  return none_left(caller, children);
}

inline std::string SessionModel::switch_to(const std::string& from, int ago, const std::string& to, bool create) {
  if (from == to) return "invalid_argument";
  if (item(from) == nullptr) return "not_found";
  const auto token = earlier(item_tokens_[from], ago);
  const auto* leaving = claim(from, token);
  if (leaving == nullptr) return lost(from, token);
  const auto* there = active(to);
  const bool happened = leaving->end_reason == "switched" && leaving->end_detail == to && there != nullptr &&
                        there->opening == leaving->opening;
  if (!leaving->active() && !happened) return lost(from, token);
  const auto why = opening(leaving->opening).unfit(now_);
  if (!why.empty()) return "unregistered " + why;
  return happened ? reported(*there, true) : acquire(leaving->opening, to, create, from);
}

inline std::string SessionModel::transfer(const std::string& key, const std::string& id, Ago ago,
                                          const std::string& reason) {
  if (const auto why = unfit(id, std::nullopt); !why.empty()) return why;
  const auto* wanted = item(key);
  if (wanted == nullptr) return "not_found";
  if (wanted->done_at) return "terminal";
  const int target = latest_[id];
  auto* held = active(key);
  const bool has_it = held != nullptr && held->opening == target;
  if (ago) {
    const auto token = earlier(item_tokens_[key], *ago);
    const auto* given = claim(key, token);
    const bool happened = has_it && given != nullptr && given->end_reason == "transferred";
    if ((held == nullptr || held->token != token) && !happened) return lost(key, token);
  }
  if (has_it) return reported(*held, true);
  const int giving = held == nullptr ? target : held->opening;
  if (const auto refusal = obstacle(target, key, "", giving); !refusal.empty()) return refusal;
  const auto from = held == nullptr ? "" : opening(giving).session;
  if (held != nullptr) held->end("transferred", reason.empty() ? "to " + id : reason, now_);
  return grant(target, key, from, false);
}

inline std::string SessionModel::release(const std::string& key, const std::string& id, int ago,
                                         const std::string& reason) {
  if (item(key) == nullptr) return "not_found";
  const auto token = earlier(item_tokens_[key], ago);
  auto* held = claim(key, token);
  const bool theirs = held != nullptr && opening(held->opening).session == id;
  if (held != nullptr && !theirs) return refuse("lost superseded", active(key));
  if (held == nullptr || (!held->active() && held->end_reason != "released")) return lost(key, token);
  if (held->active()) held->end("released", reason, now_);
  return "released";
}

inline std::string SessionModel::revoke(const std::string& key, const std::string& reason) {
  auto* held = active(key);
  if (held == nullptr) return "not_found";
  held->end("revoked", reason, now_);
  return "revoked from " + opening(held->opening).session + " token " + away(held->token, now_);
}

inline std::string SessionModel::show_claims(const std::string& key) {
  std::vector<const ModelClaim*> claims;
  for (const auto& claim : claims_) {
    if (claim.item == key) claims.push_back(&claim);
  }
  std::sort(claims.begin(), claims.end(), [](const auto* left, const auto* right) {
    if (left->active() != right->active()) return left->active();
    return left->taken_at != right->taken_at ? left->taken_at > right->taken_at : left->token > right->token;
  });
  std::string text;
  for (const auto* claim : claims) {
    text += say(SeenClaim{.session = opening(claim->opening).session,
                          .token = claim->token,
                          .taken_at = claim->taken_at,
                          .ended_at = claim->ended_at,
                          .end_reason = claim->end_reason,
                          .end_detail = claim->end_detail},
                now_) +
            "; ";
  }
  return text;
}

}  // namespace leasehold::session_model

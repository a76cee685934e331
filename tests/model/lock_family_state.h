// What the model of the lock family remembers, and what it shows at a moment.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "model/lock_family_words.h"

namespace leasehold::lock_family {

/// The caller, and its ttl.
struct Request {
  std::string holder;
  std::string instance;
  std::string boot_id;
  Moment ttl = 0;
  Moment delay = 0;
  std::string request_id;
};

struct Permits {
  std::int64_t count = 1;
  std::optional<std::int64_t> capacity{};
};

/// A lease over all of a lock, over a share of one, or over several locks.
struct Grant {
  std::string holder;
  std::string instance;
  std::string request_id;
  Moment ttl = 0;
  Moment delay = 0;
  Moment heartbeat_at = 0;
  Moment expires_at = 0;
  Moment token = 0;
  Names names{};  ///< in order; of a share the only one
  std::optional<Permits> share{};
  std::optional<Moment> ended_at{};
  std::string end_reason{};
  std::string end_detail{};
  bool forgotten = false;  ///< pruned: its token and its request say nothing any more

  [[nodiscard]] bool open() const { return !ended_at; }
  [[nodiscard]] bool live(Moment now) const { return open() && expires_at > now; }
  [[nodiscard]] Moment free_at() const {
    if (end_reason == "released") return *ended_at;
    return std::min(expires_at, ended_at.value_or(expires_at)) + delay;
  }
  /// Its place is taken: it is alive, or in its delay.
  [[nodiscard]] bool counts(Moment now) const { return live(now) || free_at() > now; }
  [[nodiscard]] bool takes_a_place(Moment now) const { return open() || free_at() > now; }
  [[nodiscard]] bool over(Moment now) const { return open() && free_at() <= now; }
  [[nodiscard]] bool is_of(const Request& request) const {
    return !request.instance.empty() && request.instance == instance && request.holder == holder;
  }
  [[nodiscard]] std::string loss() const {
    if (end_reason == "revoked") return "revoked";
    return open() || end_reason == "expired" ? "expired" : "finished";
  }
  [[nodiscard]] std::string words() const {
    if (!share) return "";
    if (!share->capacity) return "shared";
    return std::to_string(share->count) + " of " + std::to_string(*share->capacity) + " permits";
  }
  [[nodiscard]] Reported reported() const {
    return {.token = token,
            .holder = holder,
            .ttl = ttl,
            .expires_at = expires_at,
            .ended_at = ended_at,
            .end_reason = end_reason,
            .end_detail = end_detail};
  }
};

struct Lock {
  Moment token = 0;           ///< the latest that was given
  Grant* whole = nullptr;     ///< the latest over all of it
  std::deque<Grant*> shares;  ///< all that are remembered, in order of tokens
  bool shared = false;        ///< the latest grant is a share
  std::optional<std::int64_t> capacity{};

  /// Its grants: live, expired, or in their delay.
  [[nodiscard]] std::vector<Grant*> holders(Moment now) const {
    std::vector<Grant*> all;
    for (auto* grant : shared ? shares : std::deque<Grant*>{whole}) {
      if (grant != nullptr && grant->takes_a_place(now)) all.push_back(grant);
    }
    return all;
  }
  /// The one that it shows.
  [[nodiscard]] Grant* shown(Moment now) const {
    if (!shared) return whole;
    const auto all = holders(now);
    if (all.empty()) return shares.back();
    return *std::max_element(all.begin(), all.end(),
                             [&](const Grant* one, const Grant* other) { return rank(*one, now) < rank(*other, now); });
  }
  /// Of those that are not alive the one that frees last.
  [[nodiscard]] Grant* delayed(Moment now) const {
    Grant* last = nullptr;
    for (auto* grant : holders(now)) {
      if (grant->live(now)) continue;
      if (last == nullptr || std::pair(grant->free_at(), grant->token) > std::pair(last->free_at(), last->token)) {
        last = grant;
      }
    }
    return last;
  }
  [[nodiscard]] bool is_shared_by(const Request& request, Moment now) const {
    return std::any_of(shares.begin(), shares.end(),
                       [&](const Grant* share) { return share->live(now) && share->is_of(request); });
  }
  /// The grant with this token, ended or not; nothing where it is superseded or forgotten.
  [[nodiscard]] Grant* with(Moment wanted) const {
    if (!shared && whole != nullptr && wanted == token) return whole;
    const auto found =
        std::find_if(shares.begin(), shares.end(), [&](const Grant* share) { return share->token == wanted; });
    return found == shares.end() ? nullptr : *found;
  }

 private:
  static std::tuple<bool, Moment, Moment> rank(const Grant& grant, Moment now) {
    return {grant.live(now), grant.free_at(), grant.token};
  }
};

struct Place {
  std::string name;
  std::string request_id;
  Moment until = 0;
};

}  // namespace leasehold::lock_family

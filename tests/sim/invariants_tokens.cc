// I1, I2, I3: tokens, leases, deadlines.
#include <fmt/format.h>

#include <algorithm>

#include "base/process.h"
#include "sim/invariants.h"

namespace leasehold::sim {
namespace {

Finding broken(const char* invariant, std::string what) { return Violation{invariant, std::move(what)}; }

/// Calls `look(key, was, is)` for every key of every part that a deed may have changed; `was` may be null.
template <typename Look>
Finding each_changed_key(const Change& change, Look&& look) {
  const auto& [before, after] = std::pair<const Picture&, const Picture&>(change.before, change.after);
  const std::pair<const Holdings*, const Holdings*> parts[] = {
      {&before.locks->holdings, &after.locks->holdings},         {before.claims.get(), after.claims.get()},
      {&before.jobs->holdings, &after.jobs->holdings},           {&before.chunks->holdings, &after.chunks->holdings},
      {&before.schedules->holdings, &after.schedules->holdings},
  };
  for (const auto& [old_part, new_part] : parts) {
    if (old_part == new_part) continue;
    for (const auto& [key, is] : *new_part) {
      const auto found = old_part->find(key);
      const Holding* was = found == old_part->end() ? nullptr : &found->second;
      if (was != nullptr && was->token == is.token && was->lease == is.lease) continue;
      if (auto finding = look(key, was, is)) return finding;
    }
  }
  return std::nullopt;
}

/// The leases of these keys were ended by an operator: their holders may believe on until they ask.
void remember_revocations(const Change& change, Memory& memory) {
  for (const auto& [lease, reason] : change.after.endings) {
    if (reason != "revoked") continue;
    for (const auto* part : {&change.before.locks->holdings, change.before.claims.get()}) {
      for (const auto& [key, holding] : *part) {
        if (holding.lease == lease) memory.revoked.emplace(key, holding.token);
      }
    }
    for (const auto& [grant, share] : change.before.locks->shares) {
      if (share.lease == lease) memory.revoked.insert(grant);
    }
  }
  if (!change.deed.is("claim_revoke") && !change.deed.is("claim_transfer")) return;
  for (const auto& one : change.deed.named) {
    if (const auto holding = change.before.holding(one.key)) memory.revoked.emplace(one.key, holding->token);
  }
}

}  // namespace

Finding no_late_write_lands(const Picture& now, Memory& memory, const std::string& key, std::int64_t token) {
  auto& newest = memory.landed[key];
  if (token < newest) {
    return broken("I1", fmt::format("a write with token {} landed at the resource of {} after one with token {}", token,
                                    key, newest));
  }
  newest = token;
  const auto holding = now.holding(key, token);
  if (holding && holding->token == token && now.lease(holding->lease) != nullptr) return std::nullopt;
  return broken(
      "I1", fmt::format("a write with token {} landed at the resource of {} after its grant had ended", token, key));
}

Finding tokens_rise(const Change& change, Memory& memory) {
  return each_changed_key(change, [&](const std::string& key, const Holding* was, const Holding& is) -> Finding {
    auto& highest = memory.highest_token[key];
    const bool granted_now = was == nullptr ? is.token != 0 : is.token != was->token;
    if (!granted_now) {
      const bool again = was != nullptr && is.lease != 0 && is.lease != was->lease;
      if (!again) return std::nullopt;
      return broken("I2", fmt::format("{} was granted again under the token {} it had before", key, is.token));
    }
    if (is.token <= highest) {
      return broken("I2", fmt::format("{} was granted with token {}, but had {} before", key, is.token, highest));
    }
    highest = is.token;
    return std::nullopt;
  });
}

Finding leases_end_when_over(const Change& change) {
  for (const auto& [id, reason] : change.after.endings) {
    if (reason != "expired") continue;
    const auto& lease = change.before.leases->at(id);
    if (lease.expires_at <= change.after.now) continue;
    if (lease.space == boot_id_of(change.world.process_space()) && !change.world.is_alive(lease.pid)) continue;
    return broken("I3", fmt::format("the {} lease {} was ended as expired {} us before its time", lease.kind, id,
                                    lease.expires_at - change.after.now));
  }
  return std::nullopt;
}

Finding over_stays_over(const Change& change) {
  for (const auto& [id, is] : *change.after.leases) {
    const auto* was = change.before.lease(id);
    if (was == nullptr || was->acquired_at != is.acquired_at) {
      if (is.acquired_at == change.after.now) continue;
      return broken("I3", fmt::format("the {} lease {} had ended and is open again", is.kind, id));
    }
    if (was->expires_at == is.expires_at || was->expires_at > change.after.now) continue;
    return broken("I3", fmt::format("the {} lease {} had run out {} us ago and was extended", is.kind, id,
                                    change.after.now - was->expires_at));
  }
  return std::nullopt;
}

Finding deadlines_are_respected(const Change& change, Memory& memory) {
  remember_revocations(change, memory);
  const auto now = change.world.boot_now();
  return each_changed_key(change, [&](const std::string& key, const Holding* was, const Holding& is) -> Finding {
    if (is.token == 0 || (was != nullptr && was->token == is.token)) return std::nullopt;
    const bool fired = key.starts_with("schedule ") && !change.after.schedules->under_way.contains({key, is.token});
    if (fired) return std::nullopt;
    const auto& shares = change.after.locks->shares;
    const bool share = shares.contains({key, is.token});
    // A share overtakes no other grant.
    if (!share) memory.latest_grant[key] = {.token = is.token, .at = now};
    for (const auto& belief : memory.beliefs.about(key)) {
      if (belief.token >= is.token || memory.revoked.contains({key, belief.token})) continue;
      if (share && shares.contains({key, belief.token})) continue;
      const auto left = memory.beliefs.deadline(belief) - now;
      if (left <= Duration(0)) continue;
      return broken("I3",
                    fmt::format("{} was granted with token {} while process {} may trust its token {} for another "
                                "{} us",
                                key, is.token, belief.pid, belief.token, left.count()));
    }
    return std::nullopt;
  });
}

Finding delays_are_kept(const Change& change, Memory& memory) {
  const auto& before = *change.before.locks;
  for (const auto& [key, was] : before.holdings) {
    const auto ending = change.after.endings.find(was.lease);
    const auto delay = before.locks.at(key).delay;
    if (delay == 0 || ending == change.after.endings.end() || ending->second == "released") continue;
    memory.delayed_until[key] = std::min(change.before.lease(was.lease)->expires_at, change.after.now) + delay;
  }
  return each_changed_key(change, [&](const std::string& key, const Holding* was, const Holding& is) -> Finding {
    const auto until = memory.delayed_until.find(key);
    if (until == memory.delayed_until.end() || (was != nullptr && was->token == is.token)) return std::nullopt;
    const auto early = until->second - change.after.now;
    memory.delayed_until.erase(until);
    if (early <= 0) return std::nullopt;
    return broken("I3", fmt::format("{} was granted {} us before its lock delay was over", key, early));
  });
}

Finding shares_fit(const Change& change) {
  if (change.before.locks == change.after.locks) return std::nullopt;
  const auto is_live = [&](std::int64_t id) {
    const auto* lease = change.after.lease(id);
    return lease != nullptr && lease->expires_at > change.after.now;
  };
  std::map<std::string, std::int64_t> permits;
  for (const auto& [grant, share] : change.after.locks->shares) {
    if (is_live(share.lease)) permits[grant.first] += share.permits;
  }
  for (const auto& [key, taken] : permits) {
    const auto capacity = change.after.locks->locks.at(key).capacity;
    if (is_live(change.after.locks->holdings.at(key).lease)) {
      return broken("I3", fmt::format("{} is held exclusively and shared at once", key));
    }
    if (!capacity || taken <= *capacity) continue;
    return broken("I3", fmt::format("{} permits of {} are taken, but there are {}", taken, key, *capacity));
  }
  return std::nullopt;
}

Finding deadline_was_respected(Memory& memory, const Belief& belief, BootTime until) {
  const auto latest = memory.latest_grant[belief.key];
  if (latest.token <= belief.token || memory.revoked.contains({belief.key, belief.token})) return std::nullopt;
  if (until <= latest.at) return std::nullopt;
  return broken("I3", fmt::format("process {} may trust its token {} of {} for {} us longer than until token {} "
                                  "was granted",
                                  belief.pid, belief.token, belief.key, (until - latest.at).count(), latest.token));
}

}  // namespace leasehold::sim

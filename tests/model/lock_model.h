// What locks promise, in a few lines of C++: no database, no concurrency, time is a number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>

namespace leasehold::model {

/// The result of an act, in the form in which model and stores are compared.
struct Outcome {
  std::string word;  ///< granted, extended, released, revoked, shown; or an error's name
  std::string why;   ///< for lost
  std::int64_t token = 0;
  std::string holder;
  std::int64_t expires_at = 0;
  std::string state;  ///< for shown

  friend bool operator==(const Outcome&, const Outcome&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    return out << outcome.word << ' ' << outcome.why << " token " << outcome.token << " holder " << outcome.holder
               << " expires " << outcome.expires_at << ' ' << outcome.state;
  }
};

struct Lease {
  std::int64_t token = 0;
  std::string holder;
  std::string request_id;
  std::int64_t ttl = 0;
  std::int64_t expires_at = 0;
  std::string end_reason;  ///< empty: not ended
};

class LockModel {
 public:
  explicit LockModel(std::int64_t now) : now_(now) {}

  void advance(std::int64_t by) { now_ += by; }
  [[nodiscard]] std::int64_t now() const { return now_; }

  Outcome acquire(const std::string& name, const std::string& holder, std::int64_t ttl, const std::string& request_id) {
    const auto found = locks_.find(name);
    if (!request_id.empty() && used_requests_.contains(request_id)) return replay(name, request_id);
    if (found != locks_.end() && live(found->second)) {
      return refusal(found->second.holder == holder ? "reentry" : "held", found->second);
    }
    const auto last = found == locks_.end() ? 0 : found->second.token;
    if (!request_id.empty()) used_requests_.insert(request_id);
    auto& lease = locks_[name] = {.token = std::max(last + 1, now_),
                                  .holder = holder,
                                  .request_id = request_id,
                                  .ttl = ttl,
                                  .expires_at = now_ + ttl};
    return granted("granted", lease);
  }

  Outcome heartbeat(const std::string& name, std::int64_t token, std::int64_t ttl) {
    const auto found = locks_.find(name);
    if (found == locks_.end()) return {.word = "not_found"};
    auto& lease = found->second;
    if (lease.token != token || !live(lease)) return lost(lease, token);
    if (ttl > 0) lease.ttl = ttl;
    lease.expires_at = now_ + lease.ttl;
    return granted("extended", lease);
  }

  Outcome release(const std::string& name, std::int64_t token) {
    const auto found = locks_.find(name);
    if (found == locks_.end()) return {.word = "not_found"};
    auto& lease = found->second;
    if (lease.token != token || lease.end_reason == "revoked") return lost(lease, token);
    lease.end_reason = "released";
    return {.word = "released"};
  }

  Outcome revoke(const std::string& name) {
    const auto found = locks_.find(name);
    if (found == locks_.end() || !found->second.end_reason.empty()) return {.word = "not_found"};
    found->second.end_reason = "revoked";
    return granted("revoked", found->second);
  }

  [[nodiscard]] Outcome show(const std::string& name) const {
    const auto found = locks_.find(name);
    if (found == locks_.end()) return {.word = "not_found"};
    auto outcome = granted("shown", found->second);
    outcome.state = state(found->second);
    return outcome;
  }

  /// "name=state name=state", in the order of the names.
  [[nodiscard]] std::string list(bool only_held) const {
    std::string text;
    for (const auto& [name, lease] : locks_) {
      if (!only_held || lease.end_reason.empty()) text += name + "=" + state(lease) + " ";
    }
    return text;
  }

 private:
  [[nodiscard]] bool live(const Lease& lease) const { return lease.end_reason.empty() && lease.expires_at > now_; }

  [[nodiscard]] std::string state(const Lease& lease) const {
    if (!lease.end_reason.empty()) return "free";
    return live(lease) ? "running" : "expired";
  }

  static Outcome granted(const std::string& word, const Lease& lease) {
    return {.word = word, .token = lease.token, .holder = lease.holder, .expires_at = lease.expires_at};
  }

  /// Shows the holder, and never its token.
  static Outcome refusal(const std::string& word, const Lease& lease) {
    return {.word = word, .holder = lease.holder, .expires_at = lease.expires_at};
  }

  static Outcome lost(const Lease& lease, std::int64_t token) {
    auto outcome = refusal("lost", lease);
    outcome.why = token != lease.token            ? "superseded"
                  : lease.end_reason.empty()      ? "expired"
                  : lease.end_reason == "revoked" ? "revoked"
                                                  : "finished";
    return outcome;
  }

  Outcome replay(const std::string& name, const std::string& request_id) {
    const auto found = locks_.find(name);
    if (found == locks_.end()) return {.word = "lost", .why = "superseded"};
    const auto& lease = found->second;
    if (lease.request_id != request_id) {
      auto outcome = refusal("lost", lease);
      outcome.why = "superseded";
      return outcome;
    }
    return live(lease) ? granted("granted", lease) : lost(lease, lease.token);
  }

  std::int64_t now_;
  std::map<std::string, Lease> locks_;
  std::set<std::string> used_requests_;
};

}  // namespace leasehold::model

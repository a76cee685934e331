// What the model of sessions remembers, and the small rules about single ones.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/session_model_words.h"

namespace leasehold::session_model {

struct OpenAsk {
  std::string id;
  Moment ttl = 0;
  bool exclusive = false;
  std::optional<Moment> max_age{};
  std::string request{};
};

struct BeatAsk {
  std::optional<Moment> ttl{};
  std::optional<std::string> progress{};
};

struct AddAsk {
  std::string key;
  std::optional<std::string> title{};
  std::optional<std::string> parent{};
  std::optional<Words> conflicts{};
  std::optional<Words> depends_on{};
  std::optional<int> priority{};
};

/// Why the former owner lost it. `end_reason` is empty if the claim has not ended.
inline std::string loss(const std::string& end_reason) {
  if (end_reason == "revoked") return "revoked";
  return end_reason.empty() || end_reason == "expired" ? "expired" : "finished";
}

/// One opening of a session.
struct Opening {
  std::string session;
  Moment token = 0;
  Moment ttl = 0;
  Moment opened_at = 0;
  Moment heartbeat_at = 0;
  Moment expires_at = 0;
  std::string request{};
  std::optional<Moment> ended_at{};
  std::string end_reason{};
  std::string end_detail{};
  bool exclusive = false;
  Moment progress_at = 0;
  std::string progress{};
  std::optional<Moment> parked_until{};
  std::optional<Moment> ends_by{};

  [[nodiscard]] bool live(Moment now) const { return !ended_at && expires_at > now; }
  [[nodiscard]] std::string status(Moment now) const {
    if (end_reason == "released" || end_reason == "revoked") return "released";
    if (!live(now)) return "stale";
    const bool parked = parked_until && *parked_until > now;
    return parked || progress_at <= now - ttl ? "idle" : "active";
  }
  /// Why it can have nothing; empty: it can.
  [[nodiscard]] std::string unfit(Moment now) const {
    if (end_reason == "released" || end_reason == "revoked") return "closed";
    return live(now) ? "" : "stale";
  }
  void extend(Moment now) {
    heartbeat_at = now;
    expires_at = std::max(now + ttl, parked_until.value_or(now));
    if (ends_by) expires_at = std::min(expires_at, *ends_by);
  }
  void work(Moment now) {
    progress_at = now;
    parked_until.reset();
  }
  void end(const std::string& reason, const std::string& detail, Moment now) {
    ended_at = now;
    end_reason = reason;
    end_detail = detail;
  }
};

struct ModelClaim {
  std::string item;
  Moment token = 0;
  int opening = 0;
  Moment taken_at = 0;
  std::optional<Moment> ended_at{};
  std::string end_reason{};
  std::string end_detail{};

  [[nodiscard]] bool active() const { return !ended_at; }
  void end(const std::string& reason, const std::string& detail, Moment now) {
    ended_at = now;
    end_reason = reason;
    end_detail = detail;
  }
};

struct ModelItem {
  std::string title{};
  std::string parent{};
  std::set<std::string> conflicts{};
  std::set<std::string> needs{};
  int priority = 0;
  Moment created_at = 0;
  Moment token = 0;
  std::optional<Moment> done_at{};
  std::string done_by{};
};

}  // namespace leasehold::session_model

// What the model of chunked syncs remembers, and the small rules about single chunks and leases.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/chunk_model_words.h"

namespace leasehold::chunk_model {

/// The chunks of a plan, in order: key and spec.
using Plan = std::vector<std::pair<std::string, std::string>>;

/// The arguments of a claim. `lease`: the lease to attach it to, counted from the first that was opened.
struct Ask {
  std::string set;
  std::string key{};
  int max = 1;
  Moment ttl = 0;
  std::optional<Moment> older_than{};
  std::string holder{};
  std::string request{};
  std::optional<int> lease{};
};

/// How far a loader says it got.
struct Save {
  Text cursor{};
  std::optional<std::int64_t> rows{};
};

struct Verdict {
  std::string word;  ///< complete, fail, release, skip
  Save save{};
  bool retryable = true;
  std::optional<Moment> delay{};

  /// The outcome of the attempt.
  [[nodiscard]] std::string end() const {
    if (word == "complete") return "completed";
    if (word == "fail") return "failed";
    return word == "release" ? "released" : "skipped";
  }
};

struct Reset {
  std::string which;  ///< failed, older, keys, all
  std::vector<std::string> keys{};
  Moment older_than = 0;
  bool from_start = false;
};

struct ModelLease {
  std::string holder;
  bool of_loader = false;
  Moment ttl = 0;
  Moment expires_at = 0;
  std::string request{};
  std::string end_reason{};  ///< empty: not ended

  [[nodiscard]] bool ended() const { return !end_reason.empty(); }
  [[nodiscard]] bool live(Moment now) const { return !ended() && expires_at > now; }
  /// Why it cannot be used any more.
  [[nodiscard]] std::string loss() const {
    return end_reason.empty() || end_reason == "expired" ? "expired" : "finished";
  }
};

inline constexpr int no_lease = -1;

struct ModelChunk {
  std::string spec;
  std::string planner;
  std::int64_t position = 0;
  int plan_no = 0;
  Moment token = 0;
  int lease = no_lease;
  int attempts = 0;
  int failures = 0;
  int crashes = 0;
  bool solo = false;
  Moment due_at = 0;
  std::optional<Moment> started_at{};
  std::optional<Moment> finished_at{};
  std::optional<Moment> synced_at{};
  std::optional<Moment> saved_at{};
  Text cursor{};
  std::int64_t rows = 0;
  std::string ended_as{};
  std::string final{};
  std::string holder{};
  std::string error{};
  std::string note{};

  [[nodiscard]] bool held() const { return lease != no_lease; }
  [[nodiscard]] bool open() const { return !held() && final.empty(); }
  [[nodiscard]] bool started() const { return attempts > 0 || cursor || held() || !final.empty(); }
  [[nodiscard]] bool under_way() const { return started() && final.empty(); }
  [[nodiscard]] bool old(Moment now, std::optional<Moment> age) const {
    return !held() && final == "completed" && age && *synced_at <= now - *age;
  }
  [[nodiscard]] std::string state(Moment now, const std::vector<ModelLease>& leases) const {
    if (!final.empty()) return final;
    if (held()) return leases[static_cast<std::size_t>(lease)].live(now) ? "running" : "expired";
    return due_at > now ? "deferred" : "available";
  }

  void save(const Save& reported, Moment now) {
    if (reported.cursor) cursor = reported.cursor;
    if (reported.rows) rows = *reported.rows;
    if (reported.cursor || reported.rows) saved_at = now;
  }
  void forget_progress() {
    cursor.reset();
    rows = 0;
    saved_at.reset();
  }
  /// As if it had never been tried. The token stays, and when it was synced.
  void begin_anew() {
    attempts = failures = crashes = 0;
    solo = false;
    due_at = 0;
    started_at.reset();
    finished_at.reset();
    final.clear();
    error.clear();
    note.clear();
  }
};

struct ModelSet {
  std::string planner;
  int plan_no = 0;
  int max_failures = 3;
  int max_crashes = 3;
  std::map<std::string, ModelChunk> chunks{};
};

inline constexpr Moment default_ttl = 120'000'000;
inline constexpr Moment backoff_base = 2'000'000;
inline constexpr Moment backoff_max = 30'000'000;

}  // namespace leasehold::chunk_model

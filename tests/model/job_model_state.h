// What the model of the job queue remembers, and the small rules about single jobs and leases.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "leasehold/job.h"
#include "model/job_model_words.h"

namespace leasehold::model {

/// The settings of a new job.
struct Request {
  std::string queue;
  int priority = 0;
  Moment delay = 0;
  std::string payload{};
  std::string metadata{};
  std::string dedupe_key{};
  DedupeMode dedupe_mode = DedupeMode::keep;
  std::optional<Moment> dedupe_for{};
  std::string group{};
  std::string batch{};
  std::string on_batch_end{};
  int max_failures = 3;
  int max_crashes = 2;
  std::vector<int> after{};
  std::string if_failed = "cancel";
  Moment timeout = 0;                  ///< 0: none
  std::optional<Moment> expires_in{};  ///< not started after that
};

/// The arguments of a claim. `lease`: the lease to attach it to, counted from the first that was opened.
struct Ask {
  std::string queue;
  int max = 1;
  Moment ttl = 0;
  std::string holder{};
  std::string request{};
  std::optional<int> lease{};
};

struct Verdict {
  std::string word;  ///< complete, fail, release, snooze
  bool retryable = true;
  std::optional<Moment> delay{};
};

/// A job that an act names, with the token of the grant that so many came after.
struct Spoken {
  int job = nobody;
  int ago = 0;
};

/// So short that the spread by the job's id, a ten-thousandth at a time, comes to nothing: ids differ by store.
inline constexpr Moment backoff_base = 4'000;
inline constexpr Moment backoff_max = 9'000;

struct ModelLease {
  std::string holder;
  bool of_worker = false;
  std::string listens_to{};
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

enum class Place { ready, deferred, blocked, granted, final, deleted };

/// A line of the log. lease -1: settled without a claim.
struct Entry {
  Moment token = 0;
  std::string outcome;
  bool final = false;
  int lease = -1;
  Moment at = 0;
  bool timed_out = false;
};

struct ModelJob {
  Request request;
  Moment created_at = 0;
  Place place = Place::ready;
  Moment due_at = 0;
  bool solo = false;
  bool unwanted = false;    ///< it was to be cancelled while it ran
  std::set<int> after{};    ///< what it still waits for
  bool batch_open = false;  ///< it still waits for the end of request.on_batch_end
  std::string cursor{};
  std::optional<Moment> expires_at{};
  std::optional<Moment> limit{};  ///< of the attempt, while granted
  int lease = -1;                 ///< while granted
  Moment token = 0;               ///< the greatest so far, of claims and of the log
  std::vector<Moment> tokens{};   ///< of its claims
  std::vector<Entry> log{};
  std::string stage{};
  Moment stage_token = 0;

  [[nodiscard]] bool waits() const {
    return place == Place::ready || place == Place::deferred || place == Place::blocked;
  }
  /// Not started in time.
  [[nodiscard]] bool lapsed(Moment now) const { return waits() && expires_at && *expires_at <= now; }
  [[nodiscard]] bool ready_at(Moment now) const {
    return place == Place::ready || (place == Place::deferred && due_at <= now);
  }
  [[nodiscard]] bool completed() const { return place == Place::final && last_word()->outcome == "completed"; }
  [[nodiscard]] bool dead() const { return place == Place::final && !completed(); }
  [[nodiscard]] const Entry* settled(Moment with) const {
    const auto found = std::find_if(log.begin(), log.end(), [&](const Entry& entry) { return entry.token == with; });
    return found == log.end() ? nullptr : &*found;
  }
  [[nodiscard]] const Entry* last_word() const {
    const auto found = std::find_if(log.begin(), log.end(), [](const Entry& entry) { return entry.final; });
    return found == log.end() ? nullptr : &*found;
  }
  /// Since the latest retry.
  [[nodiscard]] int count(const std::string& outcome) const {
    int times = 0;
    for (const auto& entry : log) times = entry.outcome == "retried" ? 0 : times + (entry.outcome == outcome ? 1 : 0);
    return times;
  }
  [[nodiscard]] std::string state(Moment now, const std::vector<ModelLease>& leases) const {
    if (lapsed(now)) return "lapsed";
    if (place == Place::granted) {
      return leases[static_cast<std::size_t>(lease)].live(now) && limit.value_or(now + 1) > now ? "running" : "expired";
    }
    if (ready_at(now)) return "available";
    if (place == Place::deferred) return "deferred";
    if (place == Place::blocked) return "blocked";
    const auto& outcome = last_word()->outcome;
    return outcome == "expired" ? "failed" : outcome;
  }
};

/// A dedupe key. `until`: it stays taken that long, also after the end of its job.
struct ModelKey {
  int job = nobody;
  std::optional<Moment> until{};
};

struct ModelBatch {
  int unfinished = 0;
  std::map<std::string, int> ended{};  ///< how many jobs ended as completed, failed, cancelled, lapsed
  std::optional<Moment> ended_at{};
  int end_job = nobody;
};

struct ModelQueue {
  bool paused = false;
  int max_running = 0;
  int max_per_group = 0;
  int rate_count = 0;
  Moment rate_period = 0;
  Moment rate_tat = 0;
  Moment default_ttl = 0;
};

}  // namespace leasehold::model

// The contents of the store at one moment, as the invariants see them: two pictures, before and after a deed, show what
// it has changed. Parts that a deed cannot touch are shared by both.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::sim {

/// Microseconds, on the store's clock.
using Micros = std::int64_t;

struct LeaseRow {
  std::string kind;
  std::string space;  ///< where its pid means something
  std::int64_t pid = 0;
  Micros acquired_at = 0;
  Micros expires_at = 0;
};
/// Those that have not ended.
using OpenLeases = std::map<std::int64_t, LeaseRow>;

/// The latest grant of a key ("lock a", "job 12"): its token, and the lease it was given under. Zero: it is free.
struct Holding {
  std::int64_t token = 0;
  std::int64_t lease = 0;
};
using Holdings = std::map<std::string, Holding>;

/// One of several holders that share a lock.
struct ShareRow {
  std::int64_t lease = 0;
  std::int64_t permits = 0;
  Micros delay = 0;
};
struct LockRow {
  std::optional<std::int64_t> capacity;  ///< of its shares
  Micros delay = 0;
};
struct LocksPart {
  std::map<std::string, LockRow> locks;
  std::map<std::pair<std::string, std::int64_t>, ShareRow> shares;  ///< by key and token
  Holdings holdings;
};

struct JobRow {
  std::string queue;
  int places = 0;  ///< in how many of ready, deferred, blocked, granted and final it is found: one
  bool ready = false;
  std::optional<Micros> due_at;  ///< deferred until then
  bool final = false;
  int max_failures = 0;
  int max_crashes = 0;
};
struct LogRow {
  std::string outcome;
  bool final = false;
};
struct JobsPart {
  std::map<std::int64_t, JobRow> jobs;
  std::map<std::pair<std::int64_t, std::int64_t>, LogRow> log;  ///< by job and token
  Holdings holdings;
};

struct ChunkRow {
  std::int64_t rows = 0;
  std::string cursor;
  std::string final;
  Micros due_at = 0;
};
struct ChunksPart {
  std::map<std::string, ChunkRow> chunks;
  Holdings holdings;
};

struct RunRow {
  std::string cause;
  std::string outcome;  ///< empty while it is under way
  Micros through = 0;
  std::int64_t missed = 0;
  std::int64_t job = 0;
};
struct ScheduleRow {
  std::int64_t id = 0;
  Micros next_occurrence = 0;  ///< zero: it has no calendar
};
struct SchedulesPart {
  std::map<std::string, ScheduleRow> schedules;
  std::map<std::pair<std::int64_t, Micros>, RunRow> runs;  ///< by schedule and occurrence
  /// By key and token, the lease: firing a schedule gives a newer token, and leaves the run alone.
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> under_way;
  Holdings holdings;
};

struct EventRow {
  std::string kind;
  std::string key;
  std::string what;
  std::int64_t token = 0;
};

struct Picture {
  Micros now = 0;
  std::shared_ptr<const OpenLeases> leases = std::make_shared<OpenLeases>();
  std::shared_ptr<const LocksPart> locks = std::make_shared<LocksPart>();
  std::shared_ptr<const Holdings> claims = std::make_shared<Holdings>();  ///< sessions and items
  std::shared_ptr<const JobsPart> jobs = std::make_shared<JobsPart>();
  std::shared_ptr<const ChunksPart> chunks = std::make_shared<ChunksPart>();
  std::shared_ptr<const SchedulesPart> schedules = std::make_shared<SchedulesPart>();
  /// The events since the previous picture.
  std::vector<EventRow> news;
  /// How the leases ended that were open in the picture before: reason by id.
  std::map<std::int64_t, std::string> endings;

  /// The grant of this token, where several may have the key; else the latest. Nothing: no such key.
  [[nodiscard]] std::optional<Holding> holding(const std::string& key, std::int64_t token = 0) const {
    if (const auto share = locks->shares.find({key, token}); share != locks->shares.end()) {
      return Holding{.token = token, .lease = share->second.lease};
    }
    if (const auto run = schedules->under_way.find({key, token}); run != schedules->under_way.end()) {
      return Holding{.token = token, .lease = run->second};
    }
    for (const auto* part :
         {&locks->holdings, claims.get(), &jobs->holdings, &chunks->holdings, &schedules->holdings}) {
      if (const auto found = part->find(key); found != part->end()) return found->second;
    }
    return std::nullopt;
  }
  [[nodiscard]] const LeaseRow* lease(std::int64_t id) const {
    const auto found = leases->find(id);
    return found == leases->end() ? nullptr : &found->second;
  }
};

}  // namespace leasehold::sim

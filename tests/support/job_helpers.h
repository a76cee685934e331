// Short words for what job tests do all the time.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/leasehold.h"
#include "support/lock_helpers.h"
#include "support/results.h"

namespace leasehold::support {

/// Up to so many jobs, for half a minute; zero: for as long as the queue says.
inline JobClaimOptions claiming(int max = 1, Duration ttl = std::chrono::seconds(30)) {
  return {.max = max, .ttl = unless_zero(ttl)};
}

/// The value where an error would be the test's own mistake.
template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error("unexpected: " + describe(result.error()));
  return std::move(*result);
}

inline JobId add(const Jobs& jobs, const std::string& queue, const NewJob& job = {}) {
  return must(jobs.enqueue(queue, job)).id;
}

/// `count` jobs with the payloads "0", "1", ...
inline std::vector<JobId> add_many(const Jobs& jobs, const std::string& queue, int count) {
  std::vector<std::string> payloads;
  for (int i = 0; i < count; ++i) payloads.push_back(std::to_string(i));
  std::vector<NewJob> fresh;
  for (const auto& payload : payloads) fresh.push_back({.payload = payload});
  std::vector<JobId> ids;
  for (const auto& enqueued : must(jobs.enqueue(queue, fresh))) ids.push_back(enqueued.id);
  return ids;
}

inline JobGrant claim(const Jobs& jobs, const std::string& queue, const JobClaimOptions& options, const Call& call) {
  return must(jobs.claim(queue, options, call));
}

/// The same jobs, and this verdict on each.
inline std::vector<Settlement> with_verdict(std::vector<Settlement> settlements, const Verdict& verdict) {
  for (auto& one : settlements) one.verdict = verdict;
  return settlements;
}

/// The only job of a claim.
inline Job claim_one(const Jobs& jobs, const std::string& queue, const std::string& who,
                     Duration ttl = std::chrono::seconds(30)) {
  return must(jobs.claim(queue, claiming(1, ttl), by(who))).jobs.at(0);
}

inline JobState state_of(const Jobs& jobs, JobId id) { return must(jobs.show(id)).state; }

inline std::vector<JobId> ids_of(const JobGrant& grant) {
  std::vector<JobId> ids;
  for (const auto& job : grant.jobs) ids.push_back(job.id);
  return ids;
}

/// "completed", "expired", ...: how the job's attempts went, in order.
inline std::vector<std::string> outcomes_of(const Jobs& jobs, JobId id) {
  std::vector<std::string> outcomes;
  for (const auto& attempt : must(jobs.attempts(id))) outcomes.emplace_back(to_string(attempt.outcome));
  return outcomes;
}

}  // namespace leasehold::support

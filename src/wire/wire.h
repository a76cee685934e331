// The one JSON encoding of every value and error, for the command line, the server and whoever reads them.
//
// Keys are spelled as in C++ and SQL. Timestamps are ISO strings, durations are seconds under a key that
// ends in `_seconds`, tokens are numbers (below 2^53 until 2255). Text that is not UTF-8 is encoded with
// U+FFFD in place of what is broken, so that the output always parses. Payloads and results may be any bytes: what
// is not UTF-8 is told in base64, under a key that ends in `_base64`.
//
// Chunks and rate limits are in chunks.h, sessions, items and claims in sessions.h, schedules in schedules.h. Every
// function is pure but for `trusted_for_seconds` of grants and heartbeats, which is told from now.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "leasehold/events.h"
#include "leasehold/lease.h"
#include "leasehold/migrations.h"
#include "leasehold/result.h"
#include "leasehold/store.h"
#include "wire/chunks.h"
#include "wire/schedules.h"
#include "wire/sessions.h"

namespace leasehold::wire {

std::string to_json(const Grant& grant);
std::string to_json(const LeaseInfo& lease);
std::string to_json(const LockInfo& lock);
std::string to_json(const LockHolder& holder);
std::string to_json(const Event& event);
std::string to_json(const StoreStatus& status, const std::vector<QueueInfo>& queues, const RecoveryStats& recovery);
std::string to_json(const Pruned& pruned);
std::string to_json(const Finding& finding);
std::string to_json(const MigrationInfo& migration);
std::string to_json(const Drift& drift);

std::string to_json(const Enqueued& enqueued);
std::string to_json(const JobGrant& grant);
std::string to_json(const JobInfo& job);
std::string to_json(const JobError& error);
std::string to_json(const QueueInfo& queue);
std::string to_json(const Recovered& recovered);

/// A heartbeat and a verdict do not say whose they are.
std::string to_json(JobId id, const JobHeartbeat& heartbeat);
std::string to_json(JobId id, const Settled& settled);

/// Everything there is to tell about one job.
struct JobStory {
  JobInfo job;
  std::vector<JobAttempt> attempts;
  std::string payload;
  std::optional<std::string> result;
};
/// A job with `history`, `payload` and `result` (or `payload_base64` and `result_base64`) in it.
std::string to_json(const JobStory& story);

/// {"error":{"code":"held","message":"...","reason":...,"current":{...}}}
std::string to_json(const Error& error);

/// [a,b,...]
template <typename T>
std::string to_json(const std::vector<T>& items) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += to_json(item);
  }
  return text + "]";
}

using Scalar = std::variant<bool, std::int64_t, double, std::string_view>;

/// A small object for answers that are no value of their own: object({{"released", true}, {"key", name}}).
std::string object(std::initializer_list<std::pair<std::string_view, Scalar>> fields);

/// {"payload":"..."}, or {"payload_base64":"..."} for what is not UTF-8.
std::string bytes_object(std::string_view key, std::string_view bytes);

const char* to_string(Finding::Level level) noexcept;

}  // namespace leasehold::wire

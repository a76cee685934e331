// The words in which the model of the lock family and the stores are compared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::lock_family {

using Moment = std::int64_t;
using Names = std::vector<std::string>;

/// A moment or a token, which is mostly one, as its distance from now.
inline std::string away(Moment when, Moment now) { return (when < now ? "" : "+") + std::to_string(when - now) + "us"; }

/// A grant as an answer or a read shows it.
struct Reported {
  Moment token = 0;
  std::string holder;
  Moment ttl = 0;
  Moment expires_at = 0;
  std::optional<Moment> ended_at{};
  std::string end_reason{};
  std::string end_detail{};
};

struct Answer {
  std::string outcome;
  std::string why{};
  std::string key{};
  std::optional<Reported> reported{};  ///< empty if it was never held
  std::int64_t waiters = 0;
  bool replayed = false;
};

struct Look {
  Answer answer;
  std::int64_t holders = 0;
  std::int64_t permits = 0;
  std::optional<std::int64_t> capacity{};
  std::optional<Moment> free_at{};
};

/// One holder of a lock.
struct Has {
  Reported reported;
  std::optional<std::int64_t> permits{};
  std::optional<std::int64_t> capacity{};
  Moment free_at = 0;
};

struct Happened {
  std::string key;
  std::string what;
  Moment token = 0;
  std::string holder;
  std::string previous_holder{};
  std::string detail{};
};

inline std::string say(const Reported& reported, Moment now) {
  auto text = " token " + away(reported.token, now) + " of " + reported.holder + " ttl " +
              std::to_string(reported.ttl) + " until " + away(reported.expires_at, now);
  if (reported.ended_at)
    text += " " + reported.end_reason + " " + away(*reported.ended_at, now) + " (" + reported.end_detail + ")";
  return text;
}

inline std::string say(const Answer& answer, Moment now) {
  auto text = answer.outcome + " " + answer.why + " " + answer.key;
  if (answer.reported) text += say(*answer.reported, now);
  if (answer.waiters > 0) text += ", " + std::to_string(answer.waiters) + " waiting";
  return answer.replayed ? text + ", replayed" : text;
}

inline std::string say(const Look& look, Moment now) {
  auto text = say(look.answer, now) + ", " + std::to_string(look.holders) + " holders with " +
              std::to_string(look.permits) + " of " + (look.capacity ? std::to_string(*look.capacity) : "any");
  return look.free_at ? text + ", free " + away(*look.free_at, now) : text;
}

inline std::string say(const Has& has, Moment now) {
  return say(has.reported, now) + ", " + (has.permits ? std::to_string(*has.permits) : "all") + " of " +
         (has.capacity ? std::to_string(*has.capacity) : "any") + ", free " + away(has.free_at, now) + ";";
}

inline std::string say(const Happened& event, Moment now) {
  auto text = event.key + " " + event.what + " " + away(event.token, now) + " " + event.holder;
  if (!event.previous_holder.empty()) text += " from " + event.previous_holder;
  return event.detail.empty() ? text + "; " : text + " (" + event.detail + "); ";
}

/// What one act did to several locks: their order in the record is not specified.
inline std::string say_all(const std::vector<Happened>& events, Moment now) {
  std::vector<std::string> lines;
  for (const auto& event : events) lines.push_back(say(event, now));
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const auto& line : lines) text += line;
  return text;
}

}  // namespace leasehold::lock_family

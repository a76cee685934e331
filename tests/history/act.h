// One act of a history: the request, the answer, and between which two moments it took effect.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "history/record.h"

namespace leasehold::history {

/// A moment on the store's clock, in microseconds since 1970. 0: unknown.
using StoreTime = std::int64_t;

constexpr Nanoseconds never = std::numeric_limits<Nanoseconds>::max();
constexpr StoreTime end_of_time = std::numeric_limits<StoreTime>::max();

enum class Answer {
  ok,        ///< it happened
  refused,   ///< it did not, and the refusal says something about the thing
  may_have,  ///< unknown: the answer was lost, or the process died before it came
};

struct Act {
  int process = 0;
  std::int64_t number = 0;  ///< counts the acts of the process
  Nanoseconds start = 0;
  Nanoseconds end = never;  ///< never: it may still take effect
  std::string feature;      ///< lock, job, session, item, chunk
  std::string verb;
  std::string key;
  std::int64_t job_id = 0;  ///< of a job, where it is known
  Answer answer = Answer::may_have;
  std::string word = "open";  ///< ok, or the error's word; open: no answer was written down

  struct Asked {
    std::int64_t token = 0;
    std::string session{};
    std::string cursor{};
  } asked{};

  struct Reported {
    std::int64_t token = 0;
    std::string holder{};
    std::string session{};
    std::string cursor{};
    std::string state{};
    std::string why{};
    StoreTime at = 0;
    StoreTime expires = 0;
    std::int64_t n = 0;        ///< number of a fenced write
    std::int64_t attempt = 0;  ///< of a job
    bool replayed = false;
  } reported{};

  [[nodiscard]] std::string object() const { return feature + " " + key; }
  /// A grant: a new token.
  [[nodiscard]] bool grants() const { return verb == "acquire" || verb == "claim" || verb == "take" || verb == "open"; }
};

/// "p3 #17 acquire -> ok token=5 until=12.250".  Times of both clocks are reported in milliseconds since their origins.
std::string describe(const Act& act, Nanoseconds origin, StoreTime store_origin);

}  // namespace leasehold::history

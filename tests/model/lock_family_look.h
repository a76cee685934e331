// Reads in the model of the lock family.
#pragma once

#include "model/lock_family_model.h"

namespace leasehold::lock_family {

inline std::string LockFamilyModel::show(const std::string& name) {
  const auto& seen = lock(name);
  if (seen.token == 0) return say(Look{.answer = {.outcome = "not_found", .key = name}}, now_);
  const auto* shown = seen.shown(now_);
  Look look{.answer = {.key = name, .reported = shown->reported(), .waiters = ahead(name, "")}};
  look.answer.outcome = shown->live(now_) ? "running" : shown->open() ? "expired" : "free";
  if (!shown->live(now_) && shown->free_at() > now_) look.answer.why = "delayed";
  for (const auto* holder : seen.holders(now_)) {
    ++look.holders;
    if (holder->share && holder->counts(now_)) look.permits += holder->share->count;
  }
  if (seen.shared) look.capacity = seen.capacity;
  if (shown->takes_a_place(now_)) look.free_at = shown->free_at();
  return say(look, now_);
}

inline std::string LockFamilyModel::holders(const std::string& name) {
  std::string text;
  for (const auto* holder : lock(name).holders(now_)) {
    Has has{.reported = holder->reported(), .free_at = holder->free_at()};
    if (holder->share) {
      has.permits = holder->share->count;
      has.capacity = holder->share->capacity;
    }
    text += say(has, now_);
  }
  return text;
}

inline std::string LockFamilyModel::list(bool only_held) {
  std::string text;
  for (const auto& [name, lock] : locks_) {
    if (lock.token == 0) continue;
    const auto all = lock.holders(now_);
    const bool held = std::any_of(all.begin(), all.end(), [](const Grant* grant) { return grant->open(); });
    if (held || !only_held) text += name + " ";
  }
  return text;
}

inline std::string LockFamilyModel::status() {
  std::int64_t held = 0;
  std::int64_t expired = 0;
  for (const auto* grant : open_grants()) {
    (grant->live(now_) ? held : expired) += static_cast<std::int64_t>(grant->names.size());
  }
  const auto waiting =
      std::count_if(line_.begin(), line_.end(), [&](const Place& place) { return place.until > now_; });
  return std::to_string(held) + " held, " + std::to_string(expired) + " expired, " + std::to_string(waiting) +
         " waiting";
}

inline std::string LockFamilyModel::news() {
  const auto text = say_all(events_, now_);
  events_.clear();
  return text;
}

}  // namespace leasehold::lock_family

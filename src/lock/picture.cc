#include "lock/picture.h"

#include <algorithm>
#include <sstream>

#include "lease/answer.h"
#include "storage/query.h"

namespace leasehold::lock {
namespace {

/// Without its own.
std::vector<std::string> other_names(const Picture& picture) {
  std::vector<std::string> names;
  std::istringstream lines(picture.together.value_or(""));
  for (std::string name; std::getline(lines, name);) {
    if (name != picture.key) names.push_back(name);
  }
  return names;
}

}  // namespace

Result<Picture> look_at(storage::Backend& backend, std::string_view name, BootTime deadline) {
  return storage::query_one(backend, sql::LockShow{.name = name}, deadline);
}

bool is_better(const Picture& now, const Picture& before) {
  return has_changed_hands(now, before) || now.waiters < before.waiters || now.permits < before.permits;
}

bool has_changed_hands(const Picture& now, const Picture& before) {
  // `why` tells whether it is kept from everybody: when that ends, nothing else may change.
  return now.outcome != before.outcome || now.why != before.why || now.token != before.token ||
         now.holders != before.holders;
}

bool is_news(const Picture& now, const Picture& before) {
  return has_changed_hands(now, before) || now.permits != before.permits || now.newest != before.newest;
}

Duration until_next_look(const Picture& now) {
  if (!now.free_at || *now.free_at <= now.store_now) return look_again;
  return std::clamp(*now.free_at - now.store_now, Duration(1000), look_again);
}

LockInfo info_from(const Picture& picture) {
  LockInfo info{lease::info_from(picture)};
  info.holders = picture.holders;
  info.permits = picture.permits;
  info.capacity = picture.capacity;
  info.free_at = picture.free_at;
  info.delayed = picture.why == "delayed";
  info.together = other_names(picture);
  return info;
}

}  // namespace leasehold::lock

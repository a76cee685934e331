#include "lock/picture.h"

#include <algorithm>

#include "lease/answer.h"
#include "storage/query.h"

namespace leasehold::lock {

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
  return info;
}

}  // namespace leasehold::lock

#include <algorithm>
#include <sstream>

#include "lease/answer.h"
#include "lease/page.h"
#include "lock/locks.h"
#include "model/bounds.h"
#include "model/described.h"
#include "storage/query.h"

namespace leasehold {

namespace lock {
namespace {

/// Without the lock's own name.
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
  // `why` shows a lock delay: when that ends, nothing else may change.
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

}  // namespace lock

// Reading locks: once, or repeatedly.
namespace {

LockHolder holder_from(const sql::LockHolders::Row& row) {
  LockHolder holder;
  holder.kind = "lock";
  holder.key = row.key;
  holder.token = {row.token};
  holder.holder = {.name = row.holder,
                   .host = row.host,
                   .boot_id = row.boot_id,
                   .pid = row.pid,
                   .process_start = row.process_start,
                   .tty = row.tty,
                   .instance = row.instance};
  holder.ttl = row.ttl;
  holder.acquired_at = row.acquired_at;
  holder.heartbeat_at = row.heartbeat_at;
  holder.expires_at = row.expires_at;
  holder.ended_at = row.ended_at;
  holder.end_reason = row.end_reason.value_or("");
  holder.end_detail = row.end_detail.value_or("");
  holder.waiters = row.waiters;
  holder.store_now = row.store_now;
  holder.state = row.ended_at                     ? LeaseState::free
                 : row.expires_at > row.store_now ? LeaseState::running
                                                  : LeaseState::expired;
  holder.permits = row.permits;
  holder.capacity = row.capacity;
  holder.free_at = row.free_at;
  return holder;
}

Result<LockInfo> info_or_error(Result<lock::Picture> picture, std::string_view name) {
  if (!picture) return std::move(picture).error();
  if (picture->outcome.refusal() != Errc::not_found) return lock::info_from(*picture);
  return Error{.code = Errc::not_found, .message = lock::describe(name) + " has never been held"};
}

/// True if the state of the lock changed, or whether the store can be reached.
bool has_news(const Result<lock::Picture>& now, const Result<lock::Picture>& before) {
  if (now && before) return lock::is_news(*now, *before);
  return now.ok() != before.ok() || now.error().code != before.error().code;
}

}  // namespace

Result<LockInfo> Locks::show(std::string_view name) const {
  if (auto checked = check_name("lock name", name); !checked) return std::move(checked).error();
  return info_or_error(lock::look_at(*impl_->backend, name, impl_->deadline()), name);
}

Result<Page<LockInfo>> Locks::list(const LockFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto skip = lease::page_number(filter.page);
  if (!skip) return std::move(skip).error();
  const sql::LockList list{
      .prefix = filter.prefix, .only_held = filter.only_held, .max = lease::rows_for(filter.max), .skip = *skip};
  return lease::page_of(impl_->new_call().list(list, lock::info_from), filter.max, lease::counted(*skip));
}

Result<std::vector<LockHolder>> Locks::holders(std::string_view name, int max) const {
  if (auto checked = check_name("lock name", name); !checked) return std::move(checked).error();
  if (auto checked = check_list_max(max); !checked) return std::move(checked).error();
  const sql::LockHolders holders{.name = name, .max = max};
  return impl_->new_call().list(holders, holder_from);
}

Result<void> Locks::watch(std::string_view name, std::stop_token stop, const Seen& seen) const {
  if (auto checked = check_name("lock name", name); !checked) return checked;
  if (!seen) return Error{.code = Errc::invalid_argument, .message = "watch() needs a callback"};
  const auto watch = impl_->backend->watch("lock:" + std::string(name));
  const std::stop_callback wake_up(stop, [&watch] { watch->wake(); });
  auto before = lock::look_at(*impl_->backend, name, impl_->deadline());
  seen(info_or_error(before, name));
  while (!stop.stop_requested()) {
    watch->wait(BootClock::now() + (before ? lock::until_next_look(*before) : lock::look_again));
    auto now = lock::look_at(*impl_->backend, name, impl_->deadline());
    if (!stop.stop_requested() && has_news(now, before)) seen(info_or_error(now, name));
    before = std::move(now);
  }
  return {};
}

}  // namespace leasehold

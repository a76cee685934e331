#include "mcp/keeper.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "model/errors.h"

namespace leasehold::mcp {
namespace {

constexpr Duration between_progress = std::chrono::seconds(30);
/// After a heartbeat that did not reach the store.
constexpr Duration before_retry = std::chrono::seconds(1);

}  // namespace

Keeper::~Keeper() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<Grant> Keeper::keep_session(const Store& store, const SessionHandle& session, std::optional<std::string> note,
                                   std::string_view doing) {
  const Key key{session.id};
  const auto now = BootClock::now();
  Kept kept{.store = store, .token = session.token};
  {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(key);
    if (found != all_.end() && found->second.token == session.token) kept = found->second;
  }
  const bool is_progress = note || now - kept.progress_at >= between_progress;
  if (note) kept.note = *note;
  SessionHeartbeat beat;
  if (is_progress) beat.progress = kept.note.empty() ? std::string(doing) : kept.note;
  auto grant = store.sessions().heartbeat(session.id, session.token, beat);
  if (!grant) {
    if (ends_lease(grant.error().code)) end_session(session.id);
    return grant;
  }
  if (is_progress) kept.progress_at = now;
  kept.ttl = grant->ttl;
  keep(key, std::move(kept));
  return grant;
}

bool Keeper::keeps_session(const SessionHandle& session) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find({session.id});
  return found != all_.end() && found->second.token == session.token;
}

void Keeper::end_session(const std::string& id) {
  for (const auto& [key, kept] : taken_out(id)) {
    if (!key.lock.empty()) static_cast<void>(kept.store->locks().release(key.lock, kept.token));
  }
}

std::map<Keeper::Key, Keeper::Kept> Keeper::taken_out(const std::string& session) {
  std::map<Key, Kept> out;
  const std::lock_guard lock(mutex_);
  for (auto one = all_.lower_bound({session}); one != all_.end() && one->first.session == session;) {
    out.insert(all_.extract(one++));
  }
  return out;
}

void Keeper::keep_lock(const Store& store, const std::string& session, const Grant& grant) {
  keep({session, grant.key}, {.store = store, .token = grant.token, .ttl = grant.ttl});
}

std::optional<Token> Keeper::token_of_lock(const std::string& session, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find({session, name});
  return found != all_.end() ? std::optional(found->second.token) : std::nullopt;
}

void Keeper::forget_lock(const std::string& session, const std::string& name) {
  const std::lock_guard lock(mutex_);
  all_.erase({session, name});
}

void Keeper::keep(const Key& key, Kept kept) {
  if (!keeps_) return;
  kept.next = BootClock::now() + kept.ttl / 3;
  {
    const std::lock_guard lock(mutex_);
    all_[key] = std::move(kept);
    if (!thread_.joinable()) thread_ = start_quiet_thread([this] { run(); });
  }
  changed_.notify_all();
}

void Keeper::end_all(std::string_view reason) {
  std::map<Key, Kept> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(all_);
  }
  for (const auto& [key, kept] : all) {
    if (key.lock.empty()) {
      static_cast<void>(kept.store->sessions().close(key.session, kept.token, reason));
    } else {
      static_cast<void>(kept.store->locks().release(key.lock, kept.token));
    }
  }
}

void Keeper::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const auto now = BootClock::now();
    auto next = now + std::chrono::hours(1);
    std::vector<std::pair<Key, Kept>> due;
    for (auto& [key, kept] : all_) {
      if (kept.next <= now) {
        kept.next = now + kept.ttl / 3;
        due.emplace_back(key, kept);
      }
      next = std::min(next, kept.next);
    }
    if (due.empty()) {
      changed_.wait_for(lock, next - now);
      continue;
    }
    lock.unlock();
    for (const auto& [key, kept] : due) beat(key, kept);
    lock.lock();
  }
}

void Keeper::beat(const Key& key, const Kept& kept) {
  const auto extended = key.lock.empty() ? kept.store->sessions().heartbeat(key.session, kept.token)
                                         : kept.store->locks().heartbeat(key.lock, kept.token);
  if (extended) return;
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(key);
  if (found == all_.end() || found->second.token != kept.token) return;
  if (ends_lease(extended.error().code)) {
    all_.erase(found);
  } else {
    found->second.next = BootClock::now() + before_retry;
  }
}

}  // namespace leasehold::mcp

#include "lease/patience.h"

#include <thread>

#include "storage/query.h"

namespace leasehold::lease {
namespace {

// How long the store remembers a topic, and how long this process relies on it before it repeats the call.
constexpr Duration span = std::chrono::seconds(30);
constexpr Duration fresh_for = span / 2;
// After a failure: do not call again with every look.
constexpr Duration after_failure = std::chrono::seconds(1);

}  // namespace

bool Awaited::known(const std::string& topic, BootTime now) {
  const std::lock_guard lock(mutex_);
  const auto found = fresh_until_.find(topic);
  return found != fresh_until_.end() && now < found->second;
}

void Awaited::announce(storage::Backend& backend, const std::string& topic, BootTime deadline) {
  const auto before = BootClock::now();
  const auto answer = storage::query_one(backend, sql::AwaitTopic{.topic = topic, .span = span}, deadline);
  const std::lock_guard lock(mutex_);
  std::erase_if(fresh_until_, [&](const auto& entry) { return entry.second <= before; });
  fresh_until_[topic] = before + (answer ? fresh_for : after_failure);
}

namespace {

// Wake-ups are hints; this look is reliable.
constexpr Duration look_again = std::chrono::seconds(1);
// There is work, but another process is claiming it.
constexpr Duration look_again_when_busy = std::chrono::milliseconds(20);
constexpr Duration longest_damping = std::chrono::milliseconds(50);

}  // namespace

void Damping::after_wake_up() {
  if (pause_ > Duration(0)) std::this_thread::sleep_for(pause_);
  pause_ = std::clamp<Duration>(pause_ * 2, std::chrono::milliseconds(1), longest_damping);
}

Duration until_next_look(const Error& refusal) {
  if (refusal.code == Errc::busy) return look_again_when_busy;
  return std::clamp<Duration>(refusal.retry_in.value_or(look_again), std::chrono::milliseconds(1), look_again);
}

}  // namespace leasehold::lease

#include "session_calls.h"

#include <chrono>
#include <thread>

#include "../leasehold_calls.h"

namespace leasehold::bench {

using namespace std::chrono_literals;

SessionCalls::SessionCalls(Store store, int sessions, int callers)
    : sessions_(store.sessions()), claims_(store.claims()), open_(static_cast<std::size_t>(sessions)) {
  const auto threads = static_cast<std::size_t>(callers);
  {
    std::vector<std::jthread> openers;
    for (std::size_t i = 0; i < threads; ++i) openers.emplace_back([=, this] { open_sessions(i, threads); });
  }
  for (std::size_t i = 0; i < threads; ++i) {
    callers_.push_back({.item = "bench-" + std::to_string(i), .next = i});
    need(store.items().add(callers_.back().item));
  }
}

void SessionCalls::open_sessions(std::size_t from, std::size_t step) {
  for (auto i = from; i < open_.size(); i += step) {
    const auto grant = need(sessions_.open({.id = "bench-" + std::to_string(i), .ttl = 12h}));
    open_[i] = {.id = grant.key, .token = grant.token};
  }
}

bool SessionCalls::heartbeat(int caller) {
  auto& next = callers_[static_cast<std::size_t>(caller)].next;
  const auto& session = open_[next % open_.size()];
  next += callers_.size();
  need(sessions_.heartbeat(session.id, session.token));
  return true;
}

bool SessionCalls::take_and_release(int caller) {
  const auto number = static_cast<std::size_t>(caller);
  const auto& item = callers_[number].item;
  const auto& session = open_[number];
  const auto claim = need(claims_.take(item, session.id));
  need(claims_.release(item, session.id, claim.token));
  return true;
}

}  // namespace leasehold::bench

#include "leasehold_calls.h"

namespace leasehold::bench {

Store open_store(const std::string& url) { return need(Store::open(url, {.migrate = MigrateOnOpen::yes})); }

LeaseholdCalls::LeaseholdCalls(Store store, int callers) : store_(std::move(store)), locks_(store_.locks()) {
  for (int i = 0; i < callers; ++i) callers_.push_back({.name = "bench-" + std::to_string(i)});
}

bool LeaseholdCalls::cycle(int caller) {
  const auto& name = callers_[static_cast<std::size_t>(caller)].name;
  const auto grant = need(locks_.acquire(name));
  need(locks_.release(name, grant.token));
  return true;
}

bool LeaseholdCalls::shared_cycle(int caller) {
  auto& turn = callers_[static_cast<std::size_t>(caller)].turn;
  // An odd step visits all names of any power of two, each caller in its own order.
  turn += 2 * static_cast<unsigned>(caller) + 1;
  const auto name = "shared-" + std::to_string(turn % 16);
  const auto grant = locks_.acquire(name);
  if (!grant && (grant.error().code == Errc::held || grant.error().code == Errc::busy)) return false;
  if (!grant) die(grant.error().message);
  need(locks_.release(name, grant->token));
  return true;
}

bool LeaseholdCalls::heartbeat(int caller) {
  auto& mine = callers_[static_cast<std::size_t>(caller)];
  const auto grant = mine.token.value == 0 ? locks_.acquire(mine.name, {.ttl = std::chrono::minutes(10)})
                                           : locks_.heartbeat(mine.name, mine.token);
  if (!grant) die(grant.error().message);
  mine.token = grant->token;
  return true;
}

void LeaseholdCalls::release_all() {
  for (auto& mine : callers_) {
    if (mine.token.value == 0) continue;
    need(locks_.release(mine.name, mine.token));
    mine.token = {};
  }
}

}  // namespace leasehold::bench

// The clients' acts on locks.
#include "leasehold/sqlite.h"
#include "sim/actor.h"
#include "sim/scenario.h"

namespace leasehold::sim {
namespace {

std::string key_of(const std::string& name) { return "lock " + name; }
std::string lease_of(const HeldLock& held) { return fmt::format("lock {} {}", held.names.front(), held.token.value); }

Answer keep(Actor& actor, HeldLock held, const Result<Grant>& grant) {
  if (!grant) return word(grant);
  held.token = grant->token;
  for (const auto& name : held.names) actor.believe(key_of(name), held.token, lease_of(held), grant->trusted_until);
  Actor::remember(actor.locks, std::move(held));
  return "ok";
}

AcquireOptions some_options(Actor& actor, Duration wait) {
  AcquireOptions options{.ttl = actor.some_ttl(), .wait = wait};
  options.request_id = actor.new_request_id();
  if (actor.dice.chance(2000)) options.lock_delay = Duration(actor.dice.between(100'000, 3'000'000));
  return options;
}

/// The same request must never be granted twice.
Result<Grant> acquire_with(Actor& actor, const std::string& name, const AcquireOptions& options) {
  std::optional<Token> first;
  return actor.ask([&] {
    auto grant = actor.store.locks().acquire(name, options, {.holder = actor.holder});
    if (grant && first && *first != grant->token) {
      actor.stage.report(Violation{"I6", fmt::format("one request was granted twice: {}", name)});
    }
    if (grant && !first) first = grant->token;
    return grant;
  });
}

Answer acquire(Actor& actor) {
  const auto& name = actor.dice.choose(lock_names);
  actor.say("acquire {}", name);
  return keep(actor, {.names = {name}, .token = {}}, acquire_with(actor, name, some_options(actor, 0s)));
}

Answer wait_for(Actor& actor) {
  const auto& name = actor.dice.choose(lock_names);
  const Duration patience(actor.dice.between(500'000, 12'000'000));
  actor.say("wait {} us for {}", patience.count(), name);
  return keep(actor, {.names = {name}, .token = {}}, acquire_with(actor, name, some_options(actor, patience)));
}

Answer share(Actor& actor) {
  const bool semaphore = actor.dice.chance(5000);
  const std::string name = semaphore ? semaphore_name : actor.dice.choose(lock_names);
  auto options = some_options(actor, actor.dice.chance(3000) ? 3s : 0s);
  options.share = semaphore ? Share{.permits = actor.dice.between(1, 2), .capacity = semaphore_capacity} : Share{};
  actor.say("share {}: {} permits", name, options.share->permits);
  return keep(actor, {.names = {name}, .token = {}, .shared = true}, acquire_with(actor, name, options));
}

Answer acquire_all(Actor& actor) {
  std::vector<std::string> names = lock_names;
  names.erase(names.begin() + actor.dice.below(static_cast<std::int64_t>(names.size())));
  const auto options = some_options(actor, actor.dice.chance(3000) ? 3s : 0s);
  actor.say("acquire {} and {}", names.front(), names.back());
  const auto grant =
      actor.ask([&] { return actor.store.locks().acquire_all(names, options, {.holder = actor.holder}); });
  return keep(actor, {.names = names, .token = {}}, grant);
}

Answer heartbeat(Actor& actor) {
  auto* held = actor.some(actor.locks);
  if (held == nullptr) return std::nullopt;
  const auto before = *held;
  actor.say("heartbeat {} {}", before.names.front(), before.token.value);
  const auto grant = actor.ask([&] { return actor.store.locks().heartbeat(before.names.back(), before.token); });
  if (grant) actor.extend(lease_of(before), grant->trusted_until);
  return word(grant);
}

Answer release(Actor& actor) {
  auto* held = actor.some(actor.locks);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.forget(actor.locks, held);
  for (const auto& name : mine.names) actor.give_up(key_of(name), mine.token);
  actor.say("release {} {}", mine.names.front(), mine.token.value);
  return word(actor.ask([&] { return actor.store.locks().release(mine.names.front(), mine.token); }));
}

Answer revoke(Actor& actor) {
  const auto& name = actor.dice.choose(lock_names);
  actor.say("revoke {}", name);
  return word(actor.store.locks().revoke(name, "simulated"));
}

// The program believes its grant and does not look at the clock: the fence has to stop it.
Answer write(Actor& actor) {
  auto* held = actor.some(actor.locks);
  if (held == nullptr || held->shared) return std::nullopt;
  const auto mine = *held;
  const auto& name = actor.dice.choose(mine.names);
  actor.say("write under {} {}", name, mine.token.value);
  return word(write_to_resource(actor, key_of(name), mine.token,
                                [&](sqlite3* connection) { return fence(connection, name, mine.token); }));
}

Answer look(Actor& actor) { return word(actor.store.locks().list()); }

constexpr Act acts[] = {
    {"lock acquire", Feature::lock, 14, acquire},
    {"lock wait", Feature::lock, 4, wait_for},
    {"lock share", Feature::lock, 6, share},
    {"lock acquire all", Feature::lock, 3, acquire_all},
    {"lock heartbeat", Feature::lock, 12, heartbeat},
    {"lock release", Feature::lock, 8, release},
    {"lock revoke", Feature::lock, 1, revoke},
    {"lock fenced write", Feature::lock, 12, write},
    {"lock list", Feature::lock, 1, look},
};

}  // namespace

std::span<const Act> lock_acts() { return acts; }

}  // namespace leasehold::sim

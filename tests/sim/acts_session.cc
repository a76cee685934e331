// The clients' acts on sessions, items and claims.
#include "leasehold/sqlite.h"
#include "sim/actor.h"
#include "sim/scenario.h"

namespace leasehold::sim {
namespace {

std::string key_of(const HeldSession& session) { return "session " + session.id; }
std::string key_of(const TakenItem& taken) { return "item " + taken.item; }
std::string lease_of(const HeldSession& session) {
  return fmt::format("session {} {}", session.id, session.token.value);
}

Answer open(Actor& actor) {
  // Two ids for every client: at times it opens one that it has, or that an earlier life of it has left.
  HeldSession session{.id = fmt::format("s{}.{}", actor.process.client(), actor.dice.below(2)), .token = {}};
  SessionOptions options{.id = session.id, .ttl = 3 * actor.some_ttl()};
  options.exclusive = actor.dice.chance(2000);
  options.request_id = actor.new_request_id();
  actor.say("open session {}", session.id);
  const auto grant = actor.ask([&] { return actor.store.sessions().open(options, {.holder = actor.holder}); });
  if (!grant) return word(grant);
  session.token = grant->token;
  actor.believe(key_of(session), session.token, lease_of(session), grant->trusted_until);
  Actor::remember(actor.sessions, std::move(session));
  return "ok";
}

Answer heartbeat(Actor& actor) {
  auto* held = actor.some(actor.sessions);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.say("heartbeat session {} {}", mine.id, mine.token.value);
  const auto grant = actor.ask([&] { return actor.store.sessions().heartbeat(mine.id, mine.token); });
  if (grant) actor.extend(lease_of(mine), grant->trusted_until);
  return word(grant);
}

Answer park(Actor& actor) {
  auto* held = actor.some(actor.sessions);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  const Duration silence(actor.dice.between(0, 15'000'000));
  actor.say("park session {} for {} us", mine.id, silence.count());
  const auto grant = actor.store.sessions().park(mine.id, mine.token, silence);
  if (grant) actor.extend(lease_of(mine), grant->trusted_until);
  return word(grant);
}

Answer close(Actor& actor) {
  auto* held = actor.some(actor.sessions);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.forget(actor.sessions, held);
  actor.stage.memory.beliefs.give_up_lease(lease_of(mine));
  actor.say("close session {} {}", mine.id, mine.token.value);
  return word(actor.ask([&] { return actor.store.sessions().close(mine.id, mine.token); }));
}

Answer revoke(Actor& actor) {
  const auto id = fmt::format("s{}.0", actor.dice.below(actor.stage.options.clients));
  actor.say("revoke session {}", id);
  return word(actor.store.sessions().revoke(id, "simulated"));
}

/// A session's items may be trusted for as long as the session itself.
Answer keep(Actor& actor, const HeldSession& session, const Result<Claim>& claim) {
  if (!claim) return word(claim);
  TakenItem taken{.item = claim->key, .session = claim->session, .token = claim->token};
  const auto until = actor.stage.memory.beliefs.deadline({.key = {}, .token = 0, .pid = 0, .lease = lease_of(session)});
  actor.believe(key_of(taken), taken.token, lease_of(session), until);
  Actor::remember(actor.items, std::move(taken));
  return "ok";
}

Answer take(Actor& actor) {
  auto* held = actor.some(actor.sessions);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  const auto& item = actor.dice.choose(item_keys);
  actor.say("take {} for session {}", item, mine.id);
  const auto claim = actor.ask([&] { return actor.store.claims().take(item, mine.id, {.session_token = mine.token}); });
  return keep(actor, mine, claim);
}

Answer release(Actor& actor) {
  auto* held = actor.some(actor.items);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.forget(actor.items, held);
  actor.give_up(key_of(mine), mine.token);
  actor.say("release item {} {}", mine.item, mine.token.value);
  return word(actor.ask([&] { return actor.store.claims().release(mine.item, mine.session, mine.token); }));
}

Answer switch_over(Actor& actor) {
  auto* held = actor.some(actor.items);
  if (held == nullptr || actor.sessions.empty()) return std::nullopt;
  const auto mine = *held;
  const auto session = std::find_if(actor.sessions.begin(), actor.sessions.end(),
                                    [&](const HeldSession& one) { return one.id == mine.session; });
  if (session == actor.sessions.end()) return std::nullopt;
  const auto of = *session;
  const auto& to = actor.dice.choose(item_keys);
  actor.forget(actor.items, held);
  actor.give_up(key_of(mine), mine.token);
  actor.say("switch from {} {} to {}", mine.item, mine.token.value, to);
  return keep(actor, of, actor.ask([&] { return actor.store.claims().switch_to(mine.item, mine.token, to); }));
}

Answer transfer(Actor& actor) {
  const auto& item = actor.dice.choose(item_keys);
  const auto to = fmt::format("s{}.0", actor.dice.below(actor.stage.options.clients));
  actor.say("transfer {} to session {}", item, to);
  return word(actor.store.claims().transfer(item, to, std::nullopt, "simulated"));
}

Answer take_away(Actor& actor) {
  const auto& item = actor.dice.choose(item_keys);
  actor.say("revoke the claim of {}", item);
  return word(actor.store.claims().revoke(item, "simulated"));
}

Answer done(Actor& actor) {
  auto* held = actor.some(actor.items);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.forget(actor.items, held);
  actor.give_up(key_of(mine), mine.token);
  actor.say("item {} {} is done", mine.item, mine.token.value);
  return word(actor.ask([&] { return actor.store.items().done(mine.item, mine.token); }));
}

Answer reopen(Actor& actor) { return word(actor.store.items().reopen(actor.dice.choose(item_keys))); }

Answer write(Actor& actor) {
  auto* held = actor.some(actor.items);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.say("write under item {} {}", mine.item, mine.token.value);
  return word(write_to_resource(actor, key_of(mine), mine.token,
                                [&](sqlite3* connection) { return fence_claim(connection, mine.item, mine.token); }));
}

Answer look(Actor& actor) { return word(actor.store.sessions().list()); }

constexpr Act acts[] = {
    {"session open", Feature::session, 8, open},       {"session heartbeat", Feature::session, 10, heartbeat},
    {"session park", Feature::session, 2, park},       {"session close", Feature::session, 2, close},
    {"session revoke", Feature::session, 1, revoke},   {"session list", Feature::session, 1, look},
    {"item take", Feature::session, 12, take},         {"item release", Feature::session, 4, release},
    {"item switch", Feature::session, 3, switch_over}, {"item transfer", Feature::session, 1, transfer},
    {"item revoke", Feature::session, 1, take_away},   {"item done", Feature::session, 2, done},
    {"item reopen", Feature::session, 5, reopen},      {"item fenced write", Feature::session, 4, write},
};

}  // namespace

std::span<const Act> session_acts() { return acts; }

}  // namespace leasehold::sim

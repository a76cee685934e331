// The clients' acts on a chunk set.
#include "leasehold/sqlite.h"
#include "sim/actor.h"
#include "sim/scenario.h"

namespace leasehold::sim {
namespace {

std::string key_of(const HeldChunk& held) { return "chunk " + held.set + "/" + held.key; }
std::string cursor_of(std::int64_t rows) { return fmt::format("{{\"row\":{}}}", rows); }

Answer claim(Actor& actor) {
  const bool old = actor.dice.chance(1000);
  ChunkClaimOptions options{
      .max = static_cast<int>(actor.dice.between(1, 2)), .ttl = actor.some_ttl(), .request_id = actor.new_request_id()};
  if (old) options.older_than = 60s;
  actor.say("claim up to {} chunks", options.max);
  const auto grant =
      actor.ask([&] { return actor.store.chunks().claim(chunk_set, options, {.holder = actor.holder}); });
  if (!grant) return word(grant);
  for (const auto& chunk : grant->chunks) {
    HeldChunk held{.set = chunk_set, .key = chunk.key, .token = chunk.token, .rows = chunk.rows, .lease = {}};
    held.lease = fmt::format("lease {} {}", grant->lease_id, chunk.token.value);
    actor.believe(key_of(held), held.token, held.lease, grant->trusted_until);
    Actor::remember(actor.chunks, std::move(held));
  }
  return "ok";
}

Answer save(Actor& actor) {
  auto* held = actor.some(actor.chunks);
  if (held == nullptr) return std::nullopt;
  held->rows += actor.dice.between(0, 100);
  const auto mine = *held;
  actor.say("save {} rows of {} {}", mine.rows, mine.key, mine.token.value);
  const auto cursor = cursor_of(mine.rows);
  const auto beat = actor.ask([&] {
    return actor.store.chunks().heartbeat(mine.set, mine.key, mine.token, {.cursor = cursor, .rows = mine.rows});
  });
  if (beat) actor.extend(mine.lease, beat->trusted_until);
  return word(beat);
}

Answer save_in_transaction(Actor& actor) {
  auto* held = actor.some(actor.chunks);
  if (held == nullptr) return std::nullopt;
  held->rows += actor.dice.between(0, 100);
  const auto mine = *held;
  const auto cursor = cursor_of(mine.rows);
  actor.say("save {} rows of {} {} in its own transaction", mine.rows, mine.key, mine.token.value);
  auto transaction = OwnTransaction::begin(*actor.backend, actor.deadline());
  if (!transaction) return word(transaction);
  const auto saved =
      save_chunk(transaction->connection(), mine.set, mine.key, mine.token, {.cursor = cursor, .rows = mine.rows});
  if (!saved) return word(saved);
  const auto decided_at = actor.stage.now();
  if (auto done = transaction->commit(); !done) return word(done);
  Deed deed{.statement = "chunk_heartbeat", .rows = mine.rows};
  deed.named.push_back({.key = key_of(mine), .token = mine.token.value, .outcome = "extended", .why = {}});
  actor.stage.look(deed, Parts::all(), decided_at);
  return "ok";
}

Answer write(Actor& actor) {
  auto* held = actor.some(actor.chunks);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.say("write under chunk {} {}", mine.key, mine.token.value);
  return word(write_to_resource(actor, key_of(mine), mine.token, [&](sqlite3* connection) {
    return fence_chunk(connection, mine.set, mine.key, mine.token);
  }));
}

template <typename Give>
Answer settle(Actor& actor, const char* verdict, Give&& give) {
  auto* held = actor.some(actor.chunks);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.forget(actor.chunks, held);
  actor.give_up(key_of(mine), mine.token);
  actor.say("{} chunk {} {}", verdict, mine.key, mine.token.value);
  return word(actor.ask([&] { return give(mine); }));
}

Answer complete(Actor& actor) {
  return settle(actor, "complete", [&](const HeldChunk& chunk) {
    return actor.store.chunks().complete(chunk.set, chunk.key, chunk.token, {.rows = chunk.rows});
  });
}
Answer fail(Actor& actor) {
  return settle(actor, "fail", [&](const HeldChunk& chunk) {
    return actor.store.chunks().fail(chunk.set, chunk.key, chunk.token, "simulated");
  });
}
Answer release(Actor& actor) {
  return settle(actor, "release", [&](const HeldChunk& chunk) {
    return actor.store.chunks().release(chunk.set, chunk.key, chunk.token);
  });
}
Answer skip(Actor& actor) {
  return settle(actor, "skip", [&](const HeldChunk& chunk) {
    return actor.store.chunks().skip(chunk.set, chunk.key, chunk.token, "simulated");
  });
}

Answer reset(Actor& actor) {
  const bool all = actor.dice.chance(5000);
  actor.say("reset {} chunks", all ? "all" : "failed");
  return word(actor.store.chunks().reset(
      chunk_set, {.which = all ? ChunkReset::Which::all : ChunkReset::Which::failed, .from_start = all}));
}

Answer plan(Actor& actor) {
  const auto chunks = plan_range(1, chunk_count * 100, 100);
  return word(actor.store.chunks().plan(chunk_set, *chunks));
}

Answer progress(Actor& actor) { return word(actor.store.chunks().progress(chunk_set)); }

constexpr Act acts[] = {
    {"chunk claim", Feature::chunk, 14, claim},
    {"chunk save", Feature::chunk, 14, save},
    {"chunk save in transaction", Feature::chunk, 2, save_in_transaction},
    {"chunk fenced write", Feature::chunk, 4, write},
    {"chunk complete", Feature::chunk, 8, complete},
    {"chunk fail", Feature::chunk, 3, fail},
    {"chunk release", Feature::chunk, 3, release},
    {"chunk skip", Feature::chunk, 1, skip},
    {"chunk reset", Feature::chunk, 3, reset},
    {"chunk plan", Feature::chunk, 1, plan},
    {"chunk progress", Feature::chunk, 1, progress},
};

}  // namespace

std::span<const Act> chunk_acts() { return acts; }

}  // namespace leasehold::sim

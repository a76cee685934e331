// The clients' acts on schedules.
#include "leasehold/sqlite.h"
#include "sim/actor.h"
#include "sim/scenario.h"

namespace leasehold::sim {
namespace {

std::string key_of(const std::string& name) { return "schedule " + name; }
std::string lease_of(const TakenRun& run) { return fmt::format("schedule {} {}", run.schedule, run.token.value); }

const std::string& some_calendar(Actor& actor) { return actor.dice.choose(calendars).name; }
const std::string& some_schedule(Actor& actor) {
  return actor.dice.chance(2000) ? paced_schedule : some_calendar(actor);
}

Answer acquire(Actor& actor) {
  TakenRun run{.schedule = some_schedule(actor), .token = {}};
  ScheduleAcquireOptions options{.now = actor.dice.chance(500), .ttl = actor.some_ttl()};
  options.request_id = actor.new_request_id();
  actor.say("acquire schedule {}", run.schedule);
  const auto taken =
      actor.ask([&] { return actor.store.schedules().acquire(run.schedule, options, {.holder = actor.holder}); });
  if (!taken) return word(taken);
  run.token = taken->grant.token;
  actor.believe(key_of(run.schedule), run.token, lease_of(run), taken->grant.trusted_until);
  Actor::remember(actor.runs, std::move(run));
  return "ok";
}

Answer heartbeat(Actor& actor) {
  auto* held = actor.some(actor.runs);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.say("heartbeat schedule {} {}", mine.schedule, mine.token.value);
  const auto grant = actor.ask([&] { return actor.store.schedules().heartbeat(mine.schedule, mine.token); });
  if (grant) actor.extend(lease_of(mine), grant->trusted_until);
  return word(grant);
}

template <typename Give>
Answer settle(Actor& actor, const char* verdict, Give&& give) {
  auto* held = actor.some(actor.runs);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.forget(actor.runs, held);
  actor.give_up(key_of(mine.schedule), mine.token);
  actor.say("{} schedule {} {}", verdict, mine.schedule, mine.token.value);
  return word(actor.ask([&] { return give(mine); }));
}

Answer complete(Actor& actor) {
  return settle(actor, "complete",
                [&](const TakenRun& run) { return actor.store.schedules().settle(run.schedule, run.token); });
}
Answer fail(Actor& actor) {
  return settle(actor, "fail", [&](const TakenRun& run) {
    return actor.store.schedules().settle(run.schedule, run.token, {.ok = false, .error = "simulated"});
  });
}
Answer release(Actor& actor) {
  return settle(actor, "release",
                [&](const TakenRun& run) { return actor.store.schedules().release(run.schedule, run.token); });
}

Answer fire(Actor& actor) {
  const auto& name = some_calendar(actor);
  actor.say("fire {}", name);
  return word(actor.store.schedules().fire(name));
}

Answer trigger(Actor& actor) {
  const auto& name = some_schedule(actor);
  actor.say("trigger {}", name);
  return word(actor.store.schedules().trigger(name));
}

Answer pause(Actor& actor) { return word(actor.store.schedules().pause(some_schedule(actor), "simulated")); }
Answer resume(Actor& actor) { return word(actor.store.schedules().resume(some_schedule(actor))); }

Answer write(Actor& actor) {
  auto* held = actor.some(actor.runs);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.say("write under schedule {} {}", mine.schedule, mine.token.value);
  return word(write_to_resource(actor, key_of(mine.schedule), mine.token, [&](sqlite3* connection) {
    return fence_schedule(connection, mine.schedule, mine.token);
  }));
}

Answer due(Actor& actor) { return word(actor.store.schedules().due()); }

constexpr Act acts[] = {
    {"schedule acquire", Feature::schedule, 16, acquire},  {"schedule heartbeat", Feature::schedule, 8, heartbeat},
    {"schedule complete", Feature::schedule, 8, complete}, {"schedule fail", Feature::schedule, 3, fail},
    {"schedule release", Feature::schedule, 2, release},   {"schedule fire", Feature::schedule, 6, fire},
    {"schedule trigger", Feature::schedule, 2, trigger},   {"schedule pause", Feature::schedule, 1, pause},
    {"schedule resume", Feature::schedule, 5, resume},     {"schedule fenced write", Feature::schedule, 3, write},
    {"schedule due", Feature::schedule, 1, due},
};

}  // namespace

std::span<const Act> schedule_acts() { return acts; }

}  // namespace leasehold::sim

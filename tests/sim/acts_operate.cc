// The operators' acts: recover, prune, show.
#include "sim/actor.h"

namespace leasehold::sim {
namespace {

Answer recover(Actor& actor) {
  actor.say("recover");
  return word(actor.store.recover());
}

// Not so soon that a request which is still being repeated would be forgotten.
Answer prune(Actor& actor) {
  if (!actor.stage.may_forget()) return std::nullopt;
  actor.say("prune");
  return word(actor.store.prune(5min));
}

Answer back_up(Actor& actor) {
  if (!actor.backend->get_in(actor.deadline())) return "busy";
  actor.stage.back_up();
  return "ok";
}

Answer leases(Actor& actor) { return word(actor.store.leases()); }
Answer status(Actor& actor) { return word(actor.store.status()); }
Answer events(Actor& actor) { return word(actor.store.events()); }
Answer stats(Actor& actor) { return word(actor.store.recovery_stats()); }

constexpr Act acts[] = {
    {"recover", Feature::operate, 6, recover},      {"prune", Feature::operate, 6, prune},
    {"back up", Feature::operate, 1, back_up},      {"list leases", Feature::operate, 1, leases},
    {"status", Feature::operate, 1, status},        {"list events", Feature::operate, 1, events},
    {"recovery stats", Feature::operate, 1, stats},
};

}  // namespace

std::span<const Act> operate_acts() { return acts; }

}  // namespace leasehold::sim

#include "sim/actor.h"

#include "base/process.h"
#include "store/store.h"

namespace leasehold::sim {

// The death of a process in its own container cannot be seen: only its leases show it.
Actor::Actor(Stage& its_stage, Process& its_process, bool in_container)
    : stage(its_stage),
      process(its_process),
      backend(std::make_shared<SimBackend>(stage, process)),
      store(store_over(backend, {})),
      holder{.name = process.name(),
             .host = "sim",
             .boot_id = in_container ? "container of " + process.name() : boot_id_of(stage.world.process_space()),
             .pid = process.pid(),
             .process_start = process.pid(),
             .tty = "",
             .instance = process.name()} {}

const std::vector<Act>& all_acts() {
  static const auto all = [] {
    std::vector<Act> acts;
    for (const auto some : {lock_acts(), job_acts(), chunk_acts(), session_acts(), schedule_acts(), operate_acts()}) {
      acts.insert(acts.end(), some.begin(), some.end());
    }
    return acts;
  }();
  return all;
}

}  // namespace leasehold::sim

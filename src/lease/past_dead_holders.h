// A process of this host that is gone stands in nobody's way: its lease ends at once.
#pragma once

#include "lease/reap.h"
#include "storage/backend.h"

namespace leasehold::lease {

/// `answer` tells who holds something: true if it is a refusal that names somebody of this host who is gone.
template <typename Answer>
bool is_refused_by_the_dead(const Answer& answer) {
  const bool somebody_has_it = answer.outcome == "held" || answer.outcome == "race" || answer.outcome == "blocked";
  if (!somebody_has_it || !answer.lease_id) return false;
  Holder owner;
  owner.boot_id = answer.boot_id.value_or("");
  owner.pid = answer.pid.value_or(0);
  owner.process_start = answer.process_start.value_or(0);
  return is_gone(owner);
}

/// Asks, and again for as long as that ends the lease of somebody who is gone: behind one there may be others, as where
/// an item and its children were several sessions'. Trouble in doing so is no reason to fail: then the refusal stands.
/// `on_end` is told each refusal by somebody whose lease was ended.
template <typename Ask, typename OnEnd>
auto ask_past_dead_holders(storage::Backend& backend, BootTime deadline, Ask&& ask, OnEnd&& on_end) -> decltype(ask()) {
  for (;;) {
    auto answer = ask();
    if (!answer || BootClock::now() >= deadline || !is_refused_by_the_dead(*answer)) return answer;
    const auto reaped = reap_lease(backend, *answer->lease_id, *answer->pid, *answer->process_start, deadline);
    if (!reaped) return answer;
    // Somebody else has ended it meanwhile, or is at it: whatever is said now is the truth.
    if (reaped->leases == 0) return ask();
    on_end(*answer);
  }
}

template <typename Ask>
auto ask_past_dead_holders(storage::Backend& backend, BootTime deadline, Ask&& ask) -> decltype(ask()) {
  return ask_past_dead_holders(backend, deadline, ask, [](const auto&) {});
}

}  // namespace leasehold::lease

// A process of this host that is gone stands in nobody's way: its session ends at once.
#pragma once

#include "lease/reap.h"
#include "storage/backend.h"

namespace leasehold::session {

/// `answer` is a LeaseAnswer or a ClaimAnswer: true if it is a refusal that names somebody of this host who is gone.
template <typename Answer>
bool is_refused_by_the_dead(const Answer& answer) {
  const bool somebody_has_it = answer.outcome == "held" || answer.outcome == "race" || answer.outcome == "blocked";
  if (!somebody_has_it || !answer.lease_id) return false;
  Holder owner;
  owner.boot_id = answer.boot_id.value_or("");
  owner.pid = answer.pid.value_or(0);
  owner.process_start = answer.process_start.value_or(0);
  return lease::is_gone(owner);
}

/// Asks, and again for as long as that ends the session of somebody who is gone: behind one that had the item there may
/// be others that had its children. Trouble in doing so is no reason to fail: then the refusal stands. `on_end` is told
/// each refusal by somebody whose session was ended.
template <typename Ask, typename OnEnd>
auto ask_past_the_dead(storage::Backend& backend, BootTime deadline, Ask&& ask, OnEnd&& on_end) -> decltype(ask()) {
  for (;;) {
    auto answer = ask();
    if (!answer || BootClock::now() >= deadline || !is_refused_by_the_dead(*answer)) return answer;
    const auto reaped = lease::reap_lease(backend, *answer->lease_id, *answer->pid, *answer->process_start, deadline);
    if (!reaped) return answer;
    // Somebody else has ended it meanwhile, or is at it: whatever is said now is the truth.
    if (reaped->leases == 0) return ask();
    on_end(*answer);
  }
}

template <typename Ask>
auto ask_past_the_dead(storage::Backend& backend, BootTime deadline, Ask&& ask) -> decltype(ask()) {
  return ask_past_the_dead(backend, deadline, ask, [](const auto&) {});
}

}  // namespace leasehold::session

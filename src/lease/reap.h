// Holders on this host whose process is gone: their leases end at once, before the ttl is over.
#pragma once

#include <mutex>
#include <thread>

#include "lease/call.h"
#include "leasehold/lease.h"
#include "storage/backend.h"

namespace leasehold::lease {

struct Reaped {
  std::int64_t leases = 0;
  std::int64_t jobs = 0;
  std::int64_t chunks = 0;
  std::int64_t claims = 0;
  std::int64_t runs = 0;
};

/// True only if it is certain that the process belonged to this host and has ended. This is the one rule for every
/// command: a lease whose holder is_gone() counts as expired (a session: as stale), even if it has time left. Only this
/// host can know; the store learns it when a process of this host ends the lease.
bool is_gone(const Holder& holder);

/// Ends the leases of a process of this host that is gone. Leases that another process ended first are not counted. If
/// the store cannot be reached, none are: they expire by themselves.
Reaped reap_process(storage::Backend& backend, std::int64_t pid, std::int64_t process_start, BootTime deadline);

/// Threading: from any thread.
class Reaper {
 public:
  /// Looks at most twice a second; in between it finds nothing. An error must not fail a claim: then it finds nothing,
  /// too, and the leases expire by themselves.
  Reaped reap_now_and_then(storage::Backend& backend, BootTime deadline);

  static Reaped reap(storage::Backend& backend, BootTime deadline);

 private:
  std::mutex mutex_;
  BootTime next_{};
};

// A process of this host that is gone blocks no caller: its lease ends at once.

/// The holder's process that an answer names, as is_gone() needs it.
template <typename Answer>
Holder process_in(const Answer& answer) {
  Holder process;
  process.boot_id = answer.boot_id.value_or("");
  process.pid = answer.pid.value_or(0);
  process.process_start = answer.process_start.value_or(0);
  return process;
}

/// True if `answer` is a refusal whose holder was a process of this host that is gone.
template <typename Answer>
bool is_refused_by_the_dead(const Answer& answer) {
  const auto code = answer.outcome.refusal();
  if (code != Errc::held && code != Errc::race && code != Errc::blocked) return false;
  return is_gone(process_in(answer));
}

/// Sends a request, and repeats it as long as dead processes of this host are in the way: behind one there may be
/// others, for example if several sessions held an item and its children. If another process is ending the same leases
/// right now, this waits for it, but at most half a second: a stuck process must not stop the caller. If a lease cannot
/// be ended, the refusal stands. `on_end` receives each refusal whose lease was ended here.
template <typename Ask, typename OnEnd>
auto ask_past_dead_holders(const StoreCall& call, Ask&& ask, OnEnd&& on_end) -> decltype(ask()) {
  Duration pause = std::chrono::milliseconds(5);
  for (;;) {
    auto answer = ask();
    if (!answer || BootClock::now() >= call.deadline() || !is_refused_by_the_dead(*answer)) return answer;
    if (reap_process(call.backend(), *answer->pid, *answer->process_start, call.deadline()).leases > 0) {
      on_end(*answer);
    } else if (pause < std::chrono::milliseconds(300)) {
      std::this_thread::sleep_for(pause);
      pause *= 2;
    } else {
      return answer;
    }
  }
}

template <typename Ask>
auto ask_past_dead_holders(const StoreCall& call, Ask&& ask) -> decltype(ask()) {
  return ask_past_dead_holders(call, ask, [](const auto&) {});
}

}  // namespace leasehold::lease

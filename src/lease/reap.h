// Holders on this host whose process is gone: their leases end at once, without waiting for the ttl.
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

/// True only where it is certain: it was a process of this host, and it has ended. This is the one rule for every
/// command: what is_gone() holds is expired (a session: stale), whatever its lease still says. Only this host can know;
/// the store learns of it when somebody here ends the lease.
bool is_gone(const Holder& holder);

/// Ends the leases of a process of this host that is gone. No lease is counted where somebody else was quicker, nor
/// where the store cannot be asked: then they run out by themselves.
Reaped reap_process(storage::Backend& backend, std::int64_t pid, std::int64_t process_start, BootTime deadline);

/// Threading: from any thread.
class Reaper {
 public:
  /// At most twice a second; in between it finds nothing. Trouble is no reason to fail a claim: then it finds nothing,
  /// too, and the leases run out by themselves.
  Reaped reap_now_and_then(storage::Backend& backend, BootTime deadline);

  static Reaped reap(storage::Backend& backend, BootTime deadline);

 private:
  std::mutex mutex_;
  BootTime next_{};
};

// A process of this host that is gone stands in nobody's way: its lease ends at once.

/// `answer` tells who holds something: true if it is a refusal that names somebody of this host who is gone.
template <typename Answer>
bool is_refused_by_the_dead(const Answer& answer) {
  const auto code = answer.outcome.refusal();
  if (code != Errc::held && code != Errc::race && code != Errc::blocked) return false;
  Holder owner;
  owner.boot_id = answer.boot_id.value_or("");
  owner.pid = answer.pid.value_or(0);
  owner.process_start = answer.process_start.value_or(0);
  return is_gone(owner);
}

/// Asks, and again for as long as dead processes of this host stand in the way: behind one there may be others, as
/// where an item and its children belonged to several sessions. If another process is ending the same leases at this
/// moment, this waits for it, for half a second at most: a stuck one must not stop the caller. Failing to end a lease
/// is no reason to fail: then the refusal stands. `on_end` gets each refusal whose lease was ended here.
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

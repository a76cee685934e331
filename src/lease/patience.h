// Topics that somebody in this process listens to. The store is told, so that it sends wake-ups only where they are
// wanted.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>

#include "lease/reap.h"
#include "leasehold/result.h"
#include "storage/backend.h"

namespace leasehold::lease {

/// Threading: from any thread.
class Awaited {
 public:
  /// True: whoever changes something under `topic` from now on wakes its watches. Otherwise call tell_store().
  bool known(const std::string& topic, BootTime now);
  /// If that fails, the one who waits still looks now and then.
  void tell_store(storage::Backend& backend, const std::string& topic, BootTime deadline);

 private:
  std::mutex mutex_;
  std::map<std::string, BootTime> fresh_until_;
};

// Claims that wait: what those of a queue and of a chunk set have in common.

/// Wake-ups that turn out to be for others are answered ever more slowly: a busy store wakes a waiter with every
/// commit, also those that are none of its business.
class Damping {
 public:
  void after_wake_up();
  void after_silence() { pause_ = Duration(0); }

 private:
  Duration pause_{0};
};

/// How long a refusal stays true at most.
Duration until_next_look(const Error& refusal);

/// Asks, and once more where somebody who died on this host stood in the way. `by_the_dead` says of a refusal whether
/// that may be so.
template <typename Ask, typename ByTheDead>
auto ask_past_the_dead(storage::Backend& backend, Reaper& reaper, Duration call_timeout, Ask&& ask,
                       ByTheDead&& by_the_dead) -> decltype(ask()) {
  auto answer = ask();
  if (answer || !by_the_dead(answer.error())) return answer;
  if (reaper.reap_now_and_then(backend, BootClock::now() + call_timeout).leases == 0) return answer;
  return ask();
}

/// For what, and how long.
struct Patience {
  std::string topic;
  BootTime until;
  std::stop_token stop{};
};

/// Asks until there is something else than a refusal that `may_change`, or the time is over, or somebody stops it; then
/// gives the last one.
template <typename Ask, typename MayChange>
auto ask_patiently(storage::Backend& backend, Awaited& awaited, Duration call_timeout, const Patience& patience,
                   Ask&& ask, MayChange&& may_change) -> decltype(ask()) {
  const auto watch = backend.watch(patience.topic);
  const std::stop_callback on_stop(patience.stop, [&watch] { watch->wake(); });
  Damping damping;
  for (;;) {
    // Before asking: what comes in after that will wake us.
    const bool awaited_already = awaited.known(patience.topic, BootClock::now());
    auto answer = ask();
    const bool over = patience.stop.stop_requested() || BootClock::now() >= patience.until;
    if (answer || over || !may_change(answer.error())) return answer;
    if (!awaited_already) {
      awaited.tell_store(backend, patience.topic, BootClock::now() + call_timeout);
      continue;
    }
    const auto next = std::min(patience.until, BootClock::now() + until_next_look(answer.error()));
    watch->wait(next);
    if (patience.stop.stop_requested()) return answer;
    if (BootClock::now() < next) {
      damping.after_wake_up();
    } else {
      damping.after_silence();
    }
  }
}

}  // namespace leasehold::lease

// Topics that this process listens to. The store knows them, so that it sends wake-ups only where they are needed.
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
  /// True: a change under `topic` wakes its watches from now on. Otherwise call announce().
  bool known(const std::string& topic, BootTime now);
  /// If this fails, the waiting caller still looks now and then.
  void announce(storage::Backend& backend, const std::string& topic, BootTime deadline);

 private:
  std::mutex mutex_;
  std::map<std::string, BootTime> fresh_until_;
};

// Claims that wait: shared by queues and chunk sets.

/// A busy store wakes a waiter with every commit, even for unrelated changes. The more wake-ups bring nothing, the
/// slower the waiter reacts.
class Damping {
 public:
  void after_wake_up();
  void after_silence() { pause_ = Duration(0); }

 private:
  Duration pause_{0};
};

/// How long a refusal can stay true.
Duration until_next_look(const Error& refusal);

/// Sends a request, and repeats it once if a process that died on this host was in the way. `by_the_dead` returns
/// whether a refusal may be such a case.
template <typename Ask, typename ByTheDead>
auto ask_past_the_dead(storage::Backend& backend, Reaper& reaper, Duration call_timeout, Ask&& ask,
                       ByTheDead&& by_the_dead) -> decltype(ask()) {
  auto answer = ask();
  if (answer || !by_the_dead(answer.error())) return answer;
  if (reaper.reap_now_and_then(backend, BootClock::now() + call_timeout).leases == 0) return answer;
  return ask();
}

/// What to wait for, and how long.
struct Patience {
  std::string topic;
  BootTime until;
  std::stop_token stop{};
};

/// Repeats the request until the answer is not a refusal that `may_change`, the time is over, or `stop` is requested.
/// Returns the last answer.
template <typename Ask, typename MayChange>
auto ask_patiently(storage::Backend& backend, Awaited& awaited, Duration call_timeout, const Patience& patience,
                   Ask&& ask, MayChange&& may_change) -> decltype(ask()) {
  const auto watch = backend.watch(patience.topic);
  const std::stop_callback on_stop(patience.stop, [&watch] { watch->wake(); });
  Damping damping;
  for (;;) {
    // Checked before the request: what arrives after it will wake us.
    const bool awaited_already = awaited.known(patience.topic, BootClock::now());
    auto answer = ask();
    const bool over = patience.stop.stop_requested() || BootClock::now() >= patience.until;
    if (answer || over || !may_change(answer.error())) return answer;
    if (!awaited_already) {
      awaited.announce(backend, patience.topic, BootClock::now() + call_timeout);
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

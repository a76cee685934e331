// Asking again, where asking again is right.
#pragma once

#include <thread>

#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold::lease {

/// `ask` until it succeeds, gives an answer that stays, or the deadline nears. Only for acts that may be
/// repeated: those with a request id or a token. A busy store gets five tries from 50 ms, doubling.
template <typename Ask>
auto ask_again(BootTime deadline, Ask&& ask) -> decltype(ask()) {
  auto pause = Duration(std::chrono::milliseconds(50));
  for (int tries = 1;; ++tries) {
    auto answer = ask();
    if (answer) return answer;
    const auto code = answer.error().code;
    const bool again = code == Errc::in_doubt || (code == Errc::busy && tries < 5);
    if (!again || BootClock::now() + pause >= deadline) return answer;
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
}

}  // namespace leasehold::lease

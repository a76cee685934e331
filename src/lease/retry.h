// Asking again, where asking again is right.
#pragma once

#include <thread>
#include <utility>

#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold::lease {

/// What the last try met, told of all of them: a later copy of a request that met nobody says nothing of an earlier one
/// whose answer got lost.
inline Error told_of_all(Error last, bool doubted) {
  if (doubted && (last.code == Errc::unavailable || last.code == Errc::busy)) {
    last.code = Errc::in_doubt;
    last.message += "; an earlier try may have happened";
  }
  return last;
}

/// `ask` until it succeeds, gives an answer that stays, or the deadline nears. Nothing has happened to whoever is told
/// `busy`: that is always asked again, five times from 50 ms, doubling. `also` says which other errors are.
template <typename Ask, typename Also>
auto ask_again_if(BootTime deadline, Ask&& ask, Also&& also) -> decltype(ask()) {
  auto pause = Duration(std::chrono::milliseconds(50));
  bool doubted = false;
  for (int tries = 1;; ++tries) {
    auto answer = ask();
    if (answer) return answer;
    const auto code = answer.error().code;
    doubted = doubted || code == Errc::in_doubt;
    const bool again = also(code) || (code == Errc::busy && tries < 5);
    if (!again || BootClock::now() + pause >= deadline) return told_of_all(std::move(answer).error(), doubted);
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
}

/// Only for acts that may be repeated, those with a request id or a token: a lost answer is asked for again.
template <typename Ask>
auto ask_again(BootTime deadline, Ask&& ask) -> decltype(ask()) {
  return ask_again_if(deadline, ask, [](Errc code) { return code == Errc::in_doubt; });
}

/// For all other acts: once more only where certainly nothing has happened.
template <typename Ask>
auto ask_until_free(BootTime deadline, Ask&& ask) -> decltype(ask()) {
  return ask_again_if(deadline, ask, [](Errc) { return false; });
}

}  // namespace leasehold::lease

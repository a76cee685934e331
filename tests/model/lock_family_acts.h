// One step of a random sequence about the lock family: how it is drawn, and how it looks when a sequence is printed.
#pragma once

#include <rapidcheck.h>

#include <ostream>

#include "model/lock_family_words.h"

namespace leasehold::lock_family {

enum class Verb {
  acquire,
  share,
  acquire_all,
  heartbeat,
  release,
  revoke,
  wait,
  leave,
  ask,
  recover,
  reap,
  prune,
  advance
};

inline const char* to_string(Verb verb) {
  static constexpr const char* words[] = {"acquire", "share", "acquire_all", "heartbeat", "release", "revoke", "wait",
                                          "leave",   "ask",   "recover",     "reap",      "prune",   "advance"};
  return words[static_cast<std::size_t>(verb)];
}

/// What a number means depends on the verb. A token is named by how many of that lock came after it, so that a sequence
/// means the same on every store; -1: never was.
struct Act {
  Verb verb = Verb::advance;
  int lock = 0;
  int holder = 0;
  int ago = 0;
  int which = 0;   ///< of several locks: a bit for each; of places in line: whose
  int choice = 0;  ///< of what else there is to choose
  Moment ttl = 0;
  Moment delay = 0;
  Moment span = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Act& act) {
  return out << "\n  " << to_string(act.verb) << " lock" << act.lock << " holder" << act.holder << " tokens_ago "
             << act.ago << " which " << act.which << " choice " << act.choice << " ttl " << act.ttl << " delay "
             << act.delay << " span " << act.span << "us";
}

inline rc::Gen<Act> any_act() {
  using rc::gen::element;
  using rc::gen::inRange;
  using rc::gen::set;
  using V = Verb;
  const auto verb = rc::gen::weightedElement<V>({{8, V::acquire},
                                                 {16, V::share},
                                                 {7, V::acquire_all},
                                                 {6, V::heartbeat},
                                                 {9, V::release},
                                                 {4, V::revoke},
                                                 {6, V::wait},
                                                 {2, V::leave},
                                                 {5, V::ask},
                                                 {2, V::recover},
                                                 {2, V::reap},
                                                 {2, V::prune},
                                                 {14, V::advance}});
  // The clock often stops exactly where something ends, or a microsecond before: that is where mistakes live.
  const auto span = element<Moment>(1, 999'999, 1'000'000, 2'000'000, 3'000'000, 4'999'999, 5'000'000, 10'000'000);
  return rc::gen::build<Act>(
      set(&Act::verb, verb), set(&Act::lock, inRange(0, 3)), set(&Act::holder, inRange(0, 3)),
      set(&Act::ago, rc::gen::weightedElement<int>({{8, 0}, {4, 1}, {2, 2}, {1, -1}})), set(&Act::which, inRange(0, 8)),
      set(&Act::choice, inRange(0, 8)), set(&Act::ttl, element<Moment>(1'000'000, 5'000'000, 10'000'000)),
      set(&Act::delay, rc::gen::weightedElement<Moment>({{5, 0}, {2, 2'000'000}, {1, 5'000'000}})),
      set(&Act::span, span));
}

}  // namespace leasehold::lock_family

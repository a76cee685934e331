// One step of a random sequence about schedules: how it is drawn, and how it looks when a sequence is printed.
#pragma once

#include <rapidcheck.h>

#include <ostream>

#include "model/schedule_model_words.h"

namespace leasehold::schedule_model {

enum class Verb {
  set,
  ensure,
  acquire,
  heartbeat,
  finish,
  fail,
  release,
  trigger,
  pause,
  resume,
  rename,
  remove,
  fire,
  recover,
  advance
};

inline const char* to_string(Verb verb) {
  static constexpr const char* words[] = {"set",    "ensure",  "acquire", "heartbeat", "finish",
                                          "fail",   "release", "trigger", "pause",     "resume",
                                          "rename", "remove",  "fire",    "recover",   "advance"};
  return words[static_cast<std::size_t>(verb)];
}

/// What a number means depends on the verb. A token is named by how many of that schedule came after it, so that a
/// sequence means the same on every store; -1: never was.
struct Act {
  Verb verb = Verb::recover;
  int schedule = 0;
  int other = 0;  ///< another name
  int ago = 0;
  int bits = 0;  ///< of what there is to choose
  Moment span = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Act& act) {
  return out << "\n  " << to_string(act.verb) << " schedule" << act.schedule << " other" << act.other << " tokens_ago "
             << act.ago << " bits " << act.bits << " span " << act.span << "us";
}

inline rc::Gen<Act> any_act() {
  using rc::gen::element;
  using rc::gen::inRange;
  using rc::gen::set;
  using V = Verb;
  const auto verb = rc::gen::weightedElement<V>({{6, V::set},
                                                 {2, V::ensure},
                                                 {24, V::acquire},
                                                 {5, V::heartbeat},
                                                 {10, V::finish},
                                                 {8, V::fail},
                                                 {4, V::release},
                                                 {6, V::trigger},
                                                 {4, V::pause},
                                                 {5, V::resume},
                                                 {2, V::rename},
                                                 {1, V::remove},
                                                 {8, V::fire},
                                                 {2, V::recover},
                                                 {20, V::advance}});
  // The clock often stops exactly where something is due or ends, or a microsecond before: that is where mistakes live.
  const auto span = element<Moment>(0, 1, 19'999'999, 20'000'000, 29'999'999, 30'000'000, 59'999'999, 60'000'000,
                                    120'000'000, 300'000'000, 3'600'000'000, -2'000'000);
  return rc::gen::build<Act>(set(&Act::verb, verb), set(&Act::schedule, inRange(0, 3)), set(&Act::other, inRange(0, 4)),
                             set(&Act::ago, rc::gen::weightedElement<int>({{9, 0}, {2, 1}, {1, 2}, {1, -1}})),
                             set(&Act::bits, inRange(0, 4096)), set(&Act::span, span));
}

}  // namespace leasehold::schedule_model

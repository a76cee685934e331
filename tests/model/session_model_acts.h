// One step of a random sequence about sessions: how it is drawn, and how it looks when a sequence is printed.
#pragma once

#include <rapidcheck.h>

#include <ostream>

#include "model/session_model_words.h"

namespace leasehold::session_model {

enum class Verb {
  open,
  heartbeat,
  progress,
  park,
  close,
  revoke_session,
  add,
  take,
  next,
  release,
  switch_to,
  transfer,
  revoke,
  done,
  reopen,
  remove,
  recover,
  advance
};

inline const char* to_string(Verb verb) {
  static constexpr const char* words[] = {"open",   "heartbeat", "progress", "park",    "close",     "revoke_session",
                                          "add",    "take",      "next",     "release", "switch_to", "transfer",
                                          "revoke", "done",      "reopen",   "remove",  "recover",   "advance"};
  return words[static_cast<std::size_t>(verb)];
}

/// What a number means depends on the verb. A token is named by how many of that session or item came after it, so
/// that a sequence means the same on every store; -1: never was.
struct Act {
  Verb verb = Verb::recover;
  int session = 0;
  int item = 0;
  int other = 0;  ///< another item
  int ago = 0;
  int bits = 0;    ///< which items conflict, and whether things are given
  int choice = 0;  ///< of what else there is to choose
  Moment span = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Act& act) {
  return out << "\n  " << to_string(act.verb) << " session" << act.session << " item" << act.item << " other item"
             << act.other << " tokens_ago " << act.ago << " bits " << act.bits << " choice " << act.choice << " span "
             << act.span << "us";
}

inline rc::Gen<Act> any_act() {
  using rc::gen::element;
  using rc::gen::inRange;
  using rc::gen::set;
  using V = Verb;
  const auto verb = rc::gen::weightedElement<V>({{12, V::open},
                                                 {6, V::heartbeat},
                                                 {3, V::progress},
                                                 {4, V::park},
                                                 {3, V::close},
                                                 {2, V::revoke_session},
                                                 {7, V::add},
                                                 {20, V::take},
                                                 {8, V::next},
                                                 {6, V::release},
                                                 {8, V::switch_to},
                                                 {7, V::transfer},
                                                 {4, V::revoke},
                                                 {4, V::done},
                                                 {3, V::reopen},
                                                 {2, V::remove},
                                                 {2, V::recover},
                                                 {10, V::advance}});
  // The clock often stops exactly where something ends, or a microsecond before: that is where mistakes live.
  const auto span = element<Moment>(0, 1, 999'999, 1'000'000, 2'000'000, 4'000'000, 4'999'999, 5'000'000, 9'999'999,
                                    10'000'000, 60'000'000, -2'000'000);
  return rc::gen::build<Act>(set(&Act::verb, verb), set(&Act::session, inRange(0, 4)), set(&Act::item, inRange(0, 6)),
                             set(&Act::other, inRange(0, 6)),
                             set(&Act::ago, rc::gen::weightedElement<int>({{9, 0}, {2, 1}, {1, 2}, {1, -1}})),
                             set(&Act::bits, inRange(0, 256)), set(&Act::choice, inRange(0, 8)), set(&Act::span, span));
}

}  // namespace leasehold::session_model

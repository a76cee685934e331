// One step of a random sequence about chunks: how it is drawn, and how it looks when a sequence is printed.
#pragma once

#include <rapidcheck.h>

#include <ostream>

#include "model/chunk_model_words.h"

namespace leasehold::chunk_model {

enum class Verb {
  plan,
  claim,
  claim_key,
  claim_old,
  attach,
  save,
  complete,
  fail,
  release,
  skip,
  skip_open,
  reset,
  set,
  remove,
  recover,
  open,
  extend,
  close,
  advance
};

inline const char* to_string(Verb verb) {
  static constexpr const char* words[] = {"plan",    "claim",   "claim_key", "claim_old", "attach", "save", "complete",
                                          "fail",    "release", "skip",      "skip_open", "reset",  "set",  "remove",
                                          "recover", "open",    "extend",    "close",     "advance"};
  return words[static_cast<std::size_t>(verb)];
}

/// What a number means depends on the verb. A chunk is named by its key or by how many were claimed after it, a token
/// by how many grants of that chunk came after it, so that a sequence means the same on every store; -1: never was.
struct Act {
  Verb verb = Verb::recover;
  int set = 0;
  int key = 0;
  int ago = 0;
  int holder = 0;
  int number = 0;  ///< how many, a planner version, a budget
  int bits = 0;    ///< which keys are in a plan, and with which specs
  int choice = 0;  ///< of what else there is to choose
  Moment span = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Act& act) {
  return out << "\n  " << to_string(act.verb) << " set" << act.set << " key " << act.key << " grants_ago " << act.ago
             << " holder" << act.holder << " number " << act.number << " bits " << act.bits << " choice " << act.choice
             << " span " << act.span << "us";
}

inline rc::Gen<Act> any_act() {
  using rc::gen::element;
  using rc::gen::inRange;
  using rc::gen::set;
  using V = Verb;
  const auto verb = rc::gen::weightedElement<V>({{9, V::plan},
                                                 {14, V::claim},
                                                 {4, V::claim_key},
                                                 {4, V::claim_old},
                                                 {5, V::attach},
                                                 {7, V::save},
                                                 {7, V::complete},
                                                 {7, V::fail},
                                                 {3, V::release},
                                                 {2, V::skip},
                                                 {2, V::skip_open},
                                                 {4, V::reset},
                                                 {1, V::set},
                                                 {1, V::remove},
                                                 {3, V::recover},
                                                 {3, V::open},
                                                 {2, V::extend},
                                                 {2, V::close},
                                                 {10, V::advance}});
  // The clock often stops exactly where something ends, or a microsecond before: that is where mistakes live.
  const auto span = element<Moment>(0, 1, 999'999, 1'000'000, 2'000'000, 4'000'000, 4'999'999, 5'000'000, 9'999'999,
                                    10'000'000, 60'000'000, 120'000'000, -2'000'000);
  return rc::gen::build<Act>(
      set(&Act::verb, verb), set(&Act::set, rc::gen::weightedElement<int>({{4, 0}, {1, 1}})),
      set(&Act::key, inRange(0, 6)), set(&Act::ago, rc::gen::weightedElement<int>({{8, 0}, {2, 1}, {1, 2}, {1, -1}})),
      set(&Act::holder, inRange(0, 3)), set(&Act::number, inRange(0, 4)), set(&Act::bits, inRange(0, 1024)),
      set(&Act::choice, inRange(0, 8)), set(&Act::span, span));
}

}  // namespace leasehold::chunk_model

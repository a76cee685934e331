// What locks, jobs, items and chunks promise, as a sequential specification: a state, and which acts may come next.
//
//   State state;                                                     // never used
//   auto ruling = rule(state, act, moment, surroundings);
//   if (!ruling.next) tell(ruling.why);
//
// Pure: no store, no clock. Concurrency is not its business; linearize.h looks for an order in which every act is
// allowed.
//
// That a lease has run out is no act and leaves no record. So it is not a step of its own: an act that needs it to have
// run out is allowed from the recorded `expires` on, by the store's clock; or when the process that held it may be
// gone.
#pragma once

#include <optional>
#include <string>

#include "history/act.h"
#include "history/surroundings.h"

namespace leasehold::history {

enum class Phase {
  absent,    ///< of a job: not enqueued
  waiting,   ///< no process has it
  held,      ///< a process has it, though perhaps past its expiry
  finished,  ///< completed
};

struct State {
  Phase phase = Phase::absent;
  std::int64_t token = 0;      ///< the greatest that any process got
  bool token_reported = true;  ///< false: held under a greater one, granted by an act without an answer
  int holder = -1;             ///< the process
  std::string session{};       ///< of an item
  StoreTime expires_from = 0;  ///< when the lease runs out: not before ...
  StoreTime expires_to = 0;    ///< ... and not after this
  std::int64_t attempts = 0;   ///< of a job
  std::int64_t writes = 0;     ///< under the lock's fence
  std::string cursor{};        ///< of a chunk
  std::string unseen{};        ///< " complete@17": verdicts without an answer that took effect all the same

  friend bool operator==(const State&, const State&) = default;
};

/// The latest moment at which the act can have taken effect here: the first end of all acts that come with it or after.
struct Moment {
  Nanoseconds by = never;
};

struct Ruling {
  std::optional<State> next{};
  std::string why{};  ///< it is not allowed
};

/// May `act` come next, and what is the state then? An act that may have happened is ruled on as if it had.
Ruling rule(const State& state, const Act& act, const Moment& moment, const Surroundings& around);

}  // namespace leasehold::history

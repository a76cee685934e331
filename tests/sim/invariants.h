// Rules that always hold. Each invariant is one function, judged after every deed: it looks at the pictures
// before and after, at what was asked and answered, and at what the simulation remembers.
//
//   I1  no write lands at a fenced resource after its grant has ended, or after one with a newer token
//   I2  the tokens of a key never repeat and never fall
//   I3  a holder is not overtaken before its deadline; what is over stays over
//   I4  what is free can be had: no caller is refused because of an expired lease, `empty` is true
//   I5  every occurrence of a schedule ran or has a recorded skip
//   I6  one outcome per attempt, nothing is lost, no stale token is accepted, every change is reported
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sim/beliefs.h"
#include "sim/deed.h"
#include "sim/picture.h"
#include "sim/world.h"

namespace leasehold::sim {

struct Violation {
  std::string invariant;  ///< "I2"
  std::string what;
};
using Finding = std::optional<Violation>;

/// The simulation's memory of the past of a run.
struct Memory {
  std::map<std::string, std::int64_t> highest_token;  ///< by key; outlives restores and the keys themselves
  std::map<std::string, std::int64_t> landed;         ///< at the fenced resource: the newest token that wrote
  struct LatestGrant {
    std::int64_t token = 0;
    BootTime at{};
  };
  std::map<std::string, LatestGrant> latest_grant;  ///< by key, since the last boot
  std::set<std::pair<std::string, std::int64_t>> revoked;
  std::map<std::string, Micros> delayed_until;  ///< locks that must not be granted before
  Beliefs beliefs;
  /// Microseconds between two occurrences, of the schedules that have a calendar.
  std::map<std::string, Micros> periods;
};

/// Two pictures and what happened between them.
struct Change {
  const Picture& before;
  const Picture& after;
  const Deed& deed;
  const World& world;
};

// I1
Finding no_late_write_lands(const Picture& now, Memory& memory, const std::string& key, std::int64_t token);
// I2
Finding tokens_rise(const Change& change, Memory& memory);
// I3
Finding leases_end_when_over(const Change& change);
Finding over_stays_over(const Change& change);
Finding deadlines_are_respected(const Change& change, Memory& memory);
Finding delays_are_kept(const Change& change, Memory& memory);
Finding shares_fit(const Change& change);
/// An answer that came late: the key may have been granted again meanwhile.
Finding deadline_was_respected(Memory& memory, const Belief& belief, BootTime until);
// I4
Finding refusals_are_true(const Change& change);
// I5
Finding occurrences_are_accounted_for(const Change& change, const Memory& memory);
// I6
Finding stale_tokens_change_nothing(const Change& change);
Finding jobs_are_in_one_place(const Change& change);
Finding jobs_do_not_vanish(const Change& change);
Finding log_only_grows(const Change& change);
Finding verdicts_are_kept(const Change& change);
Finding budgets_are_kept(const Change& change);
Finding saves_are_kept(const Change& change);
Finding runs_have_one_outcome(const Change& change);
Finding grants_are_reported(const Change& change);

/// All of them that look at a change; the first one that is broken.
Finding judge(const Change& change, Memory& memory);

}  // namespace leasehold::sim

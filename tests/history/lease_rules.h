// The rules that are the same for everything that can be held: grant, heartbeat, end.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "history/specification.h"

namespace leasehold::history {

inline Ruling allow(State next) { return {.next = std::move(next)}; }
inline Ruling forbid(std::string why) { return {.why = std::move(why)}; }

/// One ruling: the state, the act, and what is known around them.
struct Case {
  const State& state;
  const Act& act;
  const Moment& moment;
  const Surroundings& around;

  /// By the store's clock: as reported, or as late as it can have been.
  [[nodiscard]] StoreTime at() const { return act.reported.at != 0 ? act.reported.at : around.latest(moment.by); }

  [[nodiscard]] bool may_have_run_out() const {
    if (state.phase != Phase::held) return true;
    if (!state.session.empty()) return around.session_may_be_over(state.session, act.start, moment.by, at());
    return at() >= state.expires_from || around.gone(state.holder, moment.by);
  }

  /// The token that was asked with is the one under which it is held.
  [[nodiscard]] bool token_is_current() const {
    return state.phase == Phase::held && state.token_reported && act.asked.token == state.token;
  }

  /// The same was said with the same token before, and took effect.
  [[nodiscard]] bool said_before() const {
    return around.said_before(act) || state.unseen.find(mark()) != std::string::npos;
  }
  void note_if_unseen(State& next) const {
    if (act.answer == Answer::may_have) next.unseen += mark();
  }
  [[nodiscard]] std::string mark() const { return fmt::format(" {}@{}", act.verb, act.asked.token); }

  [[nodiscard]] std::string held_by() const {
    const auto who = state.session.empty() ? fmt::format("p{}", state.holder) : state.session;
    return state.token_reported ? fmt::format("{} with token {}", who, state.token)
                                : fmt::format("{} with a token that no process got", who);
  }
};

/// A grant: over nothing, or over a lease that may have run out; with a token greater than all before.
Ruling rule_grant(const Case& the);
/// `held`: it is held, by this holder.
Ruling rule_held(const Case& the);
/// A heartbeat that went through: the token is current, and the lease had not run out.
Ruling rule_heartbeat(const Case& the);
/// `lost` to a heartbeat, which a lease that has run out is refused, too, though it may not have been ended.
Ruling rule_lost(const Case& the);
/// `lost` to an act that is accepted until the lease has been ended: so it has been ended.
Ruling rule_ended(const Case& the);
/// complete, fail, release of work. Accepted as long as the token is current, run out or not; the same verdict again is
/// fine and changes nothing.
Ruling rule_verdict(const Case& the, Phase then);

}  // namespace leasehold::history

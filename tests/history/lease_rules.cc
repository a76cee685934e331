#include "history/lease_rules.h"

namespace leasehold::history {
namespace {

/// Granted by an act without an answer: no process knows its token, or until when.
State granted_unseen(const Case& the) {
  auto next = the.state;
  next.token_reported = false;
  next.expires_from = the.around.earliest(the.act.start) + the.around.ttl();
  next.expires_to = end_of_time;
  return next;
}

State granted(const Case& the) {
  auto next = the.state;
  next.token = the.act.reported.token;
  next.token_reported = true;
  next.expires_from = next.expires_to = the.act.reported.expires;
  return next;
}

}  // namespace

Ruling rule_grant(const Case& the) {
  const auto& [state, act, moment, around] = the;
  if (state.phase == Phase::finished) return forbid("granted although it was completed");
  if (!the.may_have_run_out()) return forbid("granted while it was held by " + the.held_by());
  const bool unseen = act.answer == Answer::may_have;
  const auto min = state.token + (state.token_reported ? 1 : 2);
  if (!unseen && act.reported.token < min) {
    return forbid(
        fmt::format("granted with token {}, but token {} was granted before", act.reported.token, state.token));
  }
  auto next = unseen ? granted_unseen(the) : granted(the);
  next.phase = Phase::held;
  next.holder = act.process;
  next.session = act.asked.session;
  return allow(next);
}

Ruling rule_held(const Case& the) {
  const auto& [state, act, moment, around] = the;
  if (state.phase != Phase::held) return forbid("refused as held although it was free");
  auto next = state;
  if (act.reported.token != 0) {
    const bool fits = state.token_reported ? act.reported.token == state.token : act.reported.token > state.token;
    if (!fits)
      return forbid(
          fmt::format("refused as held with token {}, but it was held by {}", act.reported.token, the.held_by()));
    next.token = act.reported.token;
    next.token_reported = true;
  }
  if (!state.session.empty()) {
    if (!act.reported.session.empty() && act.reported.session != state.session) {
      return forbid(fmt::format("refused as held by {}, but it was held by {}", act.reported.session, the.held_by()));
    }
    return allow(next);
  }
  if (act.reported.expires == 0) return allow(next);
  if (act.reported.expires < state.expires_from || act.reported.expires > state.expires_to) {
    return forbid("refused as held until a moment that no heartbeat has set");
  }
  next.expires_from = next.expires_to = act.reported.expires;
  return allow(next);
}

Ruling rule_heartbeat(const Case& the) {
  const auto& [state, act, moment, around] = the;
  if (!the.token_is_current()) return forbid("a heartbeat went through with a token that is not current");
  auto next = state;
  if (act.answer == Answer::may_have) {
    next.expires_to = end_of_time;
    return allow(next);
  }
  // The library asks again when an answer got lost: a first copy of the request may have come in time.
  if (act.reported.at >= state.expires_to && around.earliest(act.start) >= state.expires_to) {
    return forbid("a heartbeat revived a lease that had run out");
  }
  next.expires_from = next.expires_to = act.reported.expires;
  return allow(next);
}

Ruling rule_lost(const Case& the) {
  if (!the.token_is_current() || the.may_have_run_out()) return allow(the.state);
  return forbid("reported lost although its token was current and its lease running");
}

Ruling rule_ended(const Case& the) {
  auto ruling = rule_lost(the);
  if (ruling.next && the.token_is_current()) ruling.next->phase = Phase::waiting;
  return ruling;
}

Ruling rule_verdict(const Case& the, Phase then) {
  const auto& [state, act, moment, around] = the;
  if (the.token_is_current()) {
    auto next = state;
    next.phase = then;
    the.note_if_unseen(next);
    return allow(next);
  }
  if (act.reported.replayed && the.said_before()) return allow(state);
  return forbid(fmt::format("accepted with token {}, which was not current", act.asked.token));
}

}  // namespace leasehold::history

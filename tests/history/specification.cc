#include "history/specification.h"

#include "history/lease_rules.h"

namespace leasehold::history {
namespace {

State freed(State state) {
  state.phase = Phase::waiting;
  return state;
}

/// A release by the holder. A second one is fine.
Ruling rule_release(const Case& the) {
  const bool released_before =
      the.state.phase == Phase::waiting && the.state.token_reported && the.act.asked.token == the.state.token;
  if (the.token_is_current() || released_before) return allow(freed(the.state));
  return forbid(fmt::format("released with token {}, which was not current", the.act.asked.token));
}

/// Whether it is held, as seen after the run.
Ruling rule_seen(const Case& the) {
  const auto& [state, act, moment, around] = the;
  const bool token_fits = state.token_reported ? act.reported.token == state.token : act.reported.token > state.token;
  if (!token_fits)
    return forbid(fmt::format("token {} is there, but {} was granted last", act.reported.token, state.token));
  const bool seen_held = act.reported.state != "free";
  if (seen_held && state.phase != Phase::held) return forbid("it is held, but was never granted");
  if (!seen_held && !the.may_have_run_out()) return forbid("it is free, but was held by " + the.held_by());
  return allow(state);
}

/// A write of the user's own under the fence: a current token, and the number after the last.
Ruling rule_write(const Case& the) {
  const auto& [state, act, moment, around] = the;
  if (act.answer == Answer::refused) return rule_ended(the);
  if (!the.token_is_current()) {
    return forbid(fmt::format("the fence let token {} pass, which was not current", act.asked.token));
  }
  auto next = state;
  ++next.writes;
  if (act.answer == Answer::ok && act.reported.n != next.writes) {
    return forbid(fmt::format("it was write {}, but had to be write {}: another holder wrote, or a write got lost",
                              act.reported.n, next.writes));
  }
  return allow(next);
}

/// Locks, and sessions, which are the same here: acquire or open, heartbeat, release or close.
Ruling rule_lock(const Case& the) {
  const auto& verb = the.act.verb;
  const bool refused = the.act.answer == Answer::refused;
  if (the.act.word == "not_found") {
    return the.state.phase == Phase::absent ? allow(the.state) : forbid("reported not_found although it was granted");
  }
  if (the.act.grants()) return refused ? rule_held(the) : rule_grant(the);
  if (verb == "heartbeat") return refused ? rule_lost(the) : rule_heartbeat(the);
  if (verb == "write") return rule_write(the);
  if (verb == "read") return rule_seen(the);
  return refused ? rule_ended(the) : rule_release(the);
}

Ruling rule_take(const Case& the) {
  const auto& [state, act, moment, around] = the;
  const bool has_it = state.phase == Phase::held && state.session == act.asked.session;
  if (has_it && act.answer == Answer::may_have) return allow(state);
  if (has_it && act.reported.replayed) {
    const bool same = state.token_reported ? act.reported.token == state.token : act.reported.token > state.token;
    if (!same)
      return forbid(fmt::format("taken again with token {}, but it had token {}", act.reported.token, state.token));
    auto next = state;
    next.token = act.reported.token;
    next.token_reported = true;
    return allow(next);
  }
  // Not by the moment that the answer tells: that is read after the session was judged, a little later.
  if (act.answer == Answer::ok && around.earliest(act.start) >= act.reported.expires) {
    return forbid("given to a session whose time had run out");
  }
  return rule_grant(the);
}

/// A claim is remembered after others had the item: giving up what was given up, or ended with its session, is fine.
Ruling rule_item_release(const Case& the) {
  const auto& [state, act, moment, around] = the;
  const bool over = the.said_before() || around.session_may_be_closed(act.asked.session, moment.by);
  if (!the.token_is_current() && over) return allow(state);
  auto ruling = rule_release(the);
  if (ruling.next) the.note_if_unseen(*ruling.next);
  return ruling;
}

Ruling rule_item(const Case& the) {
  const bool refused = the.act.answer == Answer::refused;
  if (the.act.word == "not_found") {
    return the.state.token == 0 ? allow(the.state) : forbid("reported not_found although it was taken");
  }
  if (the.act.verb == "take") return refused ? rule_held(the) : rule_take(the);
  if (the.act.verb == "read") return rule_seen(the);
  return refused ? rule_ended(the) : rule_item_release(the);
}

/// Claims without an answer may have taken the job; each counts as an attempt.
Ruling rule_job_claim(const Case& the) {
  const auto& [state, act, moment, around] = the;
  if (state.phase == Phase::absent) return forbid("claimed before it was enqueued");
  const auto unseen = act.reported.attempt - state.attempts - 1;
  if (unseen < 0) {
    return forbid(
        fmt::format("granted as attempt {}, but attempt {} was granted before", act.reported.attempt, state.attempts));
  }
  if (unseen > around.lost_claims(moment.by)) {
    return forbid(fmt::format("granted as attempt {} after attempt {}, and those between were not granted",
                              act.reported.attempt, state.attempts));
  }
  auto ruling = rule_grant(the);
  if (ruling.next) ruling.next->attempts = act.reported.attempt;
  return ruling;
}

/// The state of work after the run: finished or not.
Ruling rule_work_seen(const Case& the) {
  const auto& [state, act, moment, around] = the;
  const bool seen_finished = act.reported.state == "completed";
  if (seen_finished && state.phase != Phase::finished) return forbid("it is completed, but no process completed it");
  if (!seen_finished && state.phase == Phase::finished) {
    return forbid(fmt::format("it was completed, but is {}: an acknowledged complete got lost", act.reported.state));
  }
  if (act.feature == "chunk" && act.reported.cursor != state.cursor) {
    return forbid(fmt::format("its cursor is \"{}\", but \"{}\" was saved", act.reported.cursor, state.cursor));
  }
  return allow(state);
}

/// The verdicts that jobs and chunks have in common.
Ruling rule_work(const Case& the) {
  const auto& [state, act, moment, around] = the;
  const bool refused = act.answer == Answer::refused;
  if (act.verb == "read") return rule_work_seen(the);
  if (act.verb == "heartbeat" || act.verb == "save") return refused ? rule_lost(the) : rule_heartbeat(the);
  if (refused) return rule_ended(the);
  return rule_verdict(the, act.verb == "complete" ? Phase::finished : Phase::waiting);
}

Ruling rule_job(const Case& the) {
  const auto& [state, act, moment, around] = the;
  if (act.verb == "enqueue") {
    return state.phase == Phase::absent ? allow(freed(state)) : forbid("enqueued although it was there");
  }
  if (act.word == "not_found") {
    return state.phase == Phase::absent ? allow(state) : forbid("reported not_found: an acknowledged enqueue got lost");
  }
  return act.verb == "claim" ? rule_job_claim(the) : rule_work(the);
}

Ruling rule_chunk_claim(const Case& the) {
  const auto& [state, act, moment, around] = the;
  if (act.word == "terminal") {
    return state.phase == Phase::finished ? allow(state) : forbid("reported terminal although no process completed it");
  }
  if (act.answer == Answer::refused) return rule_held(the);
  if (act.answer == Answer::ok && act.reported.cursor != state.cursor) {
    return forbid(fmt::format("granted with cursor \"{}\", but \"{}\" was saved", act.reported.cursor, state.cursor));
  }
  return rule_grant(the);
}

Ruling rule_chunk(const Case& the) {
  const auto& [state, act, moment, around] = the;
  if (act.word == "not_found") return forbid("reported not_found although it was planned");
  if (act.verb == "claim") return rule_chunk_claim(the);
  auto ruling = rule_work(the);
  if (ruling.next && act.verb == "save" && act.answer != Answer::refused) ruling.next->cursor = act.asked.cursor;
  return ruling;
}

}  // namespace

Ruling rule(const State& state, const Act& act, const Moment& moment, const Surroundings& around) {
  const Case the{.state = state, .act = act, .moment = moment, .around = around};
  if (act.feature == "job") return rule_job(the);
  if (act.feature == "item") return rule_item(the);
  if (act.feature == "chunk") return rule_chunk(the);
  return rule_lock(the);
}

}  // namespace leasehold::history

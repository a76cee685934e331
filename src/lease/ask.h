// Asking again, where asking again is right.
#pragma once

#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"
#include "leasehold/time.h"
#include "model/bounds.h"
#include "storage/query.h"

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

/// What to do when an answer got lost on its way (`in_doubt`). Only acts that may be repeated, those with a request id
/// or a token, are asked again.
enum class IfLost { ask_again, give_up };

/// `ask` until it succeeds, gives an answer that stays, or the deadline nears. Nothing has happened to whoever is told
/// `busy`: that is always asked again, five times from 50 ms, doubling.
template <typename Ask>
auto ask_with(IfLost if_lost, BootTime deadline, Ask&& ask) -> decltype(ask()) {
  auto pause = Duration(std::chrono::milliseconds(50));
  bool doubted = false;
  for (int tries = 1;; ++tries) {
    auto answer = ask();
    if (answer) return answer;
    const auto code = answer.error().code;
    doubted = doubted || code == Errc::in_doubt;
    const bool repeat_lost = code == Errc::in_doubt && if_lost == IfLost::ask_again;
    const bool again = repeat_lost || (code == Errc::busy && tries < 5);
    if (!again || BootClock::now() + pause >= deadline) return told_of_all(std::move(answer).error(), doubted);
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
}

template <typename Ask>
auto ask_again(BootTime deadline, Ask&& ask) -> decltype(ask()) {
  return ask_with(IfLost::ask_again, deadline, ask);
}

template <typename Ask>
auto ask_until_free(BootTime deadline, Ask&& ask) -> decltype(ask()) {
  return ask_with(IfLost::give_up, deadline, ask);
}

// What the heartbeats of a job, of a chunk and of a whole lease have in common.

/// Nothing for zero: the lease keeps its own.
inline Result<std::optional<Duration>> new_ttl(Duration ttl) {
  if (ttl == Duration(0)) return std::optional<Duration>();
  if (auto checked = check_ttl(ttl); !checked) return std::move(checked).error();
  return std::optional<Duration>(ttl);
}

/// Fills in ttl, end and trust for the outcome `extended` of a statement that tells the lease's ttl and end.
template <typename Heartbeat, typename Row>
void note_extension(Heartbeat& heartbeat, const Row& answer, BootTime before_sending) {
  heartbeat.ttl = answer.ttl.value_or(Duration{});
  heartbeat.expires_at = answer.expires_at.value_or(Timestamp{});
  heartbeat.trusted_until = trusted_until(before_sending, heartbeat.ttl, heartbeat.expires_at - answer.store_now);
}

// Puts a holder into a statement that takes one.

/// S is one of the generated structs that open a lease: LockAcquire, LockWait, JobClaim, LeaseOpen.
template <typename S>
S with_holder(S statement, const Holder& holder) {
  statement.holder = holder.name;
  statement.host = holder.host;
  statement.boot_id = holder.boot_id;
  statement.pid = holder.pid;
  statement.process_start = holder.process_start;
  statement.tty = holder.tty;
  statement.instance = holder.instance;
  return statement;
}

// What is left of something large that was removed: it is gone at once, and its rows follow in steps.

/// Until nothing is left, also of what somebody else has not finished removing. What was removed is gone already:
/// whatever goes wrong here, the next removal or prune sweeps the rest.
template <typename Statement>
void sweep(storage::Backend& backend, Duration call_timeout) {
  for (;;) {
    const auto step =
        storage::query_one(backend, Statement{.batch = defaults::sweep_batch}, BootClock::now() + call_timeout);
    if (!step || step->removed == 0) return;
  }
}

}  // namespace leasehold::lease

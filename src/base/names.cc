// The spelling of every enumeration: one word, the same in C++, SQL, JSON and on the command line.
#include "base/names.h"

#include <array>

#include "leasehold/chunk.h"
#include "leasehold/claim.h"
#include "leasehold/lease.h"
#include "leasehold/queue.h"
#include "leasehold/result.h"
#include "leasehold/schedule.h"
#include "leasehold/session.h"

namespace leasehold {
namespace {

template <typename State, std::size_t count>
std::optional<State> spelled(std::string_view text, const std::array<State, count>& states) {
  for (const auto state : states) {
    if (text == to_string(state)) return state;
  }
  return std::nullopt;
}

}  // namespace

const char* to_string(LostReason why) noexcept {
  switch (why) {
    case LostReason::expired: return "expired";
    case LostReason::superseded: return "superseded";
    case LostReason::revoked: return "revoked";
    case LostReason::finished: return "finished";
  }
  return "unknown";
}

LostReason lost_reason_from(std::string_view text) noexcept {
  for (const auto reason : {LostReason::expired, LostReason::revoked, LostReason::finished}) {
    if (text == to_string(reason)) return reason;
  }
  return LostReason::superseded;
}

const char* to_string(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::free: return "free";
    case LeaseState::running: return "running";
    case LeaseState::expired: return "expired";
  }
  return "unknown";
}

const char* to_string(JobState state) noexcept {
  switch (state) {
    case JobState::available: return "available";
    case JobState::deferred: return "deferred";
    case JobState::blocked: return "blocked";
    case JobState::running: return "running";
    case JobState::expired: return "expired";
    case JobState::completed: return "completed";
    case JobState::failed: return "failed";
    case JobState::cancelled: return "cancelled";
  }
  return "unknown";
}

std::optional<JobState> job_state_from(std::string_view text) noexcept {
  constexpr std::array states = {JobState::available, JobState::deferred,  JobState::blocked, JobState::running,
                                 JobState::expired,   JobState::completed, JobState::failed,  JobState::cancelled};
  return spelled(text, states);
}

const char* to_string(ChunkState state) noexcept {
  switch (state) {
    case ChunkState::available: return "available";
    case ChunkState::deferred: return "deferred";
    case ChunkState::running: return "running";
    case ChunkState::expired: return "expired";
    case ChunkState::completed: return "completed";
    case ChunkState::skipped: return "skipped";
    case ChunkState::exhausted: return "exhausted";
  }
  return "unknown";
}

std::optional<ChunkState> chunk_state_from(std::string_view text) noexcept {
  constexpr std::array states = {ChunkState::available, ChunkState::deferred, ChunkState::running,  ChunkState::expired,
                                 ChunkState::completed, ChunkState::skipped,  ChunkState::exhausted};
  return spelled(text, states);
}

const char* to_string(ChunkSetState state) noexcept {
  switch (state) {
    case ChunkSetState::planned: return "planned";
    case ChunkSetState::running: return "running";
    case ChunkSetState::complete: return "complete";
    case ChunkSetState::partial: return "partial";
  }
  return "unknown";
}

std::optional<ChunkSetState> chunk_set_state_from(std::string_view text) noexcept {
  constexpr std::array states = {ChunkSetState::planned, ChunkSetState::running, ChunkSetState::complete,
                                 ChunkSetState::partial};
  return spelled(text, states);
}

const char* to_string(ChunkReset::Which which) noexcept {
  switch (which) {
    case ChunkReset::Which::failed: return "failed";
    case ChunkReset::Which::older: return "older";
    case ChunkReset::Which::keys: return "keys";
    case ChunkReset::Which::all: return "all";
  }
  return "unknown";
}

const char* to_string(SessionStatus status) noexcept {
  switch (status) {
    case SessionStatus::active: return "active";
    case SessionStatus::idle: return "idle";
    case SessionStatus::stale: return "stale";
    case SessionStatus::released: return "released";
  }
  return "unknown";
}

std::optional<SessionStatus> session_status_from(std::string_view text) noexcept {
  constexpr std::array states = {SessionStatus::active, SessionStatus::idle, SessionStatus::stale,
                                 SessionStatus::released};
  return spelled(text, states);
}

const char* to_string(ItemState state) noexcept {
  switch (state) {
    case ItemState::open: return "open";
    case ItemState::claimed: return "claimed";
    case ItemState::stale: return "stale";
    case ItemState::done: return "done";
  }
  return "unknown";
}

std::optional<ItemState> item_state_from(std::string_view text) noexcept {
  constexpr std::array states = {ItemState::open, ItemState::claimed, ItemState::stale, ItemState::done};
  return spelled(text, states);
}

const char* to_string(Misfire policy) noexcept {
  switch (policy) {
    case Misfire::skip: return "skip";
    case Misfire::once: return "once";
    case Misfire::all: return "all";
  }
  return "unknown";
}

std::optional<Misfire> misfire_from(std::string_view text) noexcept {
  constexpr std::array policies = {Misfire::skip, Misfire::once, Misfire::all};
  return spelled(text, policies);
}

const char* to_string(ScheduleState state) noexcept {
  switch (state) {
    case ScheduleState::waiting: return "waiting";
    case ScheduleState::due: return "due";
    case ScheduleState::running: return "running";
    case ScheduleState::expired: return "expired";
    case ScheduleState::paused: return "paused";
  }
  return "unknown";
}

std::optional<ScheduleState> schedule_state_from(std::string_view text) noexcept {
  constexpr std::array states = {ScheduleState::waiting, ScheduleState::due, ScheduleState::running,
                                 ScheduleState::expired, ScheduleState::paused};
  return spelled(text, states);
}

const char* to_string(Errc code) noexcept {
  switch (code) {
    case Errc::invalid_argument: return "invalid_argument";
    case Errc::not_found: return "not_found";
    case Errc::held: return "held";
    case Errc::busy: return "busy";
    case Errc::reentry: return "reentry";
    case Errc::mismatch: return "mismatch";
    case Errc::lost: return "lost";
    case Errc::empty: return "empty";
    case Errc::at_capacity: return "at_capacity";
    case Errc::paused: return "paused";
    case Errc::not_due: return "not_due";
    case Errc::rate_limited: return "rate_limited";
    case Errc::terminal: return "terminal";
    case Errc::race: return "race";
    case Errc::blocked: return "blocked";
    case Errc::unregistered: return "unregistered";
    case Errc::unavailable: return "unavailable";
    case Errc::in_doubt: return "in_doubt";
    case Errc::schema_missing: return "schema_missing";
    case Errc::schema_newer: return "schema_newer";
    case Errc::denied: return "denied";
    case Errc::damaged: return "damaged";
    case Errc::internal: return "internal";
  }
  return "unknown";
}

}  // namespace leasehold

// Answers with something in every member.
#pragma once
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "model/json.h"

namespace leasehold::support {

inline Timestamp moment(int n) {
  return Timestamp(std::chrono::seconds(1'790'000'000 + n) + std::chrono::microseconds(n));
}

inline Holder some_holder() {
  return {
      .name = "ana \xff", .host = "box", .boot_id = "b", .pid = 7, .process_start = 8, .tty = "pts/1", .instance = "i"};
}

inline LeaseInfo some_lease() {
  LeaseInfo lease;
  lease.kind = "lock";
  lease.key = "deploy";
  lease.state = LeaseState::running;
  lease.token = {5};
  lease.holder = some_holder();
  lease.ttl = std::chrono::milliseconds(1500);
  lease.acquired_at = moment(1);
  lease.heartbeat_at = moment(2);
  lease.expires_at = moment(30);
  lease.ended_at = moment(4);
  lease.end_reason = "revoked";
  lease.end_detail = "d\"q";
  lease.waiters = 3;
  lease.store_now = moment(10);
  return lease;
}

inline LeaseInfo item_lease() {
  auto lease = some_lease();
  lease.session = "s-1";
  lease.label = "work";
  lease.progress_at = moment(3);
  lease.taken_at = moment(-300);
  return lease;
}

inline Grant some_grant() {
  return {.key = "deploy",
          .token = {5},
          .holder = some_holder(),
          .ttl = std::chrono::seconds(30),
          .acquired_at = moment(1),
          .expires_at = moment(2),
          .trusted_until = {},
          .replayed = true,
          .lease_id = 9};
}

inline LockInfo some_lock() {
  LockInfo lock;
  static_cast<LeaseInfo&>(lock) = some_lease();
  lock.holders = 2;
  lock.permits = 3;
  lock.capacity = 4;
  lock.free_at = moment(5);
  lock.delayed = true;
  lock.together = {"a", "b"};
  return lock;
}

inline LockHolder some_lock_holder() {
  LockHolder holder;
  static_cast<LeaseInfo&>(holder) = some_lease();
  holder.permits = 1;
  holder.capacity = 2;
  holder.free_at = moment(6);
  return holder;
}

inline JobInfo some_job() {
  return {.id = 1,
          .queue = "q",
          .state = JobState::running,
          .priority = 2,
          .attempts = 3,
          .failures = 4,
          .crashes = 5,
          .max_failures = 6,
          .max_crashes = 7,
          .created_at = moment(1),
          .due_at = moment(2),
          .finished_at = moment(3),
          .token = {8},
          .holder = some_holder(),
          .heartbeat_at = moment(4),
          .held_until = moment(5),
          .percent = 50,
          .message = "m",
          .stage = "s",
          .cancel_requested = true,
          .dedupe_key = "d",
          .group = "l",
          .tags = {"a", "b"},
          .waits_for = {11, 12},
          .depends_on = {{11, JobState::failed}, {12, JobState::completed}},
          .if_failed = IfFailed::run,
          .schedule = "nightly",
          .occurrence = moment(6),
          .error = "e",
          .store_now = moment(7)};
}

inline Chunk some_chunk() {
  return {.set = "orders",
          .key = "2024",
          .token = {4},
          .position = 5,
          .spec = "{\"a\":\n1e999}",
          .hash = "h",
          .cursor = "[1,2]",
          .rows = 6,
          .attempt = 2,
          .previous_holder = some_holder(),
          .synced_at = moment(1)};
}

inline ChunkInfo some_chunk_info() {
  return {.set = "orders",
          .key = "2024",
          .position = 1,
          .state = ChunkState::running,
          .planner = "1",
          .hash = "h",
          .token = {2},
          .attempts = 3,
          .failures = 4,
          .crashes = 5,
          .due_at = moment(1),
          .started_at = moment(2),
          .finished_at = moment(3),
          .synced_at = moment(4),
          .saved_at = moment(5),
          .rows = 6,
          .holder = some_holder(),
          .heartbeat_at = moment(6),
          .expires_at = moment(7),
          .spec = "1",
          .cursor = "not json",
          .error = "e",
          .note = "n",
          .store_now = moment(8)};
}

inline ChunkSetInfo some_set() {
  ChunkSetInfo set{.name = "orders",
                   .state = ChunkSetState::partial,
                   .planner = "1",
                   .planned_at = moment(1),
                   .total = 9,
                   .available = 1,
                   .deferred = 2,
                   .running = 3,
                   .expired = 4,
                   .completed = 5,
                   .skipped = 6,
                   .exhausted = 7,
                   .rows = 8,
                   .attempts = 9,
                   .started_at = moment(2),
                   .finished_at = moment(3),
                   .oldest_sync = moment(4),
                   .job_id = 5,
                   .max_failures = 6,
                   .max_crashes = 7};
  set.backoff_base = std::chrono::seconds(2);
  set.backoff_max = std::chrono::seconds(3);
  set.default_ttl = std::chrono::milliseconds(250);
  set.store_now = moment(9);
  return set;
}

inline QueueInfo some_queue() {
  return {.name = "q",
          .paused = true,
          .pause_reason = "r",
          .max_running = 1,
          .max_per_group = 2,
          .rate_count = 3,
          .rate_period = std::chrono::seconds(4),
          .default_ttl = std::chrono::seconds(5),
          .available = 6,
          .deferred = 7,
          .blocked = 8,
          .running = 9,
          .expired = 10,
          .failed = 11,
          .oldest_at = moment(1),
          .next_due_at = moment(2),
          .completed_last_minute = 12,
          .failed_last_minute = 13,
          .store_now = moment(3)};
}

inline RunInfo some_run() {
  return {.name = "refresh",
          .occurrence = moment(1),
          .cause = "retry",
          .outcome = RunOutcome::completed,
          .token = {3},
          .holder = some_holder(),
          .started_at = moment(2),
          .finished_at = moment(4),
          .error = "e",
          .counts = "{\"n\":1}",
          .reason = "misfire",
          .through = moment(5),
          .missed = 6,
          .job_id = 7,
          .wall_now = moment(8)};
}

inline ScheduleInfo some_schedule() {
  ScheduleInfo info;
  info.name = "refresh";
  info.state = ScheduleState::paused;
  info.options.on_fail = Between{std::chrono::seconds(1), std::chrono::seconds(2)};
  info.options.queue = "q";
  info.options.payload = "p\xfe";
  info.options.command = {"echo", "hi"};
  info.next_run_at = moment(100);
  info.next_cause = "scheduled";
  info.next_occurrence = moment(99);
  info.paused_at = moment(3);
  info.pause_reason = "r";
  info.held_by = some_lease();
  info.last = some_run();
  info.created_at = moment(1);
  info.wall_now = moment(50);
  return info;
}

inline SessionInfo some_session() {
  return {.id = "s-1",
          .state = SessionState::idle,
          .token = {2},
          .holder = some_holder(),
          .label = "l",
          .codebase = "c",
          .track = "t",
          .metadata = "{\"a\":1}",
          .exclusive = true,
          .ttl = std::chrono::seconds(300),
          .opened_at = moment(1),
          .heartbeat_at = moment(2),
          .progress_at = moment(3),
          .progress = "p",
          .expires_at = moment(302),
          .parked_until = moment(400),
          .ends_by = moment(500),
          .ended_at = moment(600),
          .end_reason = "released",
          .end_detail = "d",
          .claims = 2,
          .item = "SD-1",
          .item_taken_at = moment(-900),
          .store_now = moment(240)};
}

inline ItemInfo some_item() {
  return {.key = "SD-1",
          .title = "t",
          .parent = "SD",
          .metadata = "[]",
          .conflicts = {"SD-2"},
          .state = ItemState::claimed,
          .session = "s-1",
          .token = {3},
          .created_at = moment(1),
          .done_at = moment(2),
          .done_by = "ana",
          .held_by = item_lease(),
          .store_now = moment(3)};
}

inline Error some_error() {
  Error error{
      .code = Errc::held, .message = "held by ana", .lost_reason = LostReason::revoked, .held_by = some_lease()};
  error.retry_at = moment(1);
  error.retry_in = std::chrono::milliseconds(1250);
  return error;
}

}  // namespace leasehold::support

// leasehold in your own transaction on your own SQLite connection. Opt-in: needs sqlite3.h.
//
//   execute(db, "BEGIN IMMEDIATE");                                       // sqlite3_exec, as you like to call it
//   auto current = leasehold::fence(db, "deploy", token);
//   if (!current) return roll_back(db, current.error());                  // lost: somebody may have taken over
//   execute(db, "UPDATE site SET release = 42");
//   auto job = leasehold::enqueue(db, "announce", {.payload = "42"});     // with the release, or not at all
//   if (!job) return roll_back(db, job.error());
//   execute(db, "COMMIT");
//
// The fence without this library, inside a write transaction: the row count of
//   SELECT 1 FROM leasehold_lock k JOIN leasehold_lease l ON l.id = k.lease_id
//    WHERE k.name = ? AND k.token = ? AND l.ended_at IS NULL
// for a share of a lock
//   SELECT 1 FROM leasehold_lock_share s JOIN leasehold_lease l ON l.id = s.lease_id
//    WHERE s.name = ? AND s.token = ? AND l.ended_at IS NULL
// for a chunk
//   SELECT 1 FROM leasehold_chunk_set s JOIN leasehold_chunk c ON c.set_id = s.id
//     JOIN leasehold_lease l ON l.id = c.lease_id
//    WHERE s.name = ? AND c.key = ? AND c.token = ? AND l.ended_at IS NULL
// and for a claimed item
//   SELECT 1 FROM leasehold_claim c JOIN leasehold_lease l ON l.id = c.lease_id
//    WHERE c.item = ? AND c.token = ? AND c.ended_at IS NULL AND l.ended_at IS NULL
#pragma once

#include <sqlite3.h>

#include <string_view>

#include "leasehold/chunk.h"
#include "leasehold/export.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

/// Fine: `token` is the lock's current one, or that of a share of it, and nobody can take it over before your
/// transaction ends. `lost`: somebody may have taken over; roll back. `invalid_argument`: you are not in a write
/// transaction (BEGIN IMMEDIATE), so nothing could be promised. The file must be the store's own;
/// `schema` names it if it was ATTACHed.
LEASEHOLD_EXPORT Result<void> fence(sqlite3* connection, std::string_view name, Token token,
                                    std::string_view schema = "main");

/// Puts a job into a queue as a part of your write transaction: it can be claimed once that has committed. For a
/// connection whose main database is the store. Leaves temporary tables and a table-valued function (`bound_list`)
/// behind on it, which no other connection sees. After an error, roll back.
LEASEHOLD_EXPORT Result<Enqueued> enqueue(sqlite3* connection, std::string_view queue, const NewJob& job);

/// Completes a job as a part of your write transaction: what the job has written and its completion become true
/// together. `lost`: somebody has taken the job over; roll back.
LEASEHOLD_EXPORT Result<JobSettled> complete(sqlite3* connection, JobId id, Token token, std::string_view result = {});

/// Saves how far a chunk is as a part of your write transaction: the rows it has loaded and the cursor behind them
/// become true together, so that not one row is loaded twice. Committed, it is a heartbeat, too. `lost`: nothing was
/// saved; roll back and stop. For a connection whose main database is the store.
LEASEHOLD_EXPORT Result<void> save_chunk(sqlite3* connection, std::string_view set, std::string_view key, Token token,
                                         const ChunkSave& save);

/// The same for the last rows: the chunk is completed with them, or not at all.
LEASEHOLD_EXPORT Result<ChunkSettled> complete_chunk(sqlite3* connection, std::string_view set, std::string_view key,
                                                     Token token, const ChunkSave& save = {});

/// What fence() is for a lock.
LEASEHOLD_EXPORT Result<void> fence_chunk(sqlite3* connection, std::string_view set, std::string_view key, Token token,
                                          std::string_view schema = "main");

/// The same for a claimed item.
LEASEHOLD_EXPORT Result<void> fence_claim(sqlite3* connection, std::string_view item, Token token,
                                          std::string_view schema = "main");

/// The same for a run of a schedule.
LEASEHOLD_EXPORT Result<void> fence_schedule(sqlite3* connection, std::string_view schedule, Token token,
                                             std::string_view schema = "main");

}  // namespace leasehold

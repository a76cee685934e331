// leasehold inside your own transaction, on your own SQLite connection. Opt-in: needs sqlite3.h.
//
//   execute(db, "BEGIN IMMEDIATE");                                       // your wrapper of sqlite3_exec
//   auto current = leasehold::fence(db, "deploy", token);
//   if (!current) return roll_back(db, current.error());                  // lost: another process may have taken over
//   execute(db, "UPDATE site SET release = 42");
//   auto job = leasehold::enqueue(db, "announce", {.payload = "42"});     // with the release, or not at all
//   if (!job) return roll_back(db, job.error());
//   execute(db, "COMMIT");
//
// The fence without this library: inside a write transaction, the query for a lock must return a row:
//   SELECT 1 FROM leasehold_lock k JOIN leasehold_lease l ON l.id = k.lease_id
//    WHERE k.name = ? AND k.token = ? AND l.ended_at IS NULL
// for a share of a lock:
//   SELECT 1 FROM leasehold_lock_share s JOIN leasehold_lease l ON l.id = s.lease_id
//    WHERE s.name = ? AND s.token = ? AND l.ended_at IS NULL
// for a chunk:
//   SELECT 1 FROM leasehold_chunk_set s JOIN leasehold_chunk c ON c.set_id = s.id
//     JOIN leasehold_lease l ON l.id = c.lease_id
//    WHERE s.name = ? AND c.key = ? AND c.token = ? AND l.ended_at IS NULL
// for a job:
//   SELECT 1 FROM leasehold_job_grant g JOIN leasehold_lease l ON l.id = g.lease_id
//    WHERE g.job_id = ? AND g.token = ? AND l.ended_at IS NULL
// and for a claimed item:
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

/// Success: `token` is the current token of the lock, or of a share of it, and no other process can take it over before
/// your transaction ends. `lost`: another process may have taken over; roll back. `invalid_argument`: the connection is
/// not in a write transaction (BEGIN IMMEDIATE), so the fence could not hold. The file must be the store's own;
/// `schema` names it if it was ATTACHed.
LEASEHOLD_EXPORT Result<void> fence(sqlite3* connection, std::string_view name, Token token,
                                    std::string_view schema = "main");

/// Enqueues a job in your write transaction: it can be claimed once that commits. The main database of the connection
/// must be the store. Leaves temporary tables and a table-valued function (`bound_list`) on the connection, which no
/// other connection sees. After an error, roll back.
LEASEHOLD_EXPORT Result<Enqueued> enqueue(sqlite3* connection, std::string_view queue, const NewJob& job);

/// Completes a job in your write transaction: the job's writes and its completion take effect together. `lost`: another
/// process has taken the job over; roll back.
LEASEHOLD_EXPORT Result<JobSettled> complete(sqlite3* connection, JobId id, Token token, std::string_view result = {});

/// Saves the progress of a chunk in your write transaction: the loaded rows and the cursor behind them take effect
/// together, so that no row is loaded twice. The commit is a heartbeat, too. `lost`: nothing was saved; roll back and
/// stop. The main database of the connection must be the store.
LEASEHOLD_EXPORT Result<void> save_chunk(sqlite3* connection, std::string_view set, std::string_view key, Token token,
                                         const ChunkSave& save);

/// The same for the last rows: they and the completion of the chunk take effect together, or not at all.
LEASEHOLD_EXPORT Result<ChunkSettled> complete_chunk(sqlite3* connection, std::string_view set, std::string_view key,
                                                     Token token, const ChunkSave& save = {});

/// fence() for a job: no other worker can take it over before your transaction ends.
///
///   auto current = leasehold::fence_job(connection, job.id, job.token);
///   if (!current) return roll_back(connection, current.error());
LEASEHOLD_EXPORT Result<void> fence_job(sqlite3* connection, JobId id, Token token, std::string_view schema = "main");

/// fence() for a chunk.
LEASEHOLD_EXPORT Result<void> fence_chunk(sqlite3* connection, std::string_view set, std::string_view key, Token token,
                                          std::string_view schema = "main");

/// fence() for a claimed item.
LEASEHOLD_EXPORT Result<void> fence_claim(sqlite3* connection, std::string_view item, Token token,
                                          std::string_view schema = "main");

/// fence() for a run of a schedule.
LEASEHOLD_EXPORT Result<void> fence_schedule(sqlite3* connection, std::string_view schedule, Token token,
                                             std::string_view schema = "main");

}  // namespace leasehold

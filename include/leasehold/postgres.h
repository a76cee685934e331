// leasehold inside your own transaction, on your own PostgreSQL connection. Opt-in: needs libpq-fe.h.
//
//   execute(connection, "BEGIN");                                                 // your wrapper of PQexec
//   execute(connection, "INSERT INTO orders VALUES (7)");
//   auto job = leasehold::enqueue(connection, "invoice", {.payload = "7"});       // with the order, or not at all
//   execute(connection, job ? "COMMIT" : "ROLLBACK");
//
// Other languages call SELECT leasehold.lock_fence('deploy', 1763...), leasehold.job_fence(17, 1763...),
// leasehold.job_enqueue(...), leasehold.job_settle(...), leasehold.chunk_heartbeat(...) and
// leasehold.chunk_complete(...). A server error aborts your transaction, as with any statement: roll it back.
#pragma once

#include <libpq-fe.h>

#include <string_view>

#include "leasehold/chunk.h"
#include "leasehold/export.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

/// Success: `token` is the lock's current token, and no process can take the lock over before your transaction ends.
/// `lost`: another process may have taken over; your transaction is aborted, roll it back.
/// `busy`: under REPEATABLE READ or SERIALIZABLE, the lease has changed since your snapshot; roll back and try again.
/// `invalid_argument`: the connection is not in a transaction.
LEASEHOLD_EXPORT Result<void> fence(PGconn* connection, std::string_view name, Token token,
                                    std::string_view schema = "leasehold");

/// Enqueues a job in your transaction: it can be claimed once that commits. A job with `depends_on` needs READ
/// COMMITTED (`denied` otherwise).
LEASEHOLD_EXPORT Result<Enqueued> enqueue(PGconn* connection, std::string_view queue, const NewJob& job,
                                          std::string_view schema = "leasehold");

/// Completes a job in your transaction: the job's writes and its completion take effect together. Until you commit, no
/// other process takes the job over. `lost`: another process already has; roll back.
LEASEHOLD_EXPORT Result<JobSettled> complete(PGconn* connection, JobId id, Token token, std::string_view result = {},
                                             std::string_view schema = "leasehold");

/// Saves the progress of a chunk in your transaction: the loaded rows and the cursor behind them take effect together,
/// so that no row is loaded twice. Until you commit, no other loader takes the chunk over. The commit is a heartbeat,
/// too. `lost`: nothing was saved; roll back and stop.
///
///   execute(connection, "BEGIN");
///   insert_rows(connection, page);
///   auto saved = leasehold::save_chunk(connection, "orders", chunk.key, chunk.token, {.cursor = next, .rows = rows});
///   execute(connection, saved ? "COMMIT" : "ROLLBACK");
LEASEHOLD_EXPORT Result<void> save_chunk(PGconn* connection, std::string_view set, std::string_view key, Token token,
                                         const ChunkSave& save, std::string_view schema = "leasehold");

/// The same for the last rows: they and the completion of the chunk take effect together, or not at all.
LEASEHOLD_EXPORT Result<ChunkSettled> complete_chunk(PGconn* connection, std::string_view set, std::string_view key,
                                                     Token token, const ChunkSave& save = {},
                                                     std::string_view schema = "leasehold");

/// fence() for a job: no other worker can take it over before your transaction ends.
///
///   auto current = leasehold::fence_job(connection, job.id, job.token);
///   if (!current) return roll_back(connection, current.error());
LEASEHOLD_EXPORT Result<void> fence_job(PGconn* connection, JobId id, Token token,
                                        std::string_view schema = "leasehold");

/// fence() for a chunk.
LEASEHOLD_EXPORT Result<void> fence_chunk(PGconn* connection, std::string_view set, std::string_view key, Token token,
                                          std::string_view schema = "leasehold");

/// fence() for a claimed item.
LEASEHOLD_EXPORT Result<void> fence_claim(PGconn* connection, std::string_view item, Token token,
                                          std::string_view schema = "leasehold");

/// fence() for a run of a schedule.
LEASEHOLD_EXPORT Result<void> fence_schedule(PGconn* connection, std::string_view schedule, Token token,
                                             std::string_view schema = "leasehold");

}  // namespace leasehold

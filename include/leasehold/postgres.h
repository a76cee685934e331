// leasehold in your own transaction on your own PostgreSQL connection. Opt-in: needs libpq-fe.h.
//
//   execute(connection, "BEGIN");                                                 // PQexec, as you like to call it
//   execute(connection, "INSERT INTO orders VALUES (7)");
//   auto job = leasehold::enqueue(connection, "invoice", {.payload = "7"});       // with the order, or not at all
//   execute(connection, job ? "COMMIT" : "ROLLBACK");
//
// The same as SELECT leasehold.fence('deploy', 1763...), leasehold.job_enqueue(...), leasehold.job_settle(...),
// leasehold.chunk_heartbeat(...) and leasehold.chunk_complete(...) from any language. An error of the server aborts
// your transaction, as it does with any statement: roll it back.
#pragma once

#include <libpq-fe.h>

#include <string_view>

#include "leasehold/chunk.h"
#include "leasehold/export.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

/// Fine: `token` is the lock's current one, and nobody can take it over before your transaction ends.
/// `lost`: somebody may have taken over; your transaction is aborted, roll it back.
/// `busy`: REPEATABLE READ or SERIALIZABLE, and the lease has changed since your snapshot; roll back and try again.
/// `invalid_argument`: the connection is not in a transaction.
LEASEHOLD_EXPORT Result<void> fence(PGconn* connection, std::string_view name, Token token,
                                    std::string_view schema = "leasehold");

/// Puts a job into a queue as a part of your transaction: it can be claimed once that has committed. A job with `after`
/// needs READ COMMITTED (`denied` otherwise).
LEASEHOLD_EXPORT Result<Enqueued> enqueue(PGconn* connection, std::string_view queue, const NewJob& job,
                                          std::string_view schema = "leasehold");

/// Completes a job as a part of your transaction: what the job has written and its completion become true together.
/// Until you commit, nobody takes the job over. `lost`: somebody did before; roll back.
LEASEHOLD_EXPORT Result<JobSettled> complete(PGconn* connection, JobId id, Token token, std::string_view result = {},
                                             std::string_view schema = "leasehold");

/// Saves how far a chunk is as a part of your transaction: the rows it has loaded and the cursor behind them become
/// true together, so that not one row is loaded twice. Until you commit, nobody takes the chunk over; committed, it is
/// a heartbeat, too. `lost`: nothing was saved; roll back and stop.
///
///   execute(connection, "BEGIN");
///   insert_rows(connection, page);
///   auto saved = leasehold::save_chunk(connection, "orders", chunk.key, chunk.token, {.cursor = next, .rows = rows});
///   execute(connection, saved ? "COMMIT" : "ROLLBACK");
LEASEHOLD_EXPORT Result<void> save_chunk(PGconn* connection, std::string_view set, std::string_view key, Token token,
                                         const ChunkSave& save, std::string_view schema = "leasehold");

/// The same for the last rows: the chunk is completed with them, or not at all.
LEASEHOLD_EXPORT Result<ChunkSettled> complete_chunk(PGconn* connection, std::string_view set, std::string_view key,
                                                     Token token, const ChunkSave& save = {},
                                                     std::string_view schema = "leasehold");

/// What fence() is for a lock.
LEASEHOLD_EXPORT Result<void> fence_chunk(PGconn* connection, std::string_view set, std::string_view key, Token token,
                                          std::string_view schema = "leasehold");

/// The same for a claimed item.
LEASEHOLD_EXPORT Result<void> fence_claim(PGconn* connection, std::string_view item, Token token,
                                          std::string_view schema = "leasehold");

/// The same for a run of a schedule.
LEASEHOLD_EXPORT Result<void> fence_schedule(PGconn* connection, std::string_view schedule, Token token,
                                             std::string_view schema = "leasehold");

}  // namespace leasehold

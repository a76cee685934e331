// leasehold in your own transaction on your own SQLite connection. Opt-in: needs sqlite3.h.
//
//   sqlite3_exec(db, "BEGIN IMMEDIATE", ...);
//   if (auto current = leasehold::fence(db, "deploy", token); !current) { /* roll back and stop */ }
//   sqlite3_exec(db, "UPDATE site SET release = 42", ...);
//   auto job = leasehold::enqueue(db, "announce", {.payload = "42"});     // with the release, or not at all
//   sqlite3_exec(db, "COMMIT", ...);
//
// The fence without this library, inside a write transaction: the row count of
//   SELECT 1 FROM leasehold_lock k JOIN leasehold_lease l ON l.id = k.lease_id
//    WHERE k.name = ? AND k.token = ? AND l.ended_at IS NULL
#pragma once

#include <sqlite3.h>

#include <string_view>

#include "leasehold/export.h"
#include "leasehold/lease.h"
#include "leasehold/queue.h"
#include "leasehold/result.h"

namespace leasehold {

/// Fine: `token` is the lock's current one, and nobody can take it over before your transaction ends.
/// `lost`: somebody may have taken over; roll back. `invalid_argument`: you are not in a write
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
LEASEHOLD_EXPORT Result<Settled> complete(sqlite3* connection, JobId id, Token token, std::string_view result = {});

}  // namespace leasehold

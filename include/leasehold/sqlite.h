// The fence for your own SQLite connection. Opt-in: needs sqlite3.h.
//
//   sqlite3_exec(db, "BEGIN IMMEDIATE", ...);
//   if (auto current = leasehold::fence(db, "deploy", token); !current) { /* roll back and stop */ }
//   sqlite3_exec(db, "UPDATE site SET release = 42; COMMIT", ...);
//
// Without this library, inside a write transaction: the row count of
//   SELECT 1 FROM leasehold_lock k JOIN leasehold_lease l ON l.id = k.lease_id
//    WHERE k.name = ? AND k.token = ? AND l.ended_at IS NULL
#pragma once

#include <sqlite3.h>

#include <string_view>

#include "leasehold/export.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

/// Fine: `token` is the lock's current one, and nobody can take it over before your transaction ends.
/// `lost`: somebody may have taken over; roll back. `invalid_argument`: you are not in a write
/// transaction (BEGIN IMMEDIATE), so nothing could be promised. The file must be the store's own;
/// `schema` names it if it was ATTACHed.
LEASEHOLD_EXPORT Result<void> fence(sqlite3* connection, std::string_view name, Token token,
                                    std::string_view schema = "main");

}  // namespace leasehold

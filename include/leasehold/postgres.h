// The fence for your own PostgreSQL connection. Opt-in: needs libpq-fe.h.
//
// The same as SELECT leasehold.fence('deploy', 1763...) from any language.
#pragma once

#include <libpq-fe.h>

#include <string_view>

#include "leasehold/export.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

/// Fine: `token` is the lock's current one, and nobody can take it over before your transaction ends.
/// `lost`: somebody may have taken over; your transaction is aborted, roll it back.
/// `invalid_argument`: the connection is not in a transaction.
LEASEHOLD_EXPORT Result<void> fence(PGconn* connection, std::string_view name, Token token,
                                    std::string_view schema = "leasehold");

}  // namespace leasehold

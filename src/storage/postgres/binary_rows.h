// Answers out of PostgreSQL's binary wire format.
#pragma once

#include <libpq-fe.h>

#include <span>

#include "leasehold/result.h"
#include "storage/statement.h"
#include "storage/value.h"

namespace leasehold::postgres {

/// `damaged` where the columns are not those of the statement.
Result<storage::Rows> decode_rows(const PGresult* result, std::span<const storage::Field> columns);

/// The answer to a script, in text format.
storage::Rows text_rows(const PGresult* result);

}  // namespace leasehold::postgres

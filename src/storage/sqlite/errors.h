// What SQLite's result codes mean to a caller.
#pragma once

#include <sqlite3.h>

#include <string_view>

#include "leasehold/result.h"

namespace leasehold::sqlite {

/// The error that the connection has just reported. `doing` is for the message: "opening work.db".
Error error_of(sqlite3* connection, int code, std::string_view doing);

}  // namespace leasehold::sqlite

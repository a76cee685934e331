// Who waits for whom, pair by pair: alice does the first thing in a transaction that stays open, bob the second.
#pragma once

#include <stdexcept>
#include <string>

#include "sql/sql_fixture.h"

namespace leasehold::support {

enum class Bob { passes, waits };
enum class Expiry { never, before_alice, after_alice };

/// What comes back in the end; "LH001" for a raised fence.
inline std::string told(PgConnection& connection) {
  try {
    return connection.answer();
  } catch (const std::runtime_error& error) {
    return std::string(error.what()).find("is not current") != std::string::npos ? "LH001" : error.what();
  }
}

}  // namespace leasehold::support

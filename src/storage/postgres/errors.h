// Converts errors of PostgreSQL and libpq to leasehold's.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold::postgres {

struct ResultFree {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ResultFree>;

/// The fate of a statement without an answer.
enum class Fate {
  not_sent,     ///< the server cannot have run it
  rolled_back,  ///< the server refused it, and nothing remains of it
  unknown,      ///< it may have been committed
};

struct Failure {
  Fate fate = Fate::unknown;
  std::string sqlstate;  ///< empty if the error is not from the server
  Error error;

  /// The plan or name of a prepared statement is gone or not ours: a transaction pooler causes this, or a migration
  /// with a cached plan. Harmless: nothing was run.
  [[nodiscard]] bool lost_prepared_statement() const;
  [[nodiscard]] bool waited_too_long_for_a_lock() const { return sqlstate == "55P03"; }
};

/// Classifies an error by SQLSTATE. `where` names the server without any secret.
Error server_error(std::string_view sqlstate, std::string_view message, std::string_view hint, std::string_view where);

/// The server answered `result`, an error, and the connection survives.
Failure refused(const PGresult* result, std::string_view where);

/// The connection ended, or its deadline passed, before the answer.
Failure cut_off(Fate fate, std::string_view sqlstate, std::string_view message, std::string_view where);

/// The connection failed; reads the SQLSTATE from libpq's (verbose) message, its only source.
Failure not_connected(PGconn* conn, std::string_view where);

/// "db.example:5432/app"
std::string place_of(const PGconn* conn);

}  // namespace leasehold::postgres

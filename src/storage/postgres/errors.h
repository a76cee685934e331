// What PostgreSQL and libpq report, put into leasehold's words.
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

/// What became of a statement that has no answer.
enum class Fate {
  not_sent,     ///< the server cannot have run it
  rolled_back,  ///< the server said no, and nothing remains of it
  unknown,      ///< it may have been committed
};

struct Failure {
  Fate fate = Fate::unknown;
  std::string sqlstate;  ///< empty when it was not the server that spoke
  Error error;

  /// The plan or name of a prepared statement is gone or not ours: what a transaction pooler does to a
  /// client, and a migration to a cached plan. Harmless, for nothing was run.
  [[nodiscard]] bool lost_prepared_statement() const;
  [[nodiscard]] bool waited_too_long_for_a_lock() const { return sqlstate == "55P03"; }
};

/// The classification, by SQLSTATE. `where` names the server without any secret.
Error server_error(std::string_view sqlstate, std::string_view message, std::string_view hint, std::string_view where);

/// The server answered `result`, an error, and the connection lives on.
Failure refused(const PGresult* result, std::string_view where);

/// The connection ended, or its deadline came, before the answer.
Failure cut_off(Fate fate, std::string_view sqlstate, std::string_view message, std::string_view where);

/// No connection came about; reads the SQLSTATE out of libpq's (verbose) message, for it is nowhere else.
Failure not_connected(PGconn* conn, std::string_view where);

/// "db.example:5432/app"
std::string place_of(const PGconn* conn);

}  // namespace leasehold::postgres

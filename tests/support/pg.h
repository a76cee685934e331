// A PostgreSQL connection for tests: what psql would do, and calls that may have to wait.
//
//   PgConnection sql(url);
//   sql.run("BEGIN");
//   EXPECT_EQ(sql.scalar("SELECT 1"), "1");
//   EXPECT_EQ(sql.fail("SELECT leasehold_internal.fence('deploy', 1)").state, "LH001");
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "leasehold/time.h"

namespace leasehold::support {

using TextRow = std::vector<std::optional<std::string>>;

struct PgFailure {
  std::string state;  ///< SQLSTATE; empty: it did not fail
  std::string message;
};

class PgConnection {
 public:
  /// A URL of libpq, without leasehold's own options. Throws std::runtime_error, as do run, rows and scalar.
  explicit PgConnection(const std::string& url);

  void run(const std::string& sql);
  std::vector<TextRow> rows(const std::string& sql);
  /// The first column of the first row; "NULL" for NULL, empty for no row.
  std::string scalar(const std::string& sql);
  /// Runs what should fail.
  PgFailure fail(const std::string& sql);

  /// Sends without waiting for the answer.
  void send(const std::string& sql);
  /// True once what was sent waits for another transaction's lock; false when it was answered instead.
  bool waits(PgConnection& observer);
  /// The answer to what was sent, waiting for it.
  PgFailure outcome();
  /// The first column of the answer to what was sent.
  std::string answer();
  /// All of the answer to what was sent; none where it failed.
  std::vector<TextRow> answered(PgFailure& failure);

  /// What was said on the channels that this connection listens to and came with earlier answers; each is reported
  /// once.
  std::vector<std::string> heard();
  /// True once a NOTIFY has reached it, false when none does within some seconds. It listens already.
  bool notified();

  [[nodiscard]] int backend_pid() const { return PQbackendPID(connection_.get()); }

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using ResultHandle = std::unique_ptr<PGresult, Clear>;

  ResultHandle execute(const std::string& sql);
  ResultHandle take();

  std::unique_ptr<PGconn, Finish> connection_;
};

/// LEASEHOLD_TEST_POSTGRES, or a std::runtime_error that says how to set it.
std::string test_postgres_url();

}  // namespace leasehold::support

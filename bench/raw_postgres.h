// The baseline of PostgreSQL itself: one-row UPDATEs, each in a durable commit of its own.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>

namespace leasehold::bench {

/// A connection with prepared statements. Belongs to one thread.
class RawPostgres {
 public:
  /// Creates the table and the row `name` if they are missing.
  RawPostgres(const std::string& url, const std::string& name);

  /// Two UPDATEs, two commits.
  bool pair();
  /// One UPDATE, one commit.
  bool single();

 private:
  struct Close {
    void operator()(PGconn* connection) const { PQfinish(connection); }
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Answer = std::unique_ptr<PGresult, Close>;

  void require(const Answer& answer) const;
  void execute(const std::string& sql);
  void prepare(const char* statement, const char* sql);
  bool run(const char* statement);

  std::string name_;
  std::unique_ptr<PGconn, Close> connection_;
};

}  // namespace leasehold::bench

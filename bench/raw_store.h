// Connections to the databases themselves, for the baselines. An error ends the program.
#pragma once

#include <libpq-fe.h>
#include <sqlite3.h>

#include <initializer_list>
#include <memory>
#include <string>

namespace leasehold::bench {

/// A SQLite connection with WAL, synchronous=FULL and a fixed busy_timeout. Belongs to one thread.
class RawSqliteConnection {
 public:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  explicit RawSqliteConnection(const std::string& path);

  void execute(const std::string& sql);
  Statement prepare(const char* sql);

  /// False, here and below: the busy_timeout ran out.
  bool step(const Statement& statement);
  bool begin() { return step(begin_); }
  bool commit() { return step(commit_); }
  /// The statement in a transaction of its own.
  bool commit_alone(const Statement& statement) { return begin() && step(statement) && commit(); }

  int count_rows(const Statement& query);
  /// How many rows the latest statement has changed.
  [[nodiscard]] int changes() const { return sqlite3_changes(db_.get()); }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };

  std::unique_ptr<sqlite3, Close> db_;
  Statement begin_, commit_;
};

/// A PostgreSQL connection with prepared statements, each of which is one commit. Belongs to one thread.
class RawPostgresConnection {
 public:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Answer = std::unique_ptr<PGresult, Clear>;

  explicit RawPostgresConnection(const std::string& url);

  void execute(const std::string& sql);
  void prepare(const char* statement, const char* sql);
  Answer run(const char* statement, std::initializer_list<const char*> values = {});

  [[nodiscard]] PGconn* get() const { return connection_.get(); }

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  Answer require(PGresult* result) const;

  std::unique_ptr<PGconn, Finish> connection_;
};

}  // namespace leasehold::bench

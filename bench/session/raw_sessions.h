// The baseline of the databases themselves: a heartbeat is one UPDATE of a row among many, a claim an INSERT and an
// UPDATE, each in a durable commit of its own, with a unique index that prevents a second claim of an item. No token is
// checked, no event is written, and no refusal names the holder.
#pragma once

#include <libpq-fe.h>
#include <sqlite3.h>

#include <memory>
#include <string>

namespace leasehold::bench {

/// A connection with WAL, synchronous=FULL and a fixed busy_timeout. Belongs to one thread.
class RawSqliteSessions {
 public:
  /// Creates the tables if they are missing, with `sessions` sessions. `caller` and `callers` determine which of them
  /// are ours.
  RawSqliteSessions(const std::string& path, int sessions, int caller, int callers);

  /// False: the busy_timeout ran out.
  bool heartbeat();
  bool take_and_release();

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  void execute(const std::string& sql);
  Statement prepare(const char* sql);
  bool step(const Statement& statement);
  bool commit_alone(const Statement& statement);

  int sessions_, callers_, next_;
  std::unique_ptr<sqlite3, Close> db_;
  Statement begin_, commit_, beat_, take_, release_;
  sqlite3_int64 token_ = 0;
};

/// A connection with prepared statements. Belongs to one thread.
class RawPostgresSessions {
 public:
  RawPostgresSessions(const std::string& url, int sessions, int caller, int callers);

  bool heartbeat();
  bool take_and_release();

 private:
  struct Close {
    void operator()(PGconn* connection) const { PQfinish(connection); }
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Answer = std::unique_ptr<PGresult, Close>;

  void require(const Answer& answer) const;
  void execute(const std::string& sql);
  void prepare(const char* statement, const char* sql);
  void run(const char* statement, const std::string& number);

  int sessions_, callers_, next_;
  std::string item_;
  std::unique_ptr<PGconn, Close> connection_;
};

}  // namespace leasehold::bench

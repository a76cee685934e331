// The baseline of the databases themselves for schedules. Taking a run is an UPDATE of the schedule, if it is due and
// free, and an INSERT into the history, in one durable commit; ending it updates both in another. An early request is a
// SELECT by the primary key; finding due schedules uses an index. No refusal names the holder, no calendar is read, and
// no event is written.
#pragma once

#include <libpq-fe.h>
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

namespace leasehold::bench {

/// A connection with WAL, synchronous=FULL and a fixed busy_timeout. Belongs to one thread.
class RawSqliteSchedules {
 public:
  /// The first caller creates the tables, with `schedules` schedules: those of the callers are due.
  RawSqliteSchedules(const std::string& path, int schedules, int caller, int callers);

  /// For the caller's own schedule. False: the busy_timeout ran out.
  bool take_and_end();
  bool look();
  /// The first `max` due schedules.
  bool find_due(int max);

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  void make_tables(int schedules, int due);
  void execute(const std::string& sql);
  Statement prepare(const char* sql);
  bool step(const Statement& statement);
  int count_rows(const Statement& query);

  std::unique_ptr<sqlite3, Close> db_;
  Statement begin_, commit_, take_, note_, end_, free_, look_, find_;
};

/// A connection with prepared statements, each of which is one commit. Belongs to one thread.
class RawPostgresSchedules {
 public:
  RawPostgresSchedules(const std::string& url, int schedules, int caller, int callers);

  bool take_and_end();
  bool look();
  bool find_due(int max);

 private:
  struct Close {
    void operator()(PGconn* connection) const { PQfinish(connection); }
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Answer = std::unique_ptr<PGresult, Close>;

  void make_tables(int schedules, int due);
  void require(const Answer& answer, ExecStatusType status) const;
  void execute(const std::string& sql);
  void prepare(const char* statement, const char* sql);
  Answer run(const char* statement, const std::string& number, ExecStatusType status);

  std::string mine_;
  std::unique_ptr<PGconn, Close> connection_;
};

}  // namespace leasehold::bench

// The baseline of SQLite itself: one-row UPDATEs, each in a durable commit of its own.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>

namespace leasehold::bench {

/// A connection with WAL, synchronous=FULL and a fixed busy_timeout. Belongs to one thread.
class RawSqlite {
 public:
  /// Creates the table and the row `name` if they are missing.
  RawSqlite(const std::string& path, const std::string& name);

  /// Two UPDATEs, two commits. False: the busy_timeout ran out.
  bool pair();
  /// One UPDATE, one commit.
  bool single();

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  void execute(const std::string& sql);
  Statement prepare(const char* sql);
  bool step(const Statement& statement);
  bool commit_alone(const Statement& update);

  std::unique_ptr<sqlite3, Close> db_;
  Statement begin_, commit_, take_, give_;
};

}  // namespace leasehold::bench

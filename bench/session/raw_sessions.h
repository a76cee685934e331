// The baseline of the databases themselves: a heartbeat is one UPDATE of a row among many, a claim an INSERT and an
// UPDATE, each in a durable commit of its own, with a unique index that prevents a second claim of an item. No token is
// checked, no event is written, and no refusal names the holder.
#pragma once

#include <string>

#include "../raw_store.h"

namespace leasehold::bench {

/// Belongs to one thread.
class RawSqliteSessions {
 public:
  /// Creates the tables if they are missing, with `sessions` sessions. `caller` and `callers` determine which of them
  /// are ours.
  RawSqliteSessions(const std::string& path, int sessions, int caller, int callers);

  /// False: the busy_timeout ran out.
  bool heartbeat();
  bool take_and_release();

 private:
  int sessions_, callers_, next_;
  RawSqliteConnection db_;
  RawSqliteConnection::Statement beat_, take_, release_;
  sqlite3_int64 token_ = 0;
};

/// Belongs to one thread.
class RawPostgresSessions {
 public:
  RawPostgresSessions(const std::string& url, int sessions, int caller, int callers);

  bool heartbeat();
  bool take_and_release();

 private:
  int sessions_, callers_, next_;
  std::string item_;
  RawPostgresConnection connection_;
};

}  // namespace leasehold::bench

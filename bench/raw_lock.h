// The baseline of the databases themselves for locks: one-row UPDATEs, each in a durable commit of its own.
#pragma once

#include <string>

#include "raw_store.h"

namespace leasehold::bench {

/// Belongs to one thread.
class RawSqlite {
 public:
  /// Creates the table and the row `name` if they are missing.
  RawSqlite(const std::string& path, const std::string& name);

  /// Two UPDATEs, two commits. False: the busy_timeout ran out.
  bool pair();
  /// One UPDATE, one commit.
  bool single();

 private:
  RawSqliteConnection db_;
  RawSqliteConnection::Statement take_, give_;
};

/// Belongs to one thread.
class RawPostgres {
 public:
  /// Creates the table and the row `name` if they are missing.
  RawPostgres(const std::string& url, const std::string& name);

  /// Two UPDATEs, two commits.
  bool pair();
  /// One UPDATE, one commit.
  bool single();

 private:
  bool run(const char* statement);

  std::string name_;
  RawPostgresConnection connection_;
};

}  // namespace leasehold::bench

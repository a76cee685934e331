// The baseline of the databases themselves for schedules. Taking a run is an UPDATE of the schedule, if it is due and
// free, and an INSERT into the history, in one durable commit; ending it updates both in another. An early request is a
// SELECT by the primary key; finding due schedules uses an index. No refusal names the holder, no calendar is read, and
// no event is written.
#pragma once

#include <string>

#include "../raw_store.h"

namespace leasehold::bench {

/// Belongs to one thread.
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
  void make_tables(int schedules, int due);

  RawSqliteConnection db_;
  RawSqliteConnection::Statement take_, note_, end_, free_, look_, find_;
};

/// Belongs to one thread.
class RawPostgresSchedules {
 public:
  RawPostgresSchedules(const std::string& url, int schedules, int caller, int callers);

  bool take_and_end();
  bool look();
  bool find_due(int max);

 private:
  void make_tables(int schedules, int due);

  std::string mine_;
  RawPostgresConnection connection_;
};

}  // namespace leasehold::bench

// Wake-ups when a SQLite file changes: immediately for changes of this process, by watching the write-ahead log for
// those of other processes.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "storage/backend.h"
#include "storage/sqlite/connection.h"

namespace leasehold::sqlite {

/// Wakes the watches of this process; called after every commit.
class ChangeHub {
 public:
  void add(int event_fd);
  void remove(int event_fd);
  void announce();

 private:
  std::mutex mutex_;
  std::set<int> event_fds_;
};

/// A watch on the file at `path`; for ":memory:" it sees only changes of this process.
std::unique_ptr<storage::ChangeWatch> make_change_watch(const std::string& path, std::shared_ptr<ChangeHub> hub);

}  // namespace leasehold::sqlite

// Connections to the database of an adopted table, for the threads of one Rows.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adopt/database.h"
#include "leasehold/result.h"
#include "storage/direct.h"

namespace leasehold::row {

/// Threading: from any thread. The next call replaces a broken connection.
class Connections {
 public:
  explicit Connections(std::string url) : url_(std::move(url)) {}

  /// Runs `ask` with a connection of its own.
  template <typename Ask>
  auto with(BootTime deadline, Ask&& ask) -> decltype(ask(std::declval<storage::Direct&>())) {
    auto connection = take(deadline);
    if (!connection) return std::move(connection).error();
    auto answer = ask(**connection);
    if ((*connection)->idle()) {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(*connection));
    }
    return answer;
  }

 private:
  Result<std::unique_ptr<storage::Direct>> take(BootTime deadline) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    return adopt::open_database(url_, deadline);
  }

  const std::string url_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<storage::Direct>> idle_;
};

}  // namespace leasehold::row

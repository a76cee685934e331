// The store of a run: SQLite in memory, behind the library's own backend.
//
// It lives on where the backend does not: a reboot or a restored backup means new connections, a new reading of the
// store clock, and pages copied over.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>

#include "sim/world.h"
#include "storage/backend.h"

namespace leasehold::sim {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
/// All pages of a moment, in a database of their own.
using Backup = std::unique_ptr<sqlite3, CloseDatabase>;

class Database {
 public:
  /// A fresh store. Throws std::runtime_error where SQLite cannot do what a simulation needs.
  Database(const World& world, std::uint64_t seed);

  [[nodiscard]] storage::Backend& backend() const { return *backend_; }
  /// The backend's own connection: for the user's transactions, and for looking.
  [[nodiscard]] sqlite3* connection() const { return connection_; }

  [[nodiscard]] Backup back_up() const;
  /// No transaction may be open, and every process that used the store must be gone.
  void restart();
  void restore(const Backup& backup);

 private:
  void open();

  const World& world_;
  std::unique_ptr<storage::Backend> backend_;
  sqlite3* connection_ = nullptr;
};

}  // namespace leasehold::sim

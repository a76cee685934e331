// One SQLite connection: statements prepared once, errors as values. For one thread at a time.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/time.h"
#include "storage/statement.h"

namespace leasehold::sqlite {

struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using StatementHandle = std::unique_ptr<sqlite3_stmt, CloseStatement>;

/// The values of :now and :wall in a statement.
struct Moment {
  Timestamp now{};   ///< the store clock, which leases use
  Timestamp wall{};  ///< the wall clock, for display and calendars
};

class Connection {
 public:
  /// Opens an existing file in its current journal mode, for statements that write.
  static Result<std::unique_ptr<Connection>> open(const std::string& path, bool durable);
  /// For statements that only read: without the scratch tables and procedures of the others, which take more time to
  /// make than the rest of a short command.
  static Result<std::unique_ptr<Connection>> open_reader(const std::string& path);
  /// Borrows a connection of the program, to run named statements in its transaction. It begins and commits nothing,
  /// keeps the connection's settings, and does not close it.
  static Result<std::unique_ptr<Connection>> borrow(sqlite3* database);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Permanently for the whole file, if it is not set already.
  Result<void> switch_to_wal();

  /// Sets how long to wait for other connections; then `busy`.
  void be_patient_until(BootTime deadline) { busy_until_ = deadline; }
  Result<void> begin_immediate();
  Result<void> commit();
  /// Ignores errors: it runs after an error.
  void rollback();

  /// Prepares a named statement that has not run yet. A failure is not reported here: run() will meet it again.
  void prepare_early(const storage::Statement& statement);
  /// Runs every SQL statement of a named one, in order; returns the rows of the last.
  Result<storage::Rows> run(const storage::Statement& statement, std::span<const storage::Param> params,
                            const Moment& moment);
  /// Runs several SQL statements without parameters; returns the rows of the last one that has any, as text.
  Result<storage::Rows> run_script(std::string_view sql);

  Result<StatementHandle> prepare(std::string_view sql, std::string_view* rest = nullptr);
  /// Changes when another connection has committed.
  std::int64_t data_version();
  [[nodiscard]] bool in_transaction() const;

  sqlite3* get() { return database_; }

 private:
  struct Prepared {
    StatementHandle handle;
    std::vector<int> sources;  ///< for each parameter its index among the values, or now_source, wall_source
  };
  using Script = std::vector<Prepared>;

  Connection(sqlite3* database, bool owned) : database_(database), owned_(owned) {}
  static Result<std::unique_ptr<Connection>> open_with(const std::string& path, const std::string& script);
  Result<void> configure(const std::string& script);
  Result<const Script*> script_of(const storage::Statement& statement);
  Result<Script> prepare_script(const storage::Statement& statement);
  Result<void> bind(const Prepared& prepared, const storage::Statement& statement,
                    std::span<const storage::Param> params, const Moment& moment);
  Result<void> step_all(const Prepared& prepared, const storage::Statement& statement, storage::Rows* rows);
  static int keep_waiting(void* self, int tries);

  sqlite3* database_;
  bool owned_;
  BootTime busy_until_{};
  std::vector<Script> scripts_;  ///< by Statement::index; empty until first used
  StatementHandle begin_, commit_, rollback_, data_version_;
};

}  // namespace leasehold::sqlite

// A transaction of several statements and scripts, on a connection of its own.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "storage/backend.h"
#include "storage/postgres/pool.h"
#include "storage/postgres/texts.h"

namespace leasehold::postgres {

class PgTransaction final : public storage::Transaction {
 public:
  /// Works in the schema of `texts`.
  static Result<std::unique_ptr<storage::Transaction>> begin(PooledConnection connection,
                                                             std::shared_ptr<const Texts> texts, BootTime deadline);
  /// Creates a schema with a random name and works there; commit() is refused, so the schema never remains.
  static Result<std::unique_ptr<storage::Transaction>> begin_scratch(PooledConnection connection, BootTime deadline);

  ~PgTransaction() override;

  Result<storage::Rows> query(const storage::Statement& statement, std::span<const storage::Param> params) override;
  Result<storage::Rows> run_script(std::string_view sql) override;
  Result<void> commit() override;

 private:
  PgTransaction(PooledConnection connection, std::shared_ptr<const Texts> texts, BootTime deadline, bool scratch)
      : connection_(std::move(connection)), texts_(std::move(texts)), deadline_(deadline), scratch_(scratch) {}

  Result<void> start();
  Outcome run(const std::string& sql);

  PooledConnection connection_;
  std::shared_ptr<const Texts> texts_;
  BootTime deadline_;
  bool scratch_;
  bool open_ = false;
};

}  // namespace leasehold::postgres

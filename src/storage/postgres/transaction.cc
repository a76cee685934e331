#include "storage/postgres/transaction.h"

#include <fmt/format.h>

#include <array>
#include <random>
#include <string_view>

#include "storage/postgres/binary_rows.h"
#include "storage/postgres/pool.h"

namespace leasehold::postgres {
namespace {

/// Before COMMIT is sent nothing can have happened, however the connection ended.
Error undone(Failure failure) {
  if (failure.error.code != Errc::in_doubt) return std::move(failure.error);
  return Error{.code = Errc::unavailable, .message = failure.error.message + "; the transaction was not committed"};
}

std::string scratch_name() {
  std::random_device random;
  return fmt::format("leasehold_scratch_{:08x}{:08x}", random(), random());
}

}  // namespace

Result<std::unique_ptr<storage::Transaction>> PgTransaction::begin(PooledConnection connection,
                                                                   std::shared_ptr<const Texts> texts,
                                                                   BootTime deadline) {
  std::unique_ptr<PgTransaction> transaction(
      new PgTransaction(std::move(connection), std::move(texts), deadline, false));
  if (auto started = transaction->start(); !started) return std::move(started).error();
  return std::unique_ptr<storage::Transaction>(std::move(transaction));
}

Result<std::unique_ptr<storage::Transaction>> PgTransaction::begin_scratch(PooledConnection connection,
                                                                           BootTime deadline) {
  auto texts = std::make_shared<const Texts>(scratch_name());
  std::unique_ptr<PgTransaction> transaction(new PgTransaction(std::move(connection), texts, deadline, true));
  if (auto started = transaction->start(); !started) return std::move(started).error();
  if (auto made = transaction->run("CREATE SCHEMA " + texts->schema()); made.failure) {
    return undone(std::move(*made.failure));
  }
  return std::unique_ptr<storage::Transaction>(std::move(transaction));
}

Result<void> PgTransaction::start() {
  open_ = true;
  // Our deadline bounds it, not a setting of the role or the database.
  constexpr std::string_view sql =
      "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = {0}; SET LOCAL statement_timeout = {0}; "
      "SET LOCAL idle_in_transaction_session_timeout = {0}; SET LOCAL search_path = pg_catalog; SET LOCAL jit = off";
  auto outcome = run(fmt::format(sql, lock_wait_ms(deadline_)));
  if (outcome.failure) return undone(std::move(*outcome.failure));
  return {};
}

PgTransaction::~PgTransaction() {
  // The pool drops an interrupted connection; this spares the server from waiting for that.
  if (open_) run("ROLLBACK");
}

Outcome PgTransaction::run(const std::string& sql) { return connection_->script(sql, deadline_); }

Result<storage::Rows> PgTransaction::query(const storage::Statement& statement,
                                           std::span<const storage::Param> params) {
  const BinaryParams encoded(statement.params, params, connection_->charset());
  const std::array commands = {Command{&texts_->of(statement), &encoded}};
  auto outcome = connection_->pipeline(commands, Naming::unnamed, deadline_);
  if (outcome.failure) return undone(std::move(*outcome.failure));
  return decode_rows(outcome.results.back().get(), statement.columns);
}

Result<storage::Rows> PgTransaction::run_script(std::string_view sql) {
  auto outcome = run(texts_->localize(sql));
  if (outcome.failure) return undone(std::move(*outcome.failure));
  storage::Rows rows;
  for (const auto& result : outcome.results) {
    if (PQresultStatus(result.get()) == PGRES_TUPLES_OK) rows = text_rows(result.get());
  }
  return rows;
}

Result<void> PgTransaction::commit() {
  if (scratch_) return Error{.code = Errc::internal, .message = "postgresql: a scratch transaction never commits"};
  auto outcome = run("COMMIT");
  open_ = false;
  if (outcome.failure) return std::move(outcome.failure->error);
  // If a statement of the transaction failed, the server answers COMMIT with ROLLBACK, and reports success.
  if (std::string_view(PQcmdStatus(outcome.results.back().get())) != "COMMIT") {
    return Error{.code = Errc::internal, .message = "postgresql: commit after an error: nothing was changed"};
  }
  return {};
}

}  // namespace leasehold::postgres

// Jobs in a user's own PostgreSQL transaction.
#include "leasehold/postgres.h"
#include "queue/answer.h"
#include "queue/enqueue.h"
#include "queue/verdict.h"
#include "store/own_transaction_postgres.h"

namespace leasehold {

Result<Enqueued> enqueue(PGconn* connection, std::string_view queue, const NewJob& job, std::string_view schema) {
  if (auto checked = queue::check_enqueue(queue, std::span(&job, 1)); !checked) return std::move(checked).error();
  const queue::EnqueueStatement statement(queue, job);
  auto row = postgres::run_one(connection, statement.get(), schema);
  if (!row) return std::move(row).error();
  return queue::enqueued_from(*row);
}

Result<Settled> complete(PGconn* connection, JobId id, Token token, std::string_view result, std::string_view schema) {
  const queue::VerdictStatement statement(id, token, Verdict::Kind::complete, result);
  if (auto checked = statement.check(); !checked) return std::move(checked).error();
  auto row = postgres::run_one(connection, statement.get(), schema);
  if (!row) return std::move(row).error();
  return queue::settled_from(*row);
}

}  // namespace leasehold

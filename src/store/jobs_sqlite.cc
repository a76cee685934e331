// Jobs in a user's own SQLite transaction.
#include "leasehold/sqlite.h"
#include "queue/answer.h"
#include "queue/enqueue.h"
#include "queue/verdict.h"
#include "store/own_transaction_sqlite.h"

namespace leasehold {

Result<Enqueued> enqueue(sqlite3* connection, std::string_view queue, const NewJob& job) {
  if (auto checked = queue::check_enqueue(queue, std::span(&job, 1)); !checked) return std::move(checked).error();
  const queue::EnqueueStatement statement(queue, job);
  auto row = sqlite::run_one(connection, statement.get(), "jobs");
  if (!row) return std::move(row).error();
  return queue::enqueued_from(*row);
}

Result<Settled> complete(sqlite3* connection, JobId id, Token token, std::string_view result) {
  const queue::VerdictStatement statement(id, token, Verdict::Kind::complete, result);
  if (auto checked = statement.check(); !checked) return std::move(checked).error();
  auto row = sqlite::run_one(connection, statement.get(), "jobs");
  if (!row) return std::move(row).error();
  return queue::settled_from(*row);
}

}  // namespace leasehold

// Jobs in a user's own PostgreSQL transaction.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "core/job_limits.h"
#include "leasehold/postgres.h"
#include "queue/answer.h"
#include "queue/enqueue.h"
#include "storage/postgres/binary_params.h"
#include "storage/postgres/binary_rows.h"
#include "storage/postgres/dialect.h"
#include "storage/postgres/errors.h"
#include "storage/postgres/texts.h"
#include "storage/query.h"

namespace leasehold {
namespace {

using Identifier = std::unique_ptr<char, decltype(&PQfreemem)>;

/// Runs the statement on the user's connection, in whatever transaction that is.
template <typename S>
Result<typename S::Row> run_one(PGconn* connection, const S& statement, std::string_view schema) {
  const Identifier quoted(PQescapeIdentifier(connection, schema.data(), schema.size()), &PQfreemem);
  if (!quoted) return Error{.code = Errc::invalid_argument, .message = "the schema name is not UTF-8"};
  const auto index = static_cast<std::size_t>(S::statement().index);
  const auto sql = postgres::in_schema(postgres::dialect().statements[index], quoted.get());
  const auto values = statement.params();
  const postgres::BinaryParams params(S::statement().params, values);
  constexpr int binary = 1;
  const postgres::ResultPtr result(PQexecParams(connection, sql.c_str(), params.count(), params.types(),
                                                params.values(), params.lengths(), params.formats(), binary));
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) {
    return postgres::refused(result.get(), postgres::place_of(connection)).error;
  }
  auto rows = storage::decode_rows<S>(postgres::decode_rows(result.get(), S::statement().columns));
  if (!rows) return std::move(rows).error();
  if (rows->size() != 1) return queue::odd_answer(S::statement().name, "nothing");
  return std::move(rows->front());
}

}  // namespace

Result<Enqueued> enqueue(PGconn* connection, std::string_view queue, const NewJob& job, std::string_view schema) {
  if (auto checked = queue::check_enqueue(queue, std::span(&job, 1)); !checked) return std::move(checked).error();
  const queue::EnqueueStatement statement(queue, job);
  auto row = run_one(connection, statement.get(), schema);
  if (!row) return std::move(row).error();
  return queue::enqueued_from(*row);
}

Result<Settled> complete(PGconn* connection, JobId id, Token token, std::string_view result, std::string_view schema) {
  if (auto checked = check_result(result); !checked) return std::move(checked).error();
  sql::JobSettle statement{.job_id = id, .token = token.value, .verdict = "complete"};
  if (!result.empty()) statement.result = result;
  auto row = run_one(connection, statement, schema);
  if (!row) return std::move(row).error();
  return queue::settled_from(*row);
}

}  // namespace leasehold

// Named statements on the caller's own PostgreSQL connection, in its current transaction.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "chunk/chunks.h"
#include "job/jobs.h"
#include "lease/answer.h"
#include "leasehold/postgres.h"
#include "model/bounds.h"
#include "model/words.h"
#include "storage/postgres/backend.h"
#include "storage/postgres/binary_params.h"
#include "storage/postgres/binary_rows.h"
#include "storage/postgres/errors.h"
#include "storage/postgres/texts.h"
#include "storage/query.h"

namespace leasehold {

namespace postgres {

using Identifier = std::unique_ptr<char, decltype(&PQfreemem)>;

inline Result<Identifier> quoted_schema(PGconn* connection, std::string_view schema) {
  Identifier quoted(PQescapeIdentifier(connection, schema.data(), schema.size()), &PQfreemem);
  if (!quoted) return Error{.code = Errc::invalid_argument, .message = "the schema name is not UTF-8"};
  return quoted;
}

/// For statements that always return exactly one row.
template <typename S>
Result<typename S::Row> run_one(PGconn* connection, const S& statement, std::string_view schema) {
  const auto quoted = quoted_schema(connection, schema);
  if (!quoted) return quoted.error();
  const auto index = static_cast<std::size_t>(S::statement().index);
  const auto sql = in_schema(dialect().statements[index], quoted->get());
  const auto values = statement.params();
  const BinaryParams params(S::statement().params, values, charset_of(connection));
  constexpr int binary = 1;
  const ResultPtr result(PQexecParams(connection, sql.c_str(), params.count(), params.types(), params.values(),
                                      params.lengths(), params.formats(), binary));
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) return refused(result.get(), place_of(connection)).error;
  auto rows = storage::decode_rows<S>(decode_rows(result.get(), S::statement().columns));
  if (!rows) return std::move(rows).error();
  if (rows->size() != 1) return lease::odd_answer(S::statement().name, "nothing");
  return std::move(rows->front());
}

}  // namespace postgres

// Fences in the caller's own PostgreSQL transaction.
namespace {

Error no_transaction() {
  return {.code = Errc::invalid_argument, .message = "a fence needs an open transaction: BEGIN first"};
}

/// Calls a function that raises `lost` unless the token, its last parameter, is current.
template <std::size_t count>
Result<void> run_fence(PGconn* connection, std::string_view function, const std::array<std::string, count>& params,
                       std::string_view schema) {
  if (PQtransactionStatus(connection) != PQTRANS_INTRANS) return no_transaction();
  const auto quoted = postgres::quoted_schema(connection, fmt::format("{}_internal", schema));
  if (!quoted) return quoted.error();
  auto sql = fmt::format("SELECT {}.{}(", quoted->get(), function);
  std::array<const char*, count> values{};
  for (std::size_t i = 0; i < count; ++i) {
    sql += fmt::format("{}${}", i == 0 ? "" : ", ", i + 1);
    values[i] = params[i].c_str();
  }
  sql += ')';
  const postgres::ResultPtr result(
      PQexecParams(connection, sql.c_str(), int{count}, nullptr, values.data(), nullptr, nullptr, 0));
  if (PQresultStatus(result.get()) == PGRES_TUPLES_OK) return {};
  auto failure = postgres::refused(result.get(), postgres::place_of(connection));
  if (failure.error.code == Errc::lost) {
    const char* why = PQresultErrorField(result.get(), PG_DIAG_MESSAGE_DETAIL);
    failure.error.lost_reason = lost_reason_from(why == nullptr ? "" : why);
  }
  return std::move(failure.error);
}

}  // namespace

Result<void> fence(PGconn* connection, std::string_view name, Token token, std::string_view schema) {
  if (auto checked = check_name("lock name", name); !checked) return checked;
  const std::array params = {std::string(name), std::to_string(token.value)};
  return run_fence(connection, "fence", params, schema);
}

Result<void> fence_chunk(PGconn* connection, std::string_view set, std::string_view key, Token token,
                         std::string_view schema) {
  if (auto checked = check_chunk(set, key); !checked) return checked;
  const std::array params = {std::string(set), std::string(key), std::to_string(token.value)};
  return run_fence(connection, "chunk_fence", params, schema);
}

Result<void> fence_claim(PGconn* connection, std::string_view item, Token token, std::string_view schema) {
  if (auto checked = check_name("item key", item); !checked) return checked;
  const std::array params = {std::string(item), std::to_string(token.value)};
  return run_fence(connection, "claim_fence", params, schema);
}

Result<void> fence_job(PGconn* connection, JobId id, Token token, std::string_view schema) {
  const std::array params = {std::to_string(id), std::to_string(token.value)};
  return run_fence(connection, "job_fence", params, schema);
}

Result<void> fence_schedule(PGconn* connection, std::string_view schedule, Token token, std::string_view schema) {
  if (auto checked = check_name("schedule name", schedule); !checked) return checked;
  const std::array params = {std::string(schedule), std::to_string(token.value)};
  return run_fence(connection, "schedule_fence", params, schema);
}

// Jobs in the caller's own PostgreSQL transaction.
Result<Enqueued> enqueue(PGconn* connection, std::string_view queue, const NewJob& job, std::string_view schema) {
  if (auto checked = job::check_enqueue(queue, std::span(&job, 1)); !checked) return std::move(checked).error();
  const job::EnqueueStatement statement(queue, job);
  auto row = postgres::run_one(connection, statement.get(), schema);
  if (!row) return std::move(row).error();
  return job::enqueued_from(*row);
}

Result<JobSettled> complete(PGconn* connection, JobId id, Token token, std::string_view result,
                            std::string_view schema) {
  const Settlement settlement{id, token, Verdict::complete(std::string(result))};
  if (auto checked = check_verdict(settlement.verdict); !checked) return std::move(checked).error();
  const job::VerdictStatement statement(settlement);
  auto row = postgres::run_one(connection, statement.get(), schema);
  if (!row) return std::move(row).error();
  return job::settled_from(*row);
}

// Chunks in the caller's own PostgreSQL transaction.
Result<void> save_chunk(PGconn* connection, std::string_view set, std::string_view key, Token token,
                        const ChunkSave& save, std::string_view schema) {
  if (auto checked = chunk::check_save(set, key, save); !checked) return checked;
  auto row = postgres::run_one(connection, chunk::heartbeat_statement(set, key, token, save), schema);
  if (!row) return std::move(row).error();
  if (!row->outcome.done()) return chunk::settle_refusal(*row, set, key);
  return {};
}

Result<ChunkSettled> complete_chunk(PGconn* connection, std::string_view set, std::string_view key, Token token,
                                    const ChunkSave& save, std::string_view schema) {
  const ChunkSettlement settlement{
      .set = std::string(set),
      .key = std::string(key),
      .token = token,
      .verdict = {.kind = Verdict::Kind::complete, .cursor = save.cursor, .rows = save.rows}};
  if (auto checked = chunk::check_settlement(settlement); !checked) return std::move(checked).error();
  auto row = postgres::run_one(connection, chunk::VerdictStatement(settlement).get(), schema);
  if (!row) return std::move(row).error();
  return chunk::settled_from(*row, set, key);
}

}  // namespace leasehold

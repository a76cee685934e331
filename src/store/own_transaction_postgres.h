// Named statements on a user's own PostgreSQL connection, in whatever transaction that is.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <string_view>

#include "lease/answer.h"
#include "storage/postgres/binary_params.h"
#include "storage/postgres/binary_rows.h"
#include "storage/postgres/dialect.h"
#include "storage/postgres/errors.h"
#include "storage/postgres/texts.h"
#include "storage/query.h"

namespace leasehold::postgres {

using Identifier = std::unique_ptr<char, decltype(&PQfreemem)>;

inline Result<Identifier> quoted_schema(PGconn* connection, std::string_view schema) {
  Identifier quoted(PQescapeIdentifier(connection, schema.data(), schema.size()), &PQfreemem);
  if (!quoted) return Error{.code = Errc::invalid_argument, .message = "the schema name is not UTF-8"};
  return quoted;
}

/// For statements that always give exactly one row.
template <typename S>
Result<typename S::Row> run_one(PGconn* connection, const S& statement, std::string_view schema) {
  const auto quoted = quoted_schema(connection, schema);
  if (!quoted) return quoted.error();
  const auto index = static_cast<std::size_t>(S::statement().index);
  const auto sql = in_schema(dialect().statements[index], quoted->get());
  const auto values = statement.params();
  const BinaryParams params(S::statement().params, values);
  constexpr int binary = 1;
  const ResultPtr result(PQexecParams(connection, sql.c_str(), params.count(), params.types(), params.values(),
                                      params.lengths(), params.formats(), binary));
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) return refused(result.get(), place_of(connection)).error;
  auto rows = storage::decode_rows<S>(decode_rows(result.get(), S::statement().columns));
  if (!rows) return std::move(rows).error();
  if (rows->size() != 1) return lease::odd_answer(S::statement().name, "nothing");
  return std::move(rows->front());
}

}  // namespace leasehold::postgres

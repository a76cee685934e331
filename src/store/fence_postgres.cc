// Fences in a user's own PostgreSQL transaction.
#include <fmt/format.h>

#include <array>
#include <string>

#include "base/names.h"
#include "core/chunk_limits.h"
#include "core/limits.h"
#include "leasehold/postgres.h"
#include "storage/postgres/errors.h"
#include "store/own_transaction_postgres.h"

namespace leasehold {
namespace {

Error no_transaction() {
  return {.code = Errc::invalid_argument, .message = "a fence needs an open transaction: BEGIN first"};
}

/// Calls a function that raises `lost` unless the token, its last parameter, is current.
template <std::size_t count>
Result<void> run_fence(PGconn* connection, std::string_view function, const std::array<std::string, count>& params,
                       std::string_view schema) {
  if (PQtransactionStatus(connection) != PQTRANS_INTRANS) return no_transaction();
  const auto quoted = postgres::quoted_schema(connection, schema);
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

Result<void> fence_schedule(PGconn* connection, std::string_view schedule, Token token, std::string_view schema) {
  if (auto checked = check_name("schedule name", schedule); !checked) return checked;
  const std::array params = {std::string(schedule), std::to_string(token.value)};
  return run_fence(connection, "schedule_fence", params, schema);
}

}  // namespace leasehold

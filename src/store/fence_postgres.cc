#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/names.h"
#include "core/limits.h"
#include "leasehold/postgres.h"
#include "storage/postgres/errors.h"

namespace leasehold {
Result<void> fence(PGconn* connection, std::string_view name, Token token, std::string_view schema) {
  if (PQtransactionStatus(connection) != PQTRANS_INTRANS) {
    return Error{.code = Errc::invalid_argument, .message = "a fence needs an open transaction: BEGIN first"};
  }
  if (auto checked = check_name("lock name", name); !checked) return checked;
  const std::unique_ptr<char, decltype(&PQfreemem)> quoted_schema(
      PQescapeIdentifier(connection, schema.data(), schema.size()), &PQfreemem);
  if (!quoted_schema) return Error{.code = Errc::invalid_argument, .message = "the schema name is not UTF-8"};
  const auto sql = fmt::format("SELECT {}.fence($1, $2)", quoted_schema.get());
  const std::string name_text(name);
  const auto token_text = std::to_string(token.value);
  const char* const values[] = {name_text.c_str(), token_text.c_str()};
  const postgres::ResultPtr result(PQexecParams(connection, sql.c_str(), 2, nullptr, values, nullptr, nullptr, 0));
  if (PQresultStatus(result.get()) == PGRES_TUPLES_OK) return {};
  auto failure = postgres::refused(result.get(), postgres::place_of(connection));
  if (failure.error.code == Errc::lost) {
    const char* why = PQresultErrorField(result.get(), PG_DIAG_MESSAGE_DETAIL);
    failure.error.lost_reason = lost_reason_from(why == nullptr ? "" : why);
  }
  return std::move(failure.error);
}

}  // namespace leasehold

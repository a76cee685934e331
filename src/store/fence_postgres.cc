#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/text.h"
#include "leasehold/postgres.h"

namespace leasehold {
namespace {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};

LostReason reason_in(std::string_view message) {
  for (const auto reason : {LostReason::expired, LostReason::revoked, LostReason::finished}) {
    if (message.find(fmt::format("({})", to_string(reason))) != std::string_view::npos) return reason;
  }
  return LostReason::superseded;
}

}  // namespace

Result<void> fence(PGconn* connection, std::string_view name, Token token, std::string_view schema) {
  if (PQtransactionStatus(connection) != PQTRANS_INTRANS) {
    return Error{.code = Errc::invalid_argument, .message = "a fence needs an open transaction: BEGIN first"};
  }
  const std::unique_ptr<char, decltype(&PQfreemem)> quoted_schema(
      PQescapeIdentifier(connection, schema.data(), schema.size()), &PQfreemem);
  const auto sql = fmt::format("SELECT {}.fence($1, $2)", quoted_schema.get());
  const std::string name_text(name);
  const auto token_text = std::to_string(token.value);
  const char* const values[] = {name_text.c_str(), token_text.c_str()};
  const std::unique_ptr<PGresult, ClearResult> result(
      PQexecParams(connection, sql.c_str(), 2, nullptr, values, nullptr, nullptr, 0));
  if (PQresultStatus(result.get()) == PGRES_TUPLES_OK) return {};
  const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  const std::string message = PQresultErrorMessage(result.get());
  if (state == nullptr) return Error{.code = Errc::unavailable, .message = "fence: " + message};
  if (std::string_view(state) == "LH001") {
    return Error{
        .code = Errc::lost,
        .message = fmt::format("lock {}: token {} is not current; roll back and stop", quoted(name), token.value),
        .lost_reason = reason_in(message)};
  }
  return Error{.code = Errc::internal, .message = "fence: " + message};
}

}  // namespace leasehold

#include "storage/direct.h"

#include <utility>

#include "storage/postgres/backend.h"
#include "storage/postgres/connection.h"

namespace leasehold::postgres {
namespace {

class PgDirect final : public storage::Direct {
 public:
  explicit PgDirect(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<storage::TextRows> run(std::string_view sql, BootTime deadline) override {
    auto outcome = connection_->script(std::string(sql), deadline);
    if (outcome.failure) return std::move(outcome.failure->error);
    storage::TextRows rows;
    for (const auto& result : outcome.results) {
      if (PQresultStatus(result.get()) == PGRES_TUPLES_OK) rows = rows_of(result.get());
    }
    return rows;
  }

  Result<void> plan(std::string_view sql, BootTime deadline) override {
    auto outcome = connection_->statement("EXPLAIN " + std::string(sql), deadline);
    if (!outcome.failure) return {};
    // The server says it as if we had prepared a statement.
    const bool goes_on = outcome.failure->error.message.find("multiple commands") != std::string::npos;
    return goes_on ? storage::more_than_one_statement() : std::move(outcome.failure->error);
  }

  Result<void> begin(BootTime deadline) override {
    auto begun = run("BEGIN ISOLATION LEVEL READ COMMITTED", deadline);
    if (!begun) return std::move(begun).error();
    return {};
  }

  std::vector<std::string> take_notices() override { return connection_->take_notices(); }

  [[nodiscard]] bool is_postgres() const override { return true; }
  [[nodiscard]] bool idle() const override { return connection_->idle(); }

 private:
  static storage::TextRows rows_of(const PGresult* result) {
    storage::TextRows rows;
    for (int c = 0; c < PQnfields(result); ++c) rows.columns.emplace_back(PQfname(result, c));
    for (int r = 0; r < PQntuples(result); ++r) {
      auto& row = rows.rows.emplace_back();
      for (int c = 0; c < PQnfields(result); ++c) {
        row.push_back(PQgetisnull(result, r, c) != 0 ? std::optional<std::string>()
                                                     : std::string(PQgetvalue(result, r, c)));
      }
    }
    return rows;
  }

  std::unique_ptr<Connection> connection_;
};

}  // namespace

/// The role's own settings: the user's fragments were written for them. Only literals must be what quote_literal()
/// writes.
Result<std::unique_ptr<storage::Direct>> open_direct(const StoreUrl& url, BootTime deadline) {
  auto connection = Connection::connect(url.conninfo, deadline);
  if (!connection) return std::move(connection).error();
  auto direct = std::make_unique<PgDirect>(std::move(*connection));
  constexpr std::string_view settings =
      "RESET search_path; RESET lock_timeout; RESET default_transaction_isolation; RESET jit; "
      "SET standard_conforming_strings = on; SET client_min_messages = warning";
  if (auto set = direct->run(settings, deadline); !set) return std::move(set).error();
  return std::unique_ptr<storage::Direct>(std::move(direct));
}

}  // namespace leasehold::postgres

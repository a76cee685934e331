#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <charconv>
#include <cstring>

#include "history/ledger.h"

namespace leasehold::history {
namespace {

struct Finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

std::int64_t number(const char* text) {
  std::int64_t value = 0;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

/// A write is one request of several statements, as psql would send it, with a deadline of our own: a server that does
/// not answer must not stop the load. A request that arrives twice writes once, as that of any careful user.
class PostgresLedger : public Ledger {
 public:
  PostgresLedger(std::string conninfo, std::string schema, Duration patience)
      : conninfo_(std::move(conninfo)), schema_(std::move(schema)), patience_(patience) {}

  Result<void> create() override {
    auto made =
        ask(fmt::format("CREATE TABLE IF NOT EXISTS {0} (key text NOT NULL, token bigint NOT NULL, n bigint "
                        "NOT NULL, process int NOT NULL, act bigint NOT NULL, UNIQUE (key, process, act));"
                        "CREATE INDEX IF NOT EXISTS {1} ON {0} (key, n)",
                        table(), quoted(schema_ + "_load_ledger_key")));
    if (!made) return made.error();
    return {};
  }

  Result<std::int64_t> write(const LedgerRow& row) override {
    auto answer = ask(fmt::format(
        "BEGIN; SELECT {0}.fence('{2}', {3});"
        "INSERT INTO {1} (key, token, n, process, act) "
        "SELECT '{2}', {3}, coalesce(max(n), 0) + 1, {4}, {5} FROM {1} WHERE key = '{2}' ON CONFLICT DO NOTHING; "
        "SELECT n FROM {1} WHERE key = '{2}' AND process = {4} AND act = {5}; COMMIT",
        quoted(schema_ + "_internal"), table(), row.key, row.token, row.process, row.act));
    if (!answer) return answer.error();
    if (PQntuples(answer->get()) != 1) return Error{.code = Errc::in_doubt, .message = "no number came back"};
    return number(PQgetvalue(answer->get(), 0, 0));
  }

  Result<std::vector<LedgerRow>> rows(const std::string& prefix) override {
    auto answer = ask(fmt::format(
        "SELECT key, token, n, process, act FROM {} WHERE starts_with(key, '{}') ORDER BY key COLLATE \"C\", n",
        table(), prefix));
    if (!answer) return answer.error();
    const auto* result = answer->get();
    std::vector<LedgerRow> rows;
    for (int i = 0; i < PQntuples(result); ++i) {
      rows.push_back({.key = PQgetvalue(result, i, 0),
                      .token = number(PQgetvalue(result, i, 1)),
                      .n = number(PQgetvalue(result, i, 2)),
                      .process = static_cast<int>(number(PQgetvalue(result, i, 3))),
                      .act = number(PQgetvalue(result, i, 4))});
    }
    return rows;
  }

 private:
  [[nodiscard]] static std::string quoted(const std::string& name) { return '"' + name + '"'; }
  [[nodiscard]] std::string table() const { return quoted(schema_ + "_load_ledger"); }

  Result<Answer> ask(const std::string& sql) {
    if (auto there = connect(); !there) return there.error();
    auto answer = exchange(sql);
    if (!answer && connection_) static_cast<void>(exchange("ROLLBACK"));
    return answer;
  }

  /// Gives the last rows that came. A refusal of the server undoes everything; a broken connection leaves doubt.
  Result<Answer> exchange(const std::string& sql) {
    warned_ = false;
    if (PQsendQuery(connection_.get(), sql.c_str()) == 0) return in_doubt();
    Answer rows;
    std::optional<Error> refusal;
    const auto until = BootClock::now() + patience_;
    for (;;) {
      if (!await_answer(until)) return in_doubt();
      Answer result(PQgetResult(connection_.get()));
      if (!result) break;
      const auto status = PQresultStatus(result.get());
      if (status == PGRES_TUPLES_OK) rows = std::move(result);
      if (status == PGRES_FATAL_ERROR) refusal = refused(result.get());
    }
    if (PQstatus(connection_.get()) != CONNECTION_OK) return in_doubt();
    if (refusal) return *refusal;
    // A commit whose wait for its standby was cancelled says so with a warning only.
    if (warned_) return in_doubt();
    return rows;
  }

  bool await_answer(BootTime until) {
    while (PQisBusy(connection_.get()) != 0) {
      const auto left = (until - BootClock::now()) / std::chrono::milliseconds(1);
      pollfd socket{.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0};
      if (left <= 0 || ::poll(&socket, 1, static_cast<int>(left)) <= 0) return false;
      if (PQconsumeInput(connection_.get()) == 0) return false;
    }
    return true;
  }

  static Error refused(const PGresult* result) {
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const bool by_fence = state != nullptr && std::string_view(state) == "LH001";
    return {.code = by_fence ? Errc::lost : Errc::unavailable, .message = PQresultErrorMessage(result)};
  }

  Error in_doubt() {
    Error error{.code = Errc::in_doubt, .message = "the answer was lost"};
    connection_.reset();
    return error;
  }

  Result<void> connect() {
    if (connection_ && PQstatus(connection_.get()) == CONNECTION_OK) return {};
    const char* names[] = {"dbname", "connect_timeout", "tcp_user_timeout", nullptr};
    const char* values[] = {conninfo_.c_str(), "2", "2000", nullptr};
    connection_.reset(PQconnectdbParams(names, values, 1));
    if (PQstatus(connection_.get()) != CONNECTION_OK) {
      Error error{.code = Errc::unavailable, .message = PQerrorMessage(connection_.get())};
      connection_.reset();
      return error;
    }
    PQsetNoticeReceiver(connection_.get(), note_warning, this);
    return {};
  }

  static void note_warning(void* self, const PGresult* notice) {
    const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity != nullptr && std::string_view(severity) == "WARNING") {
      static_cast<PostgresLedger*>(self)->warned_ = true;
    }
  }

  std::string conninfo_;
  std::string schema_;
  Duration patience_;
  std::unique_ptr<PGconn, Finish> connection_;
  bool warned_ = false;
};

}  // namespace

std::unique_ptr<Ledger> postgres_ledger(const std::string& conninfo, const std::string& schema, Duration patience) {
  return std::make_unique<PostgresLedger>(conninfo, schema, patience);
}

}  // namespace leasehold::history

#include "support/pg.h"

#include <stdexcept>

#include "support/process.h"

namespace leasehold::support {
namespace {

bool succeeded(const PGresult* result) {
  const auto status = PQresultStatus(result);
  return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

PgFailure failure_of(const PGresult* result) {
  if (succeeded(result)) return {};
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return {.state = state == nullptr ? "connection" : state, .message = PQresultErrorMessage(result)};
}

std::string first_cell(const PGresult* result) {
  if (PQntuples(result) == 0) return {};
  return PQgetisnull(result, 0, 0) != 0 ? "NULL" : PQgetvalue(result, 0, 0);
}

std::vector<TextRow> rows_of(const PGresult* result) {
  std::vector<TextRow> all;
  for (int row = 0; row < PQntuples(result); ++row) {
    auto& cells = all.emplace_back();
    for (int column = 0; column < PQnfields(result); ++column) {
      const bool null = PQgetisnull(result, row, column) != 0;
      cells.push_back(null ? std::nullopt : std::optional<std::string>(PQgetvalue(result, row, column)));
    }
  }
  return all;
}

}  // namespace

PgConnection::PgConnection(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    throw std::runtime_error("cannot connect: " + std::string(PQerrorMessage(connection_.get())));
  }
  // Notices are chatter here: DROP ... CASCADE lists everything it drops.
  PQsetNoticeReceiver(
      connection_.get(), [](void*, const PGresult*) {}, nullptr);
}

PgConnection::ResultHandle PgConnection::execute(const std::string& sql) {
  ResultHandle result(PQexec(connection_.get(), sql.c_str()));
  if (!succeeded(result.get())) throw std::runtime_error(sql + ": " + failure_of(result.get()).message);
  return result;
}

void PgConnection::run(const std::string& sql) { execute(sql); }

std::vector<TextRow> PgConnection::rows(const std::string& sql) { return rows_of(execute(sql).get()); }

std::string PgConnection::scalar(const std::string& sql) { return first_cell(execute(sql).get()); }

PgFailure PgConnection::fail(const std::string& sql) {
  const ResultHandle result(PQexec(connection_.get(), sql.c_str()));
  return failure_of(result.get());
}

void PgConnection::send(const std::string& sql) {
  if (PQsendQuery(connection_.get(), sql.c_str()) != 1) throw std::runtime_error("cannot send " + sql);
}

std::vector<std::string> PgConnection::heard() {
  const auto free = [](PGnotify* notification) { PQfreemem(notification); };
  std::vector<std::string> all;
  while (const std::unique_ptr<PGnotify, decltype(free)> next{PQnotifies(connection_.get()), free}) {
    all.emplace_back(next->extra);
  }
  return all;
}

bool PgConnection::waits(PgConnection& observer) {
  const auto question = "SELECT cardinality(pg_blocking_pids(" + std::to_string(backend_pid()) + "))";
  bool blocked = false;
  eventually([&] {
    PQconsumeInput(connection_.get());
    if (PQisBusy(connection_.get()) == 0) return true;
    blocked = observer.scalar(question) != "0";
    return blocked;
  });
  return blocked;
}

bool PgConnection::notified() {
  return eventually([&] {
    PQconsumeInput(connection_.get());
    const std::unique_ptr<PGnotify, decltype(&PQfreemem)> heard(PQnotifies(connection_.get()), &PQfreemem);
    return heard != nullptr;
  });
}

PgConnection::ResultHandle PgConnection::take() {
  ResultHandle last;
  while (PGresult* next = PQgetResult(connection_.get())) last.reset(next);
  return last;
}

PgFailure PgConnection::outcome() { return failure_of(take().get()); }

std::string PgConnection::answer() {
  const auto result = take();
  if (!succeeded(result.get())) throw std::runtime_error(failure_of(result.get()).message);
  return first_cell(result.get());
}

std::vector<TextRow> PgConnection::answered(PgFailure& failure) {
  const auto result = take();
  failure = failure_of(result.get());
  return rows_of(result.get());
}

std::string test_postgres_url() {
  auto url = env("LEASEHOLD_TEST_POSTGRES");
  if (url.empty()) {
    throw std::runtime_error(
        "LEASEHOLD_TEST_POSTGRES is not set: tests need a PostgreSQL they may make schemas in, for example "
        "LEASEHOLD_TEST_POSTGRES=postgresql://postgres@127.0.0.1:5432/postgres (./test-all starts one)");
  }
  return url;
}

}  // namespace leasehold::support

// Connects to a server, and prepares the session.
#include <fmt/format.h>
#include <poll.h>

#include <cstring>
#include <string_view>

#include "storage/postgres/connection.h"

namespace leasehold::postgres {
namespace {

/// Whether libpq has misread a part of the password: one with "@" as part of the host, one with "/" as port and
/// database. Messages name these.
bool misread(const PQconninfoOption& option, bool has_user) {
  const std::string_view keyword = option.keyword;
  const std::string_view value = option.val != nullptr ? option.val : "";
  if (keyword == "host") return value.find('@') != std::string_view::npos;
  if (keyword == "port") return value.find_first_not_of("0123456789,") != std::string_view::npos;
  return keyword == "dbname" && !has_user && value.find('@') != std::string_view::npos;
}

/// Our own check comes first: libpq's message repeats parts of a URL it cannot parse, and they may be the password.
std::optional<Error> check_conninfo(const std::string& conninfo) {
  char* complaint = nullptr;
  PQconninfoOption* options = PQconninfoParse(conninfo.c_str(), &complaint);
  PQfreemem(complaint);
  bool good = options != nullptr;
  bool has_user = false;
  for (const auto* option = options; good && option->keyword; ++option) {
    has_user = has_user || (std::strcmp(option->keyword, "user") == 0 && option->val != nullptr);
  }
  for (const auto* option = options; good && option->keyword; ++option) good = !misread(*option, has_user);
  PQconninfoFree(options);
  if (good) return std::nullopt;
  return Error{.code = Errc::invalid_argument,
               .message =
                   "libpq does not understand the postgresql URL: write "
                   "postgresql://user:password@host:port/database?option=value, with special characters "
                   "in the password written as %XX"};
}

PGconn* start_connecting(const std::string& conninfo) {
  // Later keywords override the URL; fallback_application_name only fills a gap.
  const char* const keywords[] = {"dbname", "fallback_application_name", "client_encoding", nullptr};
  const char* const values[] = {conninfo.c_str(), "leasehold", "UTF8", nullptr};
  return PQconnectStartParams(keywords, values, 1);
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::connect(const std::string& conninfo, BootTime deadline) {
  if (auto error = check_conninfo(conninfo)) return std::move(*error);
  PGconn* conn = start_connecting(conninfo);
  if (!conn) return Error{.code = Errc::unavailable, .message = "postgresql: out of memory"};
  std::unique_ptr<Connection> connection(new Connection(conn));
  PQsetNoticeReceiver(conn, &Connection::note_notice, connection.get());
  PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
  if (auto failure = connection->finish_connecting(deadline)) return std::move(failure->error);
  PQsetErrorVerbosity(conn, PQERRORS_DEFAULT);
  PQsetnonblocking(conn, 1);
  connection->place_ = place_of(conn);
  if (auto failure = connection->settle_in(deadline)) return std::move(failure->error);
  return connection;
}

/// A pooler invents the process id it reports to a client. Only if it is the server's own id does the session belong to
/// us, and may have settings: the isolation level, the bound for row locks, and that the warning about an unreplicated
/// commit reaches us whatever the role has set (see note_notice). The search path keeps functions of others from being
/// called in place of PostgreSQL's. JIT is off: compiling our short queries takes longer than running them.
std::optional<Failure> Connection::settle_in(BootTime deadline) {
  constexpr std::string_view sql =
      "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT session.ours, CASE WHEN session.ours THEN "
      "pg_catalog.set_config('default_transaction_isolation', 'read committed', false) "
      "|| pg_catalog.set_config('lock_timeout', '{1}', false) "
      "|| pg_catalog.set_config('client_min_messages', 'warning', false) "
      "|| pg_catalog.set_config('search_path', 'pg_catalog', false) "
      "|| pg_catalog.set_config('jit', 'off', false) END "
      "FROM (SELECT pg_catalog.pg_backend_pid() OPERATOR(pg_catalog.=) {0}) AS session(ours); COMMIT";
  auto outcome = script(fmt::format(sql, PQbackendPID(conn_), default_lock_wait_ms), deadline);
  if (outcome.failure) {
    // No call was sent yet.
    if (outcome.failure->error.code == Errc::in_doubt) outcome.failure->error.code = Errc::unavailable;
    return std::move(outcome.failure);
  }
  owns_session_ = std::string_view(PQgetvalue(outcome.results[1].get(), 0, 0)) == "t";
  return std::nullopt;
}

std::optional<Failure> Connection::finish_connecting(BootTime deadline) {
  if (PQstatus(conn_) == CONNECTION_BAD) return not_connected(conn_, place_of(conn_));
  for (auto state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK; state = PQconnectPoll(conn_)) {
    if (state == PGRES_POLLING_FAILED) return not_connected(conn_, place_of(conn_));
    if (!wait_for_socket(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline)) {
      return cut_off(Fate::not_sent, "", "no connection before the deadline", place_of(conn_));
    }
  }
  return std::nullopt;
}

}  // namespace leasehold::postgres

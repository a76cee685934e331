#include "storage/postgres/connection.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>

namespace leasehold::postgres {

/// An exchange in progress: the expected results and the state.
struct Connection::Exchange {
  static constexpr std::size_t an_answer = std::numeric_limits<std::size_t>::max();

  BootTime deadline;
  std::vector<std::size_t> expected{};  ///< in order: the slot a Parse prepares, or an_answer
  std::size_t come = 0;
  Fate fate = Fate::not_sent;
  std::vector<ResultPtr> results{};
  std::optional<Failure> refusal{};
  std::string broken{};  ///< why no more can come
};

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

Connection::~Connection() { PQfinish(conn_); }

void Connection::note_notice(void* self, const PGresult* notice) {
  auto& connection = *static_cast<Connection*>(self);
  const char* source = PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
  if (source && std::strcmp(source, "SyncRepWaitForLSN") == 0) connection.unreplicated_ = true;
  const char* sqlstate = PQresultErrorField(notice, PG_DIAG_SQLSTATE);
  if (sqlstate && std::strncmp(sqlstate, "57P", 3) == 0) connection.ending_ = true;
}

/// Never empty; the lines after the first are libpq's guesses.
std::string Connection::complaint() const {
  const std::string_view message = PQerrorMessage(conn_);
  const auto first_line = message.substr(0, message.find('\n'));
  return first_line.empty() ? "the connection is lost" : std::string(first_line);
}

Outcome Connection::pipeline(std::span<const Command> commands, Naming naming, BootTime deadline) {
  Exchange exchange{.deadline = deadline};
  unreplicated_ = false;
  bool queued = PQenterPipelineMode(conn_) == 1;
  for (const auto& command : commands) queued = queued && queue(command, naming, exchange);
  if (!queued) {
    exchange.broken = complaint();
    return finish(exchange);
  }
  // Without the Sync nothing is committed; from here on it may be.
  if (PQpipelineSync(conn_) != 1) {
    exchange.fate = Fate::unknown;
    exchange.broken = complaint();
    return finish(exchange);
  }
  flush(exchange);
  if (exchange.broken.empty()) read_pipeline(exchange);
  return finish(exchange);
}

bool Connection::queue(const Command& command, Naming naming, Exchange& exchange) {
  const auto& text = *command.text;
  const auto& params = *command.params;
  const int binary = 1;
  if (naming == Naming::unnamed) {
    exchange.expected.push_back(Exchange::an_answer);
    return PQsendQueryParams(conn_, text.sql.c_str(), params.count(), params.types(), params.values(), params.lengths(),
                             params.formats(), binary) == 1;
  }
  if (prepared_.size() <= text.slot) prepared_.resize(text.slot + 1);
  const auto& expected = exchange.expected;
  const bool underway = std::find(expected.begin(), expected.end(), text.slot) != expected.end();
  if (!prepared_[text.slot] && !underway) {
    exchange.expected.push_back(text.slot);
    if (PQsendPrepare(conn_, text.name.c_str(), text.sql.c_str(), params.count(), params.types()) != 1) return false;
  }
  exchange.expected.push_back(Exchange::an_answer);
  return PQsendQueryPrepared(conn_, text.name.c_str(), params.count(), params.values(), params.lengths(),
                             params.formats(), binary) == 1;
}

Outcome Connection::script(const std::string& sql, BootTime deadline) {
  Exchange exchange{.deadline = deadline};
  unreplicated_ = false;
  if (PQsendQuery(conn_, sql.c_str()) != 1) {
    exchange.broken = complaint();
    return finish(exchange);
  }
  flush(exchange);
  if (exchange.broken.empty()) read_script(exchange);
  return finish(exchange);
}

void Connection::flush(Exchange& exchange) {
  for (int left = PQflush(conn_); left != 0; left = PQflush(conn_)) {
    if (left < 0) {
      exchange.fate = Fate::unknown;
      exchange.broken = complaint();
      return;
    }
    // The tail, and with it the Sync, is still unsent: the server cannot have committed.
    if (!wait_for_socket(POLLIN | POLLOUT, exchange.deadline)) {
      exchange.broken = "the server accepted nothing before the deadline";
      return;
    }
    if (PQconsumeInput(conn_) != 1) {
      exchange.broken = complaint();
      return;
    }
  }
  exchange.fate = Fate::unknown;
}

/// Null at the end of one statement's results, and if `broken` is set: no more can come.
ResultPtr Connection::next_result(Exchange& exchange) {
  while (PQisBusy(conn_) != 0) {
    if (!wait_for_socket(POLLIN, exchange.deadline)) {
      exchange.broken = "no answer before the deadline";
      return nullptr;
    }
    if (PQconsumeInput(conn_) != 1) break;
  }
  ResultPtr result(PQgetResult(conn_));
  if (PQstatus(conn_) == CONNECTION_BAD) {
    exchange.broken = complaint();
  }
  return result;
}

void Connection::read_pipeline(Exchange& exchange) {
  bool ended_before = false;
  while (exchange.broken.empty()) {
    auto result = next_result(exchange);
    if (result && PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC) break;
    if (!result && ended_before) exchange.broken = "the server answered only part of the calls";
    ended_before = !result;
    if (result) note_answer(exchange, std::move(result));
  }
}

void Connection::read_script(Exchange& exchange) {
  while (exchange.broken.empty()) {
    auto result = next_result(exchange);
    if (!result) break;
    note_answer(exchange, std::move(result));
  }
}

void Connection::note_answer(Exchange& exchange, ResultPtr result) {
  const auto status = PQresultStatus(result.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY) {
    const bool listed = exchange.come < exchange.expected.size();
    const auto slot = listed ? exchange.expected[exchange.come++] : Exchange::an_answer;
    if (slot == Exchange::an_answer) {
      exchange.results.push_back(std::move(result));
    } else {
      prepared_[slot] = true;
    }
  } else if (status == PGRES_FATAL_ERROR) {
    if (!exchange.refusal) exchange.refusal = refused(result.get(), place_);
  } else if (status != PGRES_PIPELINE_ABORTED) {
    exchange.broken = "the server wants to copy data";
  }
}

Outcome Connection::finish(Exchange& exchange) {
  drop_notifications();
  if (exchange.broken.empty() && PQexitPipelineMode(conn_) != 1) exchange.broken = complaint();
  Outcome outcome{.results = std::move(exchange.results)};
  if (!exchange.broken.empty()) {
    out_of_step_ = true;
    const std::string sqlstate = exchange.refusal ? exchange.refusal->sqlstate : "";
    const auto why = sqlstate.empty() ? exchange.broken : "the server ended the connection (" + sqlstate + ")";
    outcome.failure = cut_off(exchange.fate, sqlstate, why, place_);
  } else if (exchange.refusal) {
    outcome.failure = std::move(exchange.refusal);
  } else if (unreplicated_) {
    outcome.failure = cut_off(Fate::unknown, "", "no synchronous standby has confirmed the commit", place_);
  }
  return outcome;
}

bool Connection::idle() const {
  return !out_of_step_ && PQstatus(conn_) == CONNECTION_OK && PQtransactionStatus(conn_) == PQTRANS_IDLE;
}

bool Connection::usable() {
  if (!idle()) return false;
  pollfd readable{.fd = socket(), .events = POLLIN, .revents = 0};
  if (poll(&readable, 1, 0) == 0) return true;
  // The server is closing the connection, or reports something harmless such as a changed setting.
  if (PQconsumeInput(conn_) != 1) return false;
  drop_notifications();
  const bool more = poll(&readable, 1, 0) != 0;
  return !more && !ending_ && PQstatus(conn_) == CONNECTION_OK;
}

bool Connection::read_notifications(std::vector<std::string>& payloads) {
  if (PQconsumeInput(conn_) != 1) return false;
  while (PGnotify* notification = PQnotifies(conn_)) {
    payloads.emplace_back(notification->extra);
    PQfreemem(notification);
  }
  return PQstatus(conn_) == CONNECTION_OK && !ending_;
}

/// Behind a pooler another client's LISTEN may reach us; libpq would keep all notifications.
void Connection::drop_notifications() {
  while (PGnotify* notification = PQnotifies(conn_)) PQfreemem(notification);
}

bool Connection::wait_for_socket(short events, BootTime deadline) const {
  for (;;) {
    const auto left = deadline - BootClock::now();
    if (left <= Duration::zero()) return false;
    const auto ms = std::min(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(3'600'000));
    pollfd wanted{.fd = socket(), .events = events, .revents = 0};
    const int ready = poll(&wanted, 1, static_cast<int>(ms.count()));
    // libpq detects and reports any other socket error.
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
  }
}

}  // namespace leasehold::postgres

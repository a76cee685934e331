#include "storage/postgres/connection.h"

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

Connection::~Connection() { PQfinish(conn_); }

void Connection::note_notice(void* self, const PGresult* notice) {
  auto& connection = *static_cast<Connection*>(self);
  const char* source = PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
  if (source && std::strcmp(source, "SyncRepWaitForLSN") == 0) connection.unreplicated_ = true;
  const char* sqlstate = PQresultErrorField(notice, PG_DIAG_SQLSTATE);
  if (sqlstate && std::strncmp(sqlstate, "57P", 3) == 0) connection.ending_ = true;
  const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  const char* message = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  constexpr std::size_t most_notices = 100;
  const bool is_notice = severity && message && std::strcmp(severity, "NOTICE") == 0;
  if (is_notice && connection.notices_.size() < most_notices) connection.notices_.emplace_back(message);
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
  return read_texts(PQsendQuery(conn_, sql.c_str()) == 1, deadline);
}

Outcome Connection::statement(const std::string& sql, BootTime deadline) {
  const int sent = PQsendQueryParams(conn_, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0);
  return read_texts(sent == 1, deadline);
}

Outcome Connection::read_texts(bool sent, BootTime deadline) {
  Exchange exchange{.deadline = deadline};
  unreplicated_ = false;
  if (!sent) {
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

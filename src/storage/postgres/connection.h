// One connection to PostgreSQL: libpq without blocking, every exchange under a deadline.
//
// It never sends a cancel request: that may hit the next statement, and cancelling a wait for a synchronous standby
// turns "not replicated" into success. A deadline drops the connection instead.
//
// Threading: used by one thread at a time.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/time.h"
#include "storage/postgres/binary_params.h"
#include "storage/postgres/errors.h"
#include "storage/postgres/texts.h"

namespace leasehold::postgres {

/// One statement of a pipeline; borrows both.
struct Command {
  const Text* text;
  const BinaryParams* params;
};

enum class Naming {
  named,    ///< prepared once per connection
  unnamed,  ///< parsed each time; works behind every pooler
};

/// Either one result per command, or the failure of the whole pipeline.
struct Outcome {
  std::vector<ResultPtr> results;
  std::optional<Failure> failure;
  std::size_t prologue = 0;  ///< the number of results that belong to transaction settings; see Caller
};

class Connection {
 public:
  /// How long a statement waits for a row lock in a session of our own: short, because others may share its batch.
  static constexpr std::string_view default_lock_wait_ms = "100";

  /// `conninfo` is a libpq URL. `unavailable` is worth a retry, other errors are not.
  static Result<std::unique_ptr<Connection>> connect(const std::string& conninfo, BootTime deadline);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  [[nodiscard]] Charset charset() const { return charset_of(conn_); }

  /// All commands, then one Sync: outside a transaction block they are one transaction with one commit, and one round
  /// trip.
  Outcome pipeline(std::span<const Command> commands, Naming naming, BootTime deadline);

  /// The simple protocol: any number of statements, results in text. On a failure, the results before it.
  Outcome script(const std::string& sql, BootTime deadline);
  /// The same for one statement; the server refuses more.
  Outcome statement(const std::string& sql, BootTime deadline);

  /// No exchange is in progress. False after any exchange that did not end.
  [[nodiscard]] bool idle() const;
  /// Idle and, judging by the socket, alive; sends nothing.
  bool usable();

  /// Payloads of the received notifications. False if the connection is gone.
  bool read_notifications(std::vector<std::string>& payloads);

  /// The messages of severity NOTICE since the last call, at most a hundred.
  std::vector<std::string> take_notices() { return std::exchange(notices_, {}); }

  /// There is no pooler between us and the server process: session settings stay ours.
  [[nodiscard]] bool owns_session() const { return owns_session_; }
  [[nodiscard]] int socket() const { return PQsocket(conn_); }
  /// "db.example:5432/app", for messages.
  [[nodiscard]] const std::string& place() const { return place_; }

 private:
  struct Exchange;

  explicit Connection(PGconn* conn) : conn_(conn) {}
  std::optional<Failure> finish_connecting(BootTime deadline);
  std::optional<Failure> settle_in(BootTime deadline);
  static void note_notice(void* self, const PGresult* notice);

  bool queue(const Command& command, Naming naming, Exchange& exchange);
  Outcome read_texts(bool sent, BootTime deadline);
  void flush(Exchange& exchange);
  ResultPtr next_result(Exchange& exchange);
  void read_pipeline(Exchange& exchange);
  void read_script(Exchange& exchange);
  void note_answer(Exchange& exchange, ResultPtr result);
  Outcome finish(Exchange& exchange);
  bool wait_for_socket(short events, BootTime deadline) const;
  void drop_notifications();
  [[nodiscard]] std::string complaint() const;

  PGconn* conn_;
  std::string place_;
  std::vector<bool> prepared_;  ///< by Text::slot
  bool owns_session_ = false;
  bool out_of_step_ = false;   ///< an exchange was interrupted
  bool ending_ = false;        ///< the server announced the end of this connection
  bool unreplicated_ = false;  ///< a commit returned although no standby has confirmed it
  std::vector<std::string> notices_{};
};

}  // namespace leasehold::postgres

// A connection to a database as it is: it need not be a store, and nothing is created in it.
//
//   auto database = open_direct("postgresql://app@db/app", deadline);
//   auto rows = (*database)->run("SELECT id FROM sync_jobs WHERE status = " + quote_literal(status), deadline);
//
// For tables of the user's own (src/adopt). The caller sends BEGIN and COMMIT itself. Destruction rolls back.
//
// Threading: one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold::storage {

/// An answer as text.
struct TextRows {
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;

  /// The value in a row of the column of that name; nothing if it is NULL, or if there is no such column.
  [[nodiscard]] std::optional<std::string> at(std::size_t row, std::string_view column) const;
};

class Direct {
 public:
  virtual ~Direct() = default;

  /// Runs one or several statements; returns the rows of the last one that has any. `busy`: another session holds a
  /// lock, nothing happened. `in_doubt`: a statement that commits may have happened.
  virtual Result<TextRows> run(std::string_view sql, BootTime deadline) = 0;
  /// Asks whether the database can run this one statement. Nothing is run, not even what follows it: then
  /// `invalid_argument`.
  virtual Result<void> plan(std::string_view sql, BootTime deadline) = 0;
  /// Starts a transaction that may write.
  virtual Result<void> begin(BootTime deadline) = 0;

  /// What the database had to say (RAISE NOTICE) since the last call.
  virtual std::vector<std::string> take_notices() { return {}; }

  /// SQLite: whether triggers fire on this connection. PostgreSQL has SQL for that, and ignores it.
  virtual void fire_triggers(bool /*on*/) {}

  [[nodiscard]] virtual bool is_postgres() const = 0;
  /// Ready for another transaction: connected, and in none.
  [[nodiscard]] virtual bool idle() const = 0;
};

/// The refusal of plan().
inline Error more_than_one_statement() {
  return {.code = Errc::invalid_argument, .message = "it is more than one statement"};
}

/// 'it''s', for both databases. A text with a NUL has no form: it ends before it.
std::string quote_literal(std::string_view text);
/// The name as SQL reads it: quoted only where it has to be.
std::string quote_name(std::string_view name);

}  // namespace leasehold::storage

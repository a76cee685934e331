// The state of a Rows: an adopted table as its ledger describes it, and connections to it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "adopt/database.h"
#include "leasehold/row.h"
#include "row/connections.h"

namespace leasehold {

struct Rows::Impl {
  Impl(std::string url, Duration timeout) : connections(std::move(url)), call_timeout(timeout) {}

  row::Connections connections;
  Duration call_timeout;
  std::string table;  ///< "public.sync_jobs"
  std::string shape{};
  std::vector<std::string> key_columns{};
  Duration ttl{};
  Duration heartbeat{};

  struct Act {
    std::string sql;
    bool writes = false;
    /// The values that the caller of a verdict may give: "set_row_count".
    std::vector<std::string> values{};
  };
  std::map<std::string, Act, std::less<>> acts{};

  /// `list` replaces :rows as it is.
  Result<storage::TextRows> run(std::string_view act, adopt::Arguments arguments, const Call& call = {},
                                std::string_view list = {});
  /// The key's values as :key1, :key2 …; `invalid_argument` if there are too few or too many.
  Result<adopt::Arguments> arguments_for(const RowKey& key) const;
  /// Adds a value or NULL for each that the act takes; `invalid_argument` if it does not take one of these.
  Result<void> add_values(std::string_view act, const RowValues& values, adopt::Arguments& arguments) const;
  Result<void> read_ledger(std::string_view wanted, BootTime deadline);
};

namespace row {

/// The error for an act on one row that was not done: `lost`, `not_found`, `held` and the codes of the file.
Error refusal_from(const Rows::Impl& rows, const RowKey& key, const storage::TextRows& answer, std::size_t at);

/// The row was deleted while it was held.
Error removed(const Rows::Impl& rows, const RowKey& key);

/// The row of the answer that is about this proof.
std::optional<std::size_t> find_answer(const storage::TextRows& answer, const RowProof& proof);

/// A row of the acts show and ls.
RowInfo info_from(const storage::TextRows& answer, std::size_t at);

/// "set_row_count": the values that a verdict takes, by its SQL.
std::vector<std::string> value_places(std::string_view sql);

/// "7", "m1 a3f9", for messages.
std::string text_of(const RowKey& key);

/// A moment or a number in a column; nothing if it is NULL.
std::optional<std::int64_t> number_at(const storage::TextRows& answer, std::size_t at, std::string_view column);

}  // namespace row

}  // namespace leasehold

// Handles databases whose encoding does not hold every character.
//
// PostgreSQL refuses a statement if one of its texts does not fit. That is right for a name: two names must not become
// one. It is wrong for text that only people read: a finally failed job has failed, whether or not the database can
// hold its error text. So such texts are made to fit before they are sent.
#pragma once

#include <libpq-fe.h>
#include <string>
#include <string_view>
#include <vector>

#include "storage/statement.h"

namespace leasehold::postgres {

/// The characters that a database holds.
enum class Charset {
  unicode,  ///< all of them
  latin1,   ///< up to U+00FF
  ascii,    ///< up to U+007F for certain
};

/// From the server_encoding of a connection.
Charset charset_of(const PGconn* connection);

/// Whether only people read the parameter of this name.
bool is_prose(std::string_view name);

/// `text`, which is UTF-8, with replacements for characters that do not fit. In an error every character stays
/// readable: U+2192 becomes \u{2192}. Elsewhere it becomes a question mark, because lengths are bounded.
std::string fitted(std::string_view text, std::string_view name, Charset charset);

// The statements of the dialect for one schema, and their prepared names.
struct Text {
  std::size_t slot;  ///< index into a connection's list of prepared statements
  /// Contains a hash of the text. Behind a transaction pooler another client may have prepared a statement on the same
  /// server connection: one name must never mean two statements.
  std::string name;
  std::string sql;
};

/// Replaces the words `leasehold` and `leasehold_internal` by the names of the two schemas: NAME and NAME_internal.
std::string in_schema(std::string_view sql, std::string_view schema);

/// Immutable, so any thread may read it.
class Texts {
 public:
  explicit Texts(std::string schema);

  [[nodiscard]] const Text& of(const storage::Statement& statement) const {
    return statements_[static_cast<std::size_t>(statement.index)];
  }
  /// The statement for many calls at once; only if the dialect has such a form.
  [[nodiscard]] const Text& each_of(const storage::Statement& statement) const {
    return statements_[each_[static_cast<std::size_t>(statement.index)]];
  }
  /// Makes the transaction READ COMMITTED, whatever the server's default. Must come first in it.
  [[nodiscard]] const Text& isolation() const { return statements_[statements_.size() - 2]; }
  /// Bounds the waits for row locks in its transaction; takes milliseconds, as text.
  [[nodiscard]] const Text& bound() const { return statements_.back(); }

  [[nodiscard]] std::string localize(std::string_view sql) const { return in_schema(sql, schema_); }
  [[nodiscard]] const std::string& schema() const { return schema_; }

 private:
  void add(std::string_view name, std::string sql);

  std::string schema_;
  std::vector<Text> statements_;   ///< by Statement::index, then each-forms, isolation(), bound()
  std::vector<std::size_t> each_;  ///< by Statement::index: the index of its each-form
};

}  // namespace leasehold::postgres

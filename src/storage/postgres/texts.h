// Databases whose encoding does not hold every character.
//
// PostgreSQL refuses a statement when one of its texts does not fit. That is right for a name: two names must not
// become one. It is wrong for what is written for people only: a job that failed for good has failed, whether or not
// the database can hold its error text. So such texts are made to fit before they are sent.
#pragma once

#include <libpq-fe.h>
#include <string>
#include <string_view>
#include <vector>

#include "storage/statement.h"

namespace leasehold::postgres {

/// Which characters a database holds.
enum class Charset {
  unicode,  ///< all of them
  latin1,   ///< up to U+00FF
  ascii,    ///< up to U+007F for certain
};

/// By the server_encoding of a connection.
Charset charset_of(const PGconn* connection);

/// Whether the parameter of this name is written for people only.
bool is_prose(std::string_view name);

/// `text`, which is UTF-8, with other characters in place of those that do not fit. Of an error every one can still be
/// told: U+2192 is written \u{2192}. Elsewhere it becomes a question mark, because lengths are limited.
std::string fitted(std::string_view text, std::string_view name, Charset charset);

// The statements of the dialect in the words of one schema, and the names they are prepared under.
struct Text {
  std::size_t slot;  ///< into a connection's list of what it has prepared
  /// Carries a hash of the text. Behind a transaction pooler somebody else may have prepared a statement
  /// on the server connection we get: the same name must never mean another statement.
  std::string name;
  std::string sql;
};

/// Replaces the word `leasehold`, wherever it stands alone, by the name of the schema.
std::string in_schema(std::string_view sql, std::string_view schema);

/// Immutable, so any thread may read it.
class Texts {
 public:
  explicit Texts(std::string schema);

  [[nodiscard]] const Text& of(const storage::Statement& statement) const {
    return statements_[static_cast<std::size_t>(statement.index)];
  }
  /// The statement for many calls at once; only where the dialect has such a form.
  [[nodiscard]] const Text& each_of(const storage::Statement& statement) const {
    return statements_[each_[static_cast<std::size_t>(statement.index)]];
  }
  /// Makes the transaction READ COMMITTED, whatever the server's default is. Has to come first in it.
  [[nodiscard]] const Text& isolation() const { return statements_[statements_.size() - 2]; }
  /// Bounds the waits for row locks of the transaction it is part of; takes milliseconds, as text.
  [[nodiscard]] const Text& bound() const { return statements_.back(); }

  [[nodiscard]] std::string localize(std::string_view sql) const { return in_schema(sql, schema_); }
  [[nodiscard]] const std::string& schema() const { return schema_; }

 private:
  void add(std::string_view name, std::string sql);

  std::string schema_;
  std::vector<Text> statements_;   ///< by Statement::index, then each-forms, isolation(), bound()
  std::vector<std::size_t> each_;  ///< by Statement::index: where its each-form is
};

}  // namespace leasehold::postgres

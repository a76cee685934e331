// The statements of the dialect in the words of one schema, and the names they are prepared under.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/statement.h"

namespace leasehold::postgres {

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
  /// Bounds the waits for row locks of the transaction it is part of; takes milliseconds, as text.
  [[nodiscard]] const Text& bound() const { return statements_.back(); }

  [[nodiscard]] std::string localize(std::string_view sql) const { return in_schema(sql, schema_); }
  [[nodiscard]] const std::string& schema() const { return schema_; }

 private:
  void add(std::string_view name, std::string sql);

  std::string schema_;
  std::vector<Text> statements_;   ///< by Statement::index, then each-forms, then bound()
  std::vector<std::size_t> each_;  ///< by Statement::index: where its each-form is
};

}  // namespace leasehold::postgres

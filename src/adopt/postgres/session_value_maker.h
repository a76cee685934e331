// Collects the values of the templates of sessions (session_values.cc, session_act_values.cc).
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adopt/fragments.h"
#include "adopt/postgres/session_values.h"
#include "adopt/template.h"

namespace leasehold::adopt::postgres {

/// The text between the quotes of a literal: for names inside of messages.
std::string inside_literal(std::string_view text);

/// The condition in parentheses.
std::string parenthesised(std::string_view condition);

/// Columns, each quoted, between two texts, with commas.
std::string column_list(const std::vector<std::string>& names, std::string_view before, std::string_view behind = "");

/// Fills the values from one description; remembers the first error.
class SessionValues {
 public:
  SessionValues(Values& values, const Description& table, const TableFacts& sessions, const SessionFacts& facts)
      : values_(values),
        table_(table),
        keys_(*table.sessions),
        holds_(*table.sessions->holds),
        sessions_(sessions),
        things_(facts.things) {}

  Result<void> add();

 private:
  void fail(std::string_view key, std::string_view what);
  void set(const std::string& name, std::string value);
  std::string column_type(const TableFacts& table, std::string_view name, std::string_view key);
  void add_tables();
  /// Our own name, made from the table's.
  std::string made_name(std::string_view prefix, std::string_view suffix);
  void add_names();
  /// trigger_name = "NAME" or "NAME EXECUTE FUNCTION FUNCTION()".
  void add_sync_trigger();
  /// The first wanted index on the column that names the thing is the unique one; another is refused.
  void add_index();
  void add_columns();
  void add_moments();
  static std::string human_age(std::string_view age);
  /// The columns of a thing that show its session: flag, owner, both, or none.
  void add_shown();
  std::string fragment(const std::map<std::string, std::string>& of, const std::string& act) const;
  /// The parameters that the placeholders of on_claim or on_release become, typed as the columns they are assigned to.
  std::vector<Named> parameters_of(const std::string& act);
  /// What a fragment means with its placeholders replaced; a name without a meaning is an error.
  std::string meant(const std::string& key, const std::string& sql, const Placeholders& meanings);
  std::string assignment_list(std::string first, const std::string& act, const Placeholders& meanings);
  static Placeholders named_parameters(const std::vector<Named>& parameters);
  static Placeholders with(Placeholders meanings, std::initializer_list<std::pair<const char*, std::string>> more);
  void add_acts();
  void add_refusals();
  void add_functions();
  void add_rights();
  /// The user's SQL, all of it, without its placeholders.
  [[nodiscard]] std::string all_fragments() const;
  /// True if one of the user's columns may have the name of an answer's column.
  [[nodiscard]] bool is_shadowed() const;
  [[nodiscard]] bool has_dollars() const;

  Values& values_;
  const Description& table_;
  const SessionKeys& keys_;
  const SessionHolds& holds_;
  const TableFacts& sessions_;
  const TableFacts& things_;
  std::string id_{};
  std::vector<std::string> names_{};
  std::vector<Named> claim_parameters_{};
  std::vector<Named> release_parameters_{};
  std::vector<Named> columns_of_parameters_{};  ///< the column that each of them is assigned to
  std::optional<Error> error_{};
};

}  // namespace leasehold::adopt::postgres

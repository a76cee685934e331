// Makes the values of one table's templates, and refuses a file that does not fit. values.cc has the values for every
// shape, shape_values.cc those that only some tables have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "adopt/fragments.h"
#include "adopt/sqlite/emitter.h"
#include "adopt/sqlite/fragments.h"
#include "adopt/sqlite/moments.h"
#include "storage/direct.h"

namespace leasehold::adopt::sqlite {

using storage::quote_name;

/// The values of one table; each part adds its own.
class TableValues {
 public:
  TableValues(const Description& table, const FileFacts& facts)
      : table_(table),
        facts_(facts),
        moments_(time_form_of(table, facts)),
        until_(quote_name(table.lease.until)),
        holder_(quote_name(table.lease.holder)),
        token_(quote_name(table.lease.token)) {}

  Result<Values> run();

 private:
  void refuse(const std::string& key, std::string_view what);

  // The user's fragments.

  [[nodiscard]] std::string for_act(std::string_view fragment) const;
  [[nodiscard]] std::string for_sql(std::string_view fragment) const;

  Assignments assignments_of(const std::string& act);

  void check_assigned(const std::string& key, const std::string& name);

  /// "status = 'x',\n    done_at = 7,\n    ", to stand before the lease columns.
  std::string set_of(const std::string& act);

  /// What each :name stands for in the assignments of an act.
  Placeholders meanings_of(const std::string& act);

  void add_schedule_to(const std::string& act, Assignments& assignments);

  // Columns, guard.

  void add_column(const std::string& name, const std::string& value);

  void add_columns();

  void add_guard();

  // Work and schedule.

  [[nodiscard]] std::string final_condition() const;

  [[nodiscard]] std::string due(bool act) const;

  [[nodiscard]] std::string can_be_claimed(bool act) const;

  std::string state_cases(bool act);

  std::string lost_cases(std::string_view last);

  void add_work();

  /// `claimable` becomes the condition of an index, which SQLite would refuse only in the middle of apply.
  void check_claimable();

  void add_conditions();

  void add_sets();

  /// The value of a fragment on the row as it was.
  std::string on_old_row(const std::string& fragment);

  std::string on_new_row(const std::string& fragment);

  void add_held();

  /// Statements of the user in the same commit. They are in triggers, so that the user's own proven writes run them,
  /// too.
  void add_also();

  void add_refusals();

  /// One row at a time, by a lock table that other code reads. A cell of leasehold_adopted has what we wrote into it:
  /// entry, holder and moment.
  void add_serial();

  // Lock and keep.

  void add_lock();

  void add_keep();

  const Description& table_;
  const FileFacts& facts_;
  Moments moments_;
  std::string until_, holder_, token_;
  Values values_{};
  std::optional<Error> error_{};
};

/// A token that is greater than every earlier one of the row: of a grant, and of a hold of code without tokens.
std::string next_token(std::string_view last);
std::string next_foreign_token(std::string_view last);

}  // namespace leasehold::adopt::sqlite

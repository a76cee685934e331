// How a table's moments are written and compared in SQL: Unix seconds, Unix milliseconds or ISO text.
//
// Expressions come in two kinds. Those of triggers and views read the clock of the SQL ("now"); those of acts use the
// moment :now_us, in microseconds, which the library reads inside the transaction. Whole seconds round up: a lease
// never ends earlier than it was granted for.
#pragma once

#include <string>
#include <string_view>

#include "adopt/description.h"
#include "leasehold/time.h"

namespace leasehold::adopt::sqlite {

class Moments {
 public:
  explicit Moments(TimeForm form) : form_(form) {}

  [[nodiscard]] std::string column_type() const;
  /// Now, in the table's form.
  [[nodiscard]] std::string now_sql() const;
  [[nodiscard]] std::string now_act() const;
  /// True or false, never NULL.
  [[nodiscard]] std::string live_sql(std::string_view column) const;
  [[nodiscard]] std::string live_act(std::string_view column) const;
  /// Set, and not later than now.
  [[nodiscard]] std::string expired_act(std::string_view column) const;
  /// The column's value in microseconds, and the other way round.
  [[nodiscard]] std::string to_us(std::string_view column) const;
  [[nodiscard]] std::string from_us(std::string_view microseconds) const;

  [[nodiscard]] std::string later_sql(Duration ttl) const;
  [[nodiscard]] std::string seconds_left_sql(std::string_view column) const;

  /// Milliseconds since 1970 by the clock of the SQL. unixepoch('subsec') is too new for it.
  static std::string now_ms_sql();

 private:
  TimeForm form_;
};

}  // namespace leasehold::adopt::sqlite

// How a column stores moments, and how SQL compares them with the clock.
#pragma once

#include <string>
#include <string_view>

#include "adopt/description.h"
#include "leasehold/result.h"

namespace leasehold::adopt::postgres {

class Moments {
 public:
  /// The column's type decides; `time` of the description decides what a number is, and the zone of a timestamp. The
  /// error says what to write.
  static Result<Moments> of(const Description& table, std::string_view column, std::string_view type);
  /// For a column that is added.
  static Moments of_new_column(const Description& table);

  /// The type of such a column.
  [[nodiscard]] std::string type() const;
  /// The server's clock in the column's form; whole seconds are rounded down, so that nothing expires early.
  [[nodiscard]] std::string now() const;
  /// A timestamptz in the column's form; whole seconds are rounded up.
  [[nodiscard]] std::string from(std::string_view moment) const;
  /// A value of the column as timestamptz.
  [[nodiscard]] std::string moment(std::string_view value) const;
  /// What to add to a value of the column, or to take from it: an interval, or a number. Texts (iso) have nothing.
  [[nodiscard]] std::string span(std::string_view interval) const;
  [[nodiscard]] bool has_spans() const { return form_ != TimeForm::iso; }
  /// Seconds from one value to another.
  [[nodiscard]] std::string seconds(std::string_view from, std::string_view to) const;
  /// Earlier than all values.
  [[nodiscard]] std::string never() const;
  /// A value of the column in microseconds since 1970.
  [[nodiscard]] std::string microseconds(std::string_view value) const;

 private:
  Moments(TimeForm form, std::string type, std::string zone)
      : form_(form), type_(std::move(type)), zone_(std::move(zone)) {}

  TimeForm form_;
  std::string type_;
  std::string zone_;
};

/// "5 minutes", as an interval's text.
std::string interval_text(Duration length);

}  // namespace leasehold::adopt::postgres

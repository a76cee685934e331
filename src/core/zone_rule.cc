#include "core/zone_rule.h"

#include <algorithm>
#include <charconv>

namespace leasehold {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_seconds;

/// Reads from the front of a rule; after the first mismatch every read fails.
class ZoneRuleReader {
 public:
  explicit ZoneRuleReader(std::string_view text) : rest_(text) {}

  std::optional<ZoneRule> read() {
    ZoneRule rule;
    skip_name();
    // POSIX counts offsets to the west: the value is added to local time to get UTC.
    rule.standard_ = -read_time();
    if (!rest_.empty()) rule.summer_ = read_summer(rule.standard_);
    if (!fits_ || !rest_.empty()) return std::nullopt;
    return rule;
  }

 private:
  ZoneRule::Summer read_summer(seconds standard) {
    ZoneRule::Summer summer;
    skip_name();
    summer.offset = rest_.starts_with(',') ? standard + hours(1) : -read_time();
    expect(',');
    summer.begin = read_change();
    expect(',');
    summer.end = read_change();
    return summer;
  }

  ZoneRule::YearlyChange read_change() {
    using Form = ZoneRule::YearlyChange::Form;
    ZoneRule::YearlyChange change;
    if (take('M')) {
      change.form = Form::weekday_of_month;
      change.month = static_cast<unsigned>(number(1, 12));
      expect('.');
      change.week = static_cast<unsigned>(number(1, 5));
      expect('.');
      change.weekday = static_cast<unsigned>(number(0, 6));
    } else {
      const bool without_leap_day = take('J');
      change.form = without_leap_day ? Form::day_without_leap_day : Form::day_of_year;
      change.day = number(without_leap_day ? 1 : 0, 365);
    }
    change.time = take('/') ? read_time() : hours(2);
    return change;
  }

  /// [+-]hours[:minutes[:seconds]]
  seconds read_time() {
    const bool negative = take('-');
    if (!negative) take('+');
    seconds time = hours(number(0, 167));
    if (take(':')) time += minutes(number(0, 59));
    if (take(':')) time += seconds(number(0, 59));
    return negative ? -time : time;
  }

  /// Letters, or any characters between < and >.
  void skip_name() {
    const bool bracketed = take('<');
    const auto length = bracketed ? rest_.find('>') : rest_.find_first_of("0123456789+-,");
    fits_ = fits_ && length != std::string_view::npos && length >= 3;
    if (fits_) rest_.remove_prefix(length + (bracketed ? 1 : 0));
  }

  int number(int lowest, int highest) {
    int value = -1;
    const auto* begin = rest_.data();
    const auto [end, error] = std::from_chars(begin, begin + rest_.size(), value);
    fits_ = fits_ && error == std::errc() && value >= lowest && value <= highest;
    if (!fits_) return lowest;
    rest_.remove_prefix(static_cast<std::size_t>(end - begin));
    return value;
  }

  bool take(char wanted) {
    if (!fits_ || !rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) { fits_ = take(wanted); }

  std::string_view rest_;
  bool fits_ = true;
};

std::optional<ZoneRule> ZoneRule::parse(std::string_view text) { return ZoneRuleReader(text).read(); }

local_seconds ZoneRule::YearlyChange::in(std::chrono::year year) const {
  const auto new_year = local_days(year / 1 / 1);
  switch (form) {
    case Form::weekday_of_month: {
      const auto that_month = year / static_cast<int>(month);
      const std::chrono::weekday wanted(weekday);
      if (week == 5) return local_days(that_month / wanted[std::chrono::last]) + time;
      return local_days(that_month / wanted[week]) + time;
    }
    case Form::day_of_year: return new_year + days(day) + time;
    // Day 60 is the first of March in every year.
    case Form::day_without_leap_day: return new_year + days(year.is_leap() && day >= 60 ? day : day - 1) + time;
  }
  return new_year;
}

std::array<ZoneRule::Change, 10> ZoneRule::changes_around(std::chrono::year year) const {
  std::array<Change, 10> changes{};
  auto next = changes.begin();
  for (int around = -2; around <= 2; ++around) {
    const auto that_year = year + std::chrono::years(around);
    *next++ = {sys_seconds((summer_->begin.in(that_year)-standard_).time_since_epoch()), summer_->offset};
    *next++ = {sys_seconds((summer_->end.in(that_year)-summer_->offset).time_since_epoch()), standard_};
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
  return changes;
}

ZonePeriod ZoneRule::period_at(sys_seconds when) const {
  if (!summer_) return {beginning_of_time, end_of_time, standard_};
  const auto year = std::chrono::year_month_day(std::chrono::floor<days>(when)).year();
  const auto changes = changes_around(year);
  const auto next =
      std::find_if(changes.begin(), changes.end(), [&](const Change& change) { return change.at > when; });
  const auto current = std::prev(next);
  return {current->at, next->at, current->offset};
}

}  // namespace leasehold

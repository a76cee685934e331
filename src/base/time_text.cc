#include "base/time_text.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <optional>

#include "base/text.h"

namespace leasehold {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t micros;
};

constexpr std::array<Unit, 6> units = {
    {{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000}, {"s", 1'000'000}, {"ms", 1'000}, {"us", 1}}};

Error not_a_duration(std::string_view text) {
  return {.code = Errc::invalid_argument,
          .message = quoted(text) + " is not a duration: write 250ms, 30s, 1m30s, 2h or 7d"};
}

Error too_long(std::string_view text) {
  return {.code = Errc::invalid_argument,
          .message = quoted(text) + " is too long: a duration has at most " +
                     std::to_string(INT64_MAX / units[0].micros) + " days"};
}

const Unit* unit_at(std::string_view& text) {
  const auto letters = std::min(text.find_first_of("0123456789"), text.size());
  for (const auto& unit : units) {
    if (text.substr(0, letters) == unit.name) {
      text.remove_prefix(letters);
      return &unit;
    }
  }
  return nullptr;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto all = text;
  if (text == "0") return Duration(0);
  std::int64_t total = 0;
  std::int64_t last_unit = INT64_MAX;
  while (!text.empty() || text.data() == all.data()) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc::result_out_of_range) return too_long(all);
    if (error != std::errc() || count < 0) return not_a_duration(all);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto* unit = unit_at(text);
    std::int64_t part = 0;
    if (unit == nullptr || unit->micros >= last_unit) return not_a_duration(all);
    if (__builtin_mul_overflow(count, unit->micros, &part) || __builtin_add_overflow(total, part, &total)) {
      return too_long(all);
    }
    last_unit = unit->micros;
  }
  return Duration(total);
}

std::string format_duration(Duration span) {
  if (span.count() == 0) return "0s";
  // Duration::min() has no positive counterpart.
  if (span.count() < 0) return "-" + format_duration(span == Duration::min() ? Duration::max() : -span);
  auto rest = span.count();
  std::string text;
  int shown = 0;
  for (const auto& unit : units) {
    const auto count = rest / unit.micros;
    if (count == 0 && shown == 0) continue;
    if (count > 0) text += fmt::format("{}{}{}", text.empty() ? "" : " ", count, unit.name);
    rest %= unit.micros;
    // Below a second one unit is enough; "3s 20ms" would be read as "3s" anyway.
    if (++shown == 2 || unit.micros <= 1'000'000) break;
  }
  return text;
}

std::string format_limit(Duration span) {
  std::string text;
  auto rest = span.count();
  for (const auto& unit : units) {
    if (const auto count = rest / unit.micros; count > 0)
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", count, unit.name);
    rest %= unit.micros;
  }
  return text.empty() ? "0s" : text;
}

std::string format_age(Duration age) {
  if (age < std::chrono::seconds(1)) return "just now";
  for (const auto& unit : units) {
    if (age.count() >= unit.micros) return fmt::format("{}{} ago", age.count() / unit.micros, unit.name);
  }
  return "just now";
}

namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Error not_a_moment(std::string_view text) {
  return {.code = Errc::invalid_argument,
          .message = quoted(text) + " is not a time: write 2026-03-01T09:30:00Z, '2026-03-01 09:30' or 09:30"};
}

/// Reads from the front of a text; after the first mismatch every read fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  /// Reads exactly `digits` digits.
  int number(std::size_t digits) {
    int value = 0;
    const auto* begin = rest_.data();
    const bool enough = rest_.size() >= digits && rest_.substr(0, digits).find_first_not_of("0123456789") == npos;
    fits_ = fits_ && enough;
    if (!fits_) return 0;
    std::from_chars(begin, begin + digits, value);
    rest_.remove_prefix(digits);
    return value;
  }
  bool take(char wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) { fits_ = take(wanted) && fits_; }
  void require(bool condition) { fits_ = condition && fits_; }

  /// The number of digits at the front.
  [[nodiscard]] std::size_t digits_ahead() const {
    return std::min(rest_.find_first_not_of("0123456789"), rest_.size());
  }
  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  static constexpr auto npos = std::string_view::npos;
  std::string_view rest_;
  bool fits_ = true;
};

/// Up to nine digits after the dot; digits below a microsecond are dropped.
Duration read_fraction(Reader& reader) {
  const auto digits = reader.digits_ahead();
  reader.require(digits >= 1 && digits <= 9);
  Duration fraction{0};
  Duration place = std::chrono::milliseconds(100);
  for (std::size_t i = 0; i < digits && reader.fits(); ++i) {
    fraction += place * reader.number(1);
    place /= 10;
  }
  return fraction;
}

Duration read_time_of_day(Reader& reader) {
  const int hour = reader.number(2);
  reader.expect(':');
  const int minute = reader.number(2);
  const int second = reader.take(':') ? reader.number(2) : 0;
  reader.require(hour < 24 && minute < 60 && second < 60);
  const Duration fraction = reader.take('.') ? read_fraction(reader) : Duration(0);
  return hours(hour) + minutes(minute) + seconds(second) + fraction;
}

std::chrono::year_month_day read_date(Reader& reader) {
  const std::chrono::year year(reader.number(4));
  reader.expect('-');
  const std::chrono::month month(static_cast<unsigned>(reader.number(2)));
  reader.expect('-');
  const std::chrono::day day(static_cast<unsigned>(reader.number(2)));
  const std::chrono::year_month_day date(year, month, day);
  reader.require(date.ok());
  return date;
}

/// The offset of local time from UTC, positive to the east; nothing if the text has none.
std::optional<Duration> read_offset(Reader& reader) {
  if (reader.take('Z')) return Duration(0);
  const bool east = reader.take('+');
  if (!east && !reader.take('-')) return std::nullopt;
  const int hour = reader.number(2);
  reader.take(':');
  const int minute = reader.number(2);
  reader.require(hour < 24 && minute < 60);
  const Duration offset = hours(hour) + minutes(minute);
  return east ? offset : -offset;
}

/// The offset of local time from UTC at a moment.
seconds offset_at(std::chrono::sys_seconds when) {
  const std::time_t moment = when.time_since_epoch().count();
  std::tm parts{};
  localtime_r(&moment, &parts);
  return seconds(parts.tm_gmtoff);
}

/// Not mktime(): its answer for an hour that occurs twice depends on earlier calls. This takes the first of the two,
/// and counts a skipped hour on from before the change, as schedules do.
Timestamp from_local(std::chrono::year_month_day date, Duration time_of_day) {
  tzset();
  const auto shown = Timestamp(std::chrono::sys_days(date)) + time_of_day;
  const auto around = std::chrono::floor<seconds>(shown);
  const auto before = offset_at(around - days(1));
  const auto after = offset_at(around + days(1));
  const bool is_after = offset_at(around - before) != before && offset_at(around - after) == after;
  return shown - (is_after ? after : before);
}

std::chrono::year_month_day local_date(Timestamp when) {
  const std::time_t moment = std::chrono::floor<seconds>(when).time_since_epoch().count();
  std::tm parts{};
  localtime_r(&moment, &parts);
  return std::chrono::year(parts.tm_year + 1900) / (parts.tm_mon + 1) / parts.tm_mday;
}

Timestamp next_local(Duration time_of_day, Timestamp now) {
  const auto today = local_date(now);
  const auto candidate = from_local(today, time_of_day);
  if (candidate > now) return candidate;
  return from_local(std::chrono::sys_days(today) + days(1), time_of_day);
}

}  // namespace

Result<Timestamp> parse_moment(std::string_view text, Timestamp now) {
  Reader reader(text);
  if (reader.digits_ahead() == 2) {
    const auto time_of_day = read_time_of_day(reader);
    if (!reader.fits() || !reader.at_end()) return not_a_moment(text);
    return next_local(time_of_day, now);
  }
  const auto date = read_date(reader);
  if (!reader.take('T')) reader.expect(' ');
  const auto time_of_day = read_time_of_day(reader);
  const auto offset = read_offset(reader);
  if (!reader.fits() || !reader.at_end()) return not_a_moment(text);
  if (!offset) return from_local(date, time_of_day);
  return Timestamp(std::chrono::sys_days(date)) + time_of_day - *offset;
}

}  // namespace leasehold

// The normal form of an expression.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/cron.h"
#include "core/cron_field.h"
#include "leasehold/limits.h"

namespace leasehold {
namespace {

/// A list being built.
class List {
 public:
  void add(std::string_view item) { text_ += text_.empty() ? std::string(item) : fmt::format(",{}", item); }

  /// "15W" for the number 15 and the form "{}W".
  void add_each(Bits bits, std::string_view form) {
    for (; bits != 0; bits &= bits - 1) add(fmt::format(fmt::runtime(form), std::countr_zero(bits)));
  }

  /// Three or more consecutive values become a range.
  void add_runs(Bits bits) {
    while (bits != 0) {
      const auto first = std::countr_zero(bits);
      const auto length = std::countr_one(bits >> first);
      const auto run = ((Bits{1} << length) - 1) << first;
      if (length >= 3) {
        add(fmt::format("{}-{}", first, first + length - 1));
      } else {
        add_each(run, "{}");
      }
      bits &= ~run;
    }
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// The n of "*/n" if there are three or more values and they are every n-th from the lowest to the end; otherwise 0.
unsigned step_of(const CronFieldKind& kind, Bits bits) {
  if (std::popcount(bits) < 3 || !has(bits, kind.lowest)) return 0;
  const auto step = static_cast<unsigned>(std::countr_zero(bits >> kind.lowest & ~Bits{1}));
  Bits stepped = 0;
  for (auto value = kind.lowest; value < kind.lowest + kind.size; value += step) stepped |= Bits{1} << value;
  return stepped == bits ? step : 0;
}

void add_numbers(const CronFieldKind& kind, Bits bits, List& list) {
  const auto step = step_of(kind, bits);
  if (step == 0) {
    list.add_runs(bits);
  } else {
    list.add(step == 1 ? "*" : fmt::format("*/{}", step));
  }
}

std::string text_of(const CronFieldKind& kind, Bits bits) {
  List list;
  add_numbers(kind, bits, list);
  return list.text();
}

std::string text_of(const Cron::DaysOfMonth& when) {
  List list;
  add_numbers(day_field, when.on, list);
  list.add_each(when.workday_near, "{}W");
  if (has(when.before_last, 0)) list.add("L");
  list.add_each(when.before_last & ~Bits{1}, "L-{}");
  if (when.last_workday) list.add("LW");
  return list.text();
}

std::string text_of(const Cron::DaysOfWeek& weekdays) {
  List list;
  add_numbers(weekday_field, weekdays.on, list);
  for (std::size_t n = 0; n < weekdays.nth.size(); ++n)
    list.add_each(weekdays.nth.at(n), fmt::format("{{}}#{}", n + 1));
  list.add_each(weekdays.last, "{}L");
  return list.text();
}

}  // namespace

std::string to_string(const Cron& cron) {
  const auto fields =
      fmt::format("{} {} {} {} {}", text_of(minute_field, cron.minutes), text_of(hour_field, cron.hours),
                  text_of(cron.days), text_of(month_field, cron.months), text_of(cron.weekdays));
  return cron.seconds == 1 ? fields : text_of(second_field, cron.seconds) + " " + fields;
}

// Splits an expression into its fields, and refuses one that can never match.
namespace {

constexpr std::string_view blanks = " \t\r\n";

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> nicknames = {{{"@yearly", "0 0 1 1 *"},
                                                                                     {"@annually", "0 0 1 1 *"},
                                                                                     {"@monthly", "0 0 1 * *"},
                                                                                     {"@weekly", "0 0 * * 0"},
                                                                                     {"@daily", "0 0 * * *"},
                                                                                     {"@midnight", "0 0 * * *"},
                                                                                     {"@hourly", "0 * * * *"}}};

Result<void> check_characters(std::string_view text) {
  constexpr std::string_view known = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*/,-#?@ \t\r\n";
  if (text.size() > bounds::cron_bytes) {
    return invalid(fmt::format("cron: an expression has up to {} characters", bounds::cron_bytes));
  }
  if (text.find_first_not_of(known) != std::string_view::npos) {
    return invalid("cron: an expression has only letters, digits, blanks and * / , - # ? @");
  }
  return {};
}

std::vector<std::string_view> cut_at_blanks(std::string_view text) {
  std::vector<std::string_view> words;
  auto begin = text.find_first_not_of(blanks);
  while (begin != std::string_view::npos) {
    const auto end = text.find_first_of(blanks, begin);
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
  return words;
}

bool same_letters(std::string_view word, std::string_view in_lower_case) {
  return std::equal(word.begin(), word.end(), in_lower_case.begin(), in_lower_case.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

/// The fields that a nickname stands for.
Result<std::string_view> expanded(std::string_view nickname) {
  for (const auto& [name, fields] : nicknames) {
    if (same_letters(nickname, name)) return fields;
  }
  return invalid(fmt::format("cron: {} is none of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly",
                             quoted(nickname)));
}

/// True if some day field can match in one of the months. Every month has each weekday; a fifth one occurs now and
/// then.
bool can_happen(const Cron& cron) {
  if (cron.weekdays.on != all_of(weekday_field) || cron.days.on == all_of(day_field)) return true;
  constexpr std::chrono::year leap_year(2024);
  for (unsigned number = 1; number <= 12; ++number) {
    if (has(cron.months, number) && days_in(cron, leap_year / static_cast<int>(number)) != 0) return true;
  }
  return false;
}

/// Reads the fields from left to right, and keeps the first error.
class ExpressionReader {
 public:
  explicit ExpressionReader(std::vector<std::string_view> words) : words_(std::move(words)) {}

  Result<Cron> read() {
    Cron cron;
    cron.seconds = 1;
    if (words_.size() == 6) take(cron.seconds, read_numbers(second_field, next_field()));
    take(cron.minutes, read_numbers(minute_field, next_field()));
    take(cron.hours, read_numbers(hour_field, next_field()));
    const auto day = next_field();
    take(cron.days, read_days_of_month(day));
    const auto month = next_field();
    take(cron.months, read_numbers(month_field, month));
    take(cron.weekdays, read_days_of_week(next_field()));
    if (error_) return *error_;
    if (can_happen(cron)) return cron;
    return cron_field_error(
        day_field, day,
        fmt::format("no such day in the months of field {} (month) {}", month.number, quoted(month.text)));
  }

 private:
  WrittenField next_field() {
    const auto index = next_++;
    return {.number = static_cast<int>(index) + 1, .text = words_[index]};
  }

  template <typename T>
  void take(T& value, Result<T> read) {
    if (read) {
      value = *std::move(read);
    } else if (!error_) {
      error_ = std::move(read).error();
    }
  }

  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<Cron> parse_cron(std::string_view text) {
  if (auto checked = check_characters(text); !checked) return std::move(checked).error();
  auto words = cut_at_blanks(text);
  if (words.size() == 1 && words[0].starts_with('@')) {
    auto fields = expanded(words[0]);
    if (!fields) return std::move(fields).error();
    words = cut_at_blanks(*fields);
  }
  if (words.size() == 5 || words.size() == 6) return ExpressionReader(std::move(words)).read();
  return invalid(fmt::format(
      "cron: {} has {} field{}: write 5 (minute, hour, day of month, month, day of week) or 6 (second before them)",
      quoted(fmt::format("{}", fmt::join(words, " "))), words.size(), words.size() == 1 ? "" : "s"));
}

}  // namespace leasehold

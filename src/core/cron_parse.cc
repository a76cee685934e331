// Cuts an expression into its fields, and refuses what can never happen.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/invalid.h"
#include "base/text.h"
#include "core/cron.h"
#include "core/cron_field.h"

namespace leasehold {
namespace {

constexpr std::size_t max_cron_bytes = 1000;
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
  if (text.size() > max_cron_bytes) {
    return invalid(fmt::format("cron: an expression has up to {} characters", max_cron_bytes));
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

/// Some day field may match in one of the months. Weekdays come in every month, the fifth one once in a while.
bool can_happen(const Cron& cron) {
  if (cron.weekdays.on != all_of(weekday_field) || cron.days.on == all_of(day_field)) return true;
  constexpr std::chrono::year leap_year(2024);
  for (unsigned number = 1; number <= 12; ++number) {
    if (has(cron.months, number) && days_in(cron, leap_year / static_cast<int>(number)) != 0) return true;
  }
  return false;
}

/// Reads the fields from the left, and keeps the first error.
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

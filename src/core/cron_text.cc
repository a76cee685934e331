// The normal form of an expression.
#include <fmt/format.h>

#include <bit>

#include "core/cron.h"
#include "core/cron_field.h"

namespace leasehold {
namespace {

/// A list under way.
class List {
 public:
  void add(std::string_view item) { text_ += text_.empty() ? std::string(item) : fmt::format(",{}", item); }

  /// "15W" for the number 15 and the form "{}W".
  void add_each(Bits bits, std::string_view form) {
    for (; bits != 0; bits &= bits - 1) add(fmt::format(fmt::runtime(form), std::countr_zero(bits)));
  }

  /// Three and more in a row are a range.
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

/// The n of "*/n", where the values are three or more and every n-th from the lowest to the end; otherwise 0.
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

}  // namespace leasehold

#include "core/cron_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace leasehold {
namespace {

constexpr auto npos = std::string_view::npos;

std::string in_upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

bool is_number(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == npos; }

/// One part of a list: "10-40/5".
struct Item {
  std::string_view base;
  std::optional<std::string_view> step;

  explicit Item(std::string_view text) {
    const auto slash = text.find('/');
    base = text.substr(0, slash);
    if (slash != npos) step = text.substr(slash + 1);
  }
};

/// Reads one field, item by item. Errors use the terms of that field.
class FieldReader {
 public:
  FieldReader(const CronFieldKind& kind, const WrittenField& field)
      : kind_(kind), field_(field), text_(in_upper_case(field.text)) {}

  /// Passes every item of the list to `read` until one is wrong.
  template <typename Read>
  Result<void> each_item(const Read& read) const {
    std::string_view rest = text_;
    if (rest.starts_with(',') || rest.ends_with(',') || rest.find(",,") != npos) {
      return wrong("a value is missing in the list");
    }
    while (true) {
      const auto comma = rest.find(',');
      if (auto done = read(Item(rest.substr(0, comma))); !done) return done;
      if (comma == npos) return {};
      rest.remove_prefix(comma + 1);
    }
  }

  /// Numbers, names, ranges and steps: every field accepts these.
  Result<void> read_range(const Item& item, Bits& bits) const {
    unsigned step = 1;
    if (item.step) {
      auto number = read_number(*item.step, 1, kind_.size, "step ");
      if (!number) return std::move(number).error();
      step = *number;
    }
    if (item.base == "*") {
      add(kind_.lowest, kind_.lowest + kind_.size - 1, step, bits);
      return {};
    }
    if (item.base == "?") return wrong("? is for the day fields: write *");
    if (const auto dash = item.base.find('-'); dash != npos) {
      return read_range(item.base.substr(0, dash), item.base.substr(dash + 1), step, bits);
    }
    auto value = read_value(item.base);
    if (!value) return std::move(value).error();
    add(*value, item.step ? kind_.highest : *value, step, bits);
    return {};
  }

  /// A number of this field, or a name that stands for one.
  [[nodiscard]] Result<unsigned> read_value(std::string_view text) const {
    const auto name = std::find(kind_.names.begin(), kind_.names.end(), text);
    if (name != kind_.names.end()) return kind_.lowest + static_cast<unsigned>(name - kind_.names.begin());
    if (!kind_.names.empty() && !is_number(text)) {
      return wrong(fmt::format("{} is not a number in {}-{} or a name such as {}", quoted(text), kind_.lowest,
                               kind_.highest, kind_.names[1]));
    }
    return read_number(text, kind_.lowest, kind_.highest);
  }

  /// `what` is for the message: "step ".
  [[nodiscard]] Result<unsigned> read_number(std::string_view text, unsigned lowest, unsigned highest,
                                             std::string_view what = "") const {
    if (!is_number(text)) {
      return wrong(fmt::format("{}{} is not a number in {}-{}", what, quoted(text), lowest, highest));
    }
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && number >= lowest && number <= highest) return number;
    return wrong(fmt::format("{}{} is outside {}-{}", what, text, lowest, highest));
  }

  /// A value with a meaning of its own, such as L, takes no step.
  [[nodiscard]] Result<void> check_no_step(const Item& item) const {
    return item.step ? Result<void>(wrong("a step goes with *, a number or a range")) : Result<void>();
  }

  [[nodiscard]] Error wrong(std::string_view what) const { return cron_field_error(kind_, field_, what); }

 private:
  Result<void> read_range(std::string_view first, std::string_view last, unsigned step, Bits& bits) const {
    auto from = read_value(first);
    if (!from) return std::move(from).error();
    auto to = read_value(last);
    if (!to) return std::move(to).error();
    // A range that begins with Sunday begins the week.
    if (*from == kind_.lowest + kind_.size) {
      if (*to == *from) *to = kind_.lowest;
      *from = kind_.lowest;
    }
    if (*from > *to && !kind_.wraps) {
      return wrong(fmt::format("{0} is after {1}: write {0}-{2},{3}-{1}", *from, *to, kind_.highest, kind_.lowest));
    }
    add(*from, *from > *to ? *to + kind_.size : *to, step, bits);
    return {};
  }

  /// `to` may lie beyond the end of the field; the range then wraps around.
  void add(unsigned from, unsigned to, unsigned step, Bits& bits) const {
    for (auto value = from; value <= to; value += step) {
      bits |= Bits{1} << (kind_.lowest + (value - kind_.lowest) % kind_.size);
    }
  }

  const CronFieldKind& kind_;
  const WrittenField& field_;
  const std::string text_;
};

Result<void> read_day_of_month(const FieldReader& reader, const Item& item, Cron::DaysOfMonth& days) {
  const auto base = item.base;
  const bool special = base == "?" || base.starts_with('L') || base.ends_with('W');
  if (!special) return reader.read_range(item, days.on);
  if (auto checked = reader.check_no_step(item); !checked) return checked;
  if (base == "?") {
    days.on = all_of(day_field);
  } else if (base == "L") {
    days.before_last |= 1;
  } else if (base == "LW") {
    days.last_workday = true;
  } else if (base.starts_with("L-")) {
    auto number = reader.read_number(base.substr(2), 1, 30);
    if (!number) return std::move(number).error();
    days.before_last |= Bits{1} << *number;
  } else {
    auto day = reader.read_value(base.ends_with('W') ? base.substr(0, base.size() - 1) : base);
    if (!day) return std::move(day).error();
    days.workday_near |= Bits{1} << *day;
  }
  return {};
}

Result<void> read_day_of_week(const FieldReader& reader, const Item& item, Cron::DaysOfWeek& weekdays) {
  const auto base = item.base;
  const auto hash = base.find('#');
  const bool special = base == "?" || base.ends_with('L') || hash != npos;
  if (!special) return reader.read_range(item, weekdays.on);
  if (auto checked = reader.check_no_step(item); !checked) return checked;
  if (base == "?") {
    weekdays.on = all_of(weekday_field);
    return {};
  }
  if (base == "L") return reader.wrong("L is the last of a weekday: write 5L or FRIL");
  auto weekday = reader.read_value(base.substr(0, hash != npos ? hash : base.size() - 1));
  if (!weekday) return std::move(weekday).error();
  const auto bit = Bits{1} << (*weekday % weekday_field.size);
  if (hash == npos) {
    weekdays.last |= bit;
    return {};
  }
  auto nth = reader.read_number(base.substr(hash + 1), 1, 5);
  if (!nth) return std::move(nth).error();
  weekdays.nth.at(*nth - 1) |= bit;
  return {};
}

}  // namespace

Error cron_field_error(const CronFieldKind& kind, const WrittenField& field, std::string_view what) {
  return {.code = Errc::invalid_argument,
          .message = fmt::format("cron: field {} ({}) {}: {}", field.number, kind.name, quoted(field.text), what)};
}

Result<Bits> read_numbers(const CronFieldKind& kind, const WrittenField& field) {
  const FieldReader reader(kind, field);
  Bits bits = 0;
  auto done = reader.each_item([&](const Item& item) { return reader.read_range(item, bits); });
  if (!done) return std::move(done).error();
  return bits;
}

Result<Cron::DaysOfMonth> read_days_of_month(const WrittenField& field) {
  const FieldReader reader(day_field, field);
  Cron::DaysOfMonth days;
  auto done = reader.each_item([&](const Item& item) { return read_day_of_month(reader, item, days); });
  if (!done) return std::move(done).error();
  // All days are set already, so the other items add nothing.
  if (days.on == all_of(day_field)) return Cron::DaysOfMonth{.on = days.on};
  return days;
}

Result<Cron::DaysOfWeek> read_days_of_week(const WrittenField& field) {
  const FieldReader reader(weekday_field, field);
  Cron::DaysOfWeek weekdays;
  auto done = reader.each_item([&](const Item& item) { return read_day_of_week(reader, item, weekdays); });
  if (!done) return std::move(done).error();
  if (weekdays.on == all_of(weekday_field)) return Cron::DaysOfWeek{.on = weekdays.on};
  return weekdays;
}

}  // namespace leasehold

#include "core/cron.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/results.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::year_month;

std::string normal_form(std::string_view text) {
  const auto cron = parse_cron(text);
  return cron ? to_string(*cron) : cron.error().message;
}

std::string error_of(std::string_view text) {
  const auto cron = parse_cron(text);
  return cron ? "it was taken for " + to_string(*cron) : cron.error().message;
}

/// The days of a month, as a list.
std::vector<unsigned> days_of(std::string_view text, year_month month) {
  const auto bits = days_in(parse_cron(text).value(), month);
  std::vector<unsigned> days;
  for (unsigned day = 1; day <= 31; ++day) {
    if ((bits >> day & 1) != 0) days.push_back(day);
  }
  return days;
}

using Days = std::vector<unsigned>;
constexpr auto january = 2026y / 1;   // begins on a Thursday, ends on a Saturday
constexpr auto february = 2026y / 2;  // begins on a Sunday, ends on a Saturday
constexpr auto may = 2026y / 5;       // begins on a Friday, ends on a Sunday

TEST(CronTest, EveryWayToWriteAFieldHasOneNormalForm) {
  const std::vector<std::pair<std::string_view, std::string_view>> table = {
      {"* * * * *", "* * * * *"},
      {"  *\t* *  * *\n", "* * * * *"},
      {"0 0 0 1 1 0", "0 0 1 1 0"},
      {"30 0 0 1 1 0", "30 0 0 1 1 0"},
      {"* * * * * *", "* * * * * *"},
      {"05 09 * * *", "5 9 * * *"},
      {"5,1,3 * * * *", "1,3,5 * * * *"},
      {"1,2,3,4 * * * *", "1-4 * * * *"},
      {"1,2,4 * * * *", "1,2,4 * * * *"},
      {"0-59 0-23 1-31 1-12 0-7", "* * * * *"},
      {"*/1 * * * *", "* * * * *"},
      {"0-59/15 * * * *", "*/15 * * * *"},
      {"0,15,30,45 * * * *", "*/15 * * * *"},
      {"*/30 * * * *", "0,30 * * * *"},
      {"*/60 */24 * * *", "0 0 * * *"},
      {"10-40/5 * * * *", "10,15,20,25,30,35,40 * * * *"},
      {"5/15 * * * *", "5,20,35,50 * * * *"},
      {"10-40/50 * * * *", "10 * * * *"},
      {"*/25 * * * *", "*/25 * * * *"},
      {"0 0 * JAN-mar,Dec *", "0 0 * 1-3,12 *"},
      {"0 0 * */3 *", "0 0 * */3 *"},
      {"0 0 * * mon-FRI", "0 0 * * 1-5"},
      {"0 0 * * mon-5", "0 0 * * 1-5"},
      {"0 0 ? * ?", "0 0 * * *"},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(normal_form(text), expected) << text;
}

TEST(CronTest, SundayIsZeroAndSeven) {
  const std::vector<std::pair<std::string_view, std::string_view>> table = {
      {"0 0 * * 7", "0 0 * * 0"},           {"0 0 * * SUN", "0 0 * * 0"},       {"0 0 * * 5-7", "0 0 * * 0,5,6"},
      {"0 0 * * 7-2", "0 0 * * 0-2"},       {"0 0 * * 7-7", "0 0 * * 0"},       {"0 0 * * sat-sun", "0 0 * * 0,6"},
      {"0 0 * * 1-7/2", "0 0 * * 0,1,3,5"}, {"0 0 * * 1/2", "0 0 * * 0,1,3,5"}, {"0 0 * * 7#1,7L", "0 0 * * 0#1,0L"},
      {"0 0 * * */2", "0 0 * * */2"},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(normal_form(text), expected) << text;
}

TEST(CronTest, ARangeGoesOverTheEndOfItsField) {
  EXPECT_EQ(normal_form("0 0 * * FRI-MON"), "0 0 * * 0,1,5,6");
  EXPECT_EQ(normal_form("0 22-2 * * *"), "0 0-2,22,23 * * *");
  EXPECT_EQ(normal_form("0 22-4/2 * * *"), "0 0,2,4,22 * * *");
  EXPECT_EQ(normal_form("50-10/10 * * * *"), "0,10,50 * * * *");
  EXPECT_EQ(normal_form("0 0 * NOV-FEB *"), "0 0 * 1,2,11,12 *");
}

TEST(CronTest, SpecialDaysKeepTheirForm) {
  EXPECT_EQ(normal_form("0 0 l * *"), "0 0 L * *");
  EXPECT_EQ(normal_form("0 0 LW,15w,L-3,L,1 * *"), "0 0 1,15W,L,L-3,LW * *");
  EXPECT_EQ(normal_form("0 0 * * FRIL,MON#2,mon#1,3"), "0 0 * * 3,1#1,1#2,5L");
  EXPECT_EQ(normal_form("0 0 *,L * 1L,*"), "0 0 * * *") << "every day has these days already";
}

TEST(CronTest, NicknamesStandForFiveFields) {
  EXPECT_EQ(normal_form("@yearly"), "0 0 1 1 *");
  EXPECT_EQ(normal_form("@annually"), "0 0 1 1 *");
  EXPECT_EQ(normal_form("@monthly"), "0 0 1 * *");
  EXPECT_EQ(normal_form("@weekly"), "0 0 * * 0");
  EXPECT_EQ(normal_form(" @Daily "), "0 0 * * *");
  EXPECT_EQ(normal_form("@midnight"), "0 0 * * *");
  EXPECT_EQ(normal_form("@HOURLY"), "0 * * * *");
}

TEST(CronTest, TheNormalFormReadsAsItself) {
  for (const auto* text :
       {"*/7 1-5,9 1,15W,L,L-30,LW JAN,MAY-AUG 2,0#5,SATL", "* * * * * *", "0 0 29 2 *", "@weekly"}) {
    const auto cron = parse_cron(text);
    ASSERT_TRUE(ok(cron)) << text;
    EXPECT_EQ(parse_cron(to_string(*cron)).value(), *cron) << to_string(*cron);
  }
}

TEST(CronTest, AnErrorNamesTheFieldAndWhatIsWrong) {
  const std::vector<std::pair<std::string_view, std::string_view>> table = {
      {"0 25 * * *", R"(cron: field 2 (hour) "25": 25 is outside 0-23)"},
      {"0 0 24 * * *", R"(cron: field 3 (hour) "24": 24 is outside 0-23)"},
      {"60 * * * * *", R"(cron: field 1 (second) "60": 60 is outside 0-59)"},
      {"1,60 * * * *", R"(cron: field 1 (minute) "1,60": 60 is outside 0-59)"},
      {"99999999999 * * * *", R"(cron: field 1 (minute) "99999999999": 99999999999 is outside 0-59)"},
      {"0 0 0 * *", R"(cron: field 3 (day of month) "0": 0 is outside 1-31)"},
      {"0 0 1 13 *", R"(cron: field 4 (month) "13": 13 is outside 1-12)"},
      {"0 0 1 * 8", R"(cron: field 5 (day of week) "8": 8 is outside 0-7)"},
      {"x * * * *", R"(cron: field 1 (minute) "x": "X" is not a number in 0-59)"},
      {"-5 * * * *", R"(cron: field 1 (minute) "-5": "" is not a number in 0-59)"},
      {"1-2-3 * * * *", R"(cron: field 1 (minute) "1-2-3": "2-3" is not a number in 0-59)"},
      {"0 0 1 jann *", R"(cron: field 4 (month) "jann": "JANN" is not a number in 1-12 or a name such as FEB)"},
      {"0 0 * * Monday",
       R"(cron: field 5 (day of week) "Monday": "MONDAY" is not a number in 0-7 or a name such as MON)"},
      {"1,,2 * * * *", R"(cron: field 1 (minute) "1,,2": a value is missing in the list)"},
      {"1, * * * *", R"(cron: field 1 (minute) "1,": a value is missing in the list)"},
      {"*/0 * * * *", R"(cron: field 1 (minute) "*/0": step 0 is outside 1-60)"},
      {"*/90 * * * *", R"(cron: field 1 (minute) "*/90": step 90 is outside 1-60)"},
      {"*/5/5 * * * *", R"(cron: field 1 (minute) "*/5/5": step "5/5" is not a number in 1-60)"},
      {"*/ * * * *", R"(cron: field 1 (minute) "*/": step "" is not a number in 1-60)"},
      {"? * * * *", R"(cron: field 1 (minute) "?": ? is for the day fields: write *)"},
      {"0 0 28-3 * *", R"(cron: field 3 (day of month) "28-3": 28 is after 3: write 28-31,1-3)"},
      {"0 0 L-31 * *", R"(cron: field 3 (day of month) "L-31": 31 is outside 1-30)"},
      {"0 0 L-0 * *", R"(cron: field 3 (day of month) "L-0": 0 is outside 1-30)"},
      {"0 0 L5 * *", R"(cron: field 3 (day of month) "L5": "L5" is not a number in 1-31)"},
      {"0 0 W * *", R"(cron: field 3 (day of month) "W": "" is not a number in 1-31)"},
      {"0 0 1-5W * *", R"(cron: field 3 (day of month) "1-5W": "1-5" is not a number in 1-31)"},
      {"0 0 15W/2 * *", R"(cron: field 3 (day of month) "15W/2": a step goes with *, a number or a range)"},
      {"0 0 ?/2 * *", R"(cron: field 3 (day of month) "?/2": a step goes with *, a number or a range)"},
      {"0 0 * * L", R"(cron: field 5 (day of week) "L": L is the last of a weekday: write 5L or FRIL)"},
      {"0 0 * * MON#6", R"(cron: field 5 (day of week) "MON#6": 6 is outside 1-5)"},
      {"0 0 * * MON#", R"(cron: field 5 (day of week) "MON#": "" is not a number in 1-5)"},
      {"0 0 * * 8L", R"(cron: field 5 (day of week) "8L": 8 is outside 0-7)"},
      {"0 L * * *", R"(cron: field 2 (hour) "L": "L" is not a number in 0-23)"},
      {"25 25 * * *", R"(cron: field 2 (hour) "25": 25 is outside 0-23)"},
      {"61 25 * * *", R"(cron: field 1 (minute) "61": 61 is outside 0-59)"},
  };
  for (const auto& [text, expected] : table) {
    EXPECT_EQ(error_of(text), expected);
  }
}

TEST(CronTest, AnInvalidExpressionIsRefusedWithTheFields) {
  const std::string how = ": write 5 (minute, hour, day of month, month, day of week) or 6 (second before them)";
  EXPECT_EQ(error_of(""), R"(cron: "" has 0 fields)" + how);
  EXPECT_EQ(error_of("  30s "), R"(cron: "30s" has 1 field)" + how);
  EXPECT_EQ(error_of("* *\t* *"), R"(cron: "* * * *" has 4 fields)" + how);
  EXPECT_EQ(error_of("0 0 0 1 1 ? 2026"), R"(cron: "0 0 0 1 1 ? 2026" has 7 fields)" + how);
  EXPECT_EQ(error_of("@dayly"),
            R"(cron: "@dayly" is none of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly)");
  for (const auto* text : {"* * * * \x01", "* * * * \xC3\xA9", "* * * * 1;2", "\"0 0 * * *\""}) {
    EXPECT_EQ(error_of(text), "cron: an expression has only letters, digits, blanks and * / , - # ? @");
  }
  EXPECT_EQ(error_of(std::string(1001, '*')), "cron: an expression has up to 1000 characters");
}

TEST(CronTest, ADateThatNeverComesIsRefused) {
  EXPECT_EQ(error_of("0 0 30 2 *"),
            R"(cron: field 3 (day of month) "30": no such day in the months of field 4 (month) "2")");
  EXPECT_EQ(error_of("0 0 0 31 4,jun,SEP ?"),
            R"(cron: field 4 (day of month) "31": no such day in the months of field 5 (month) "4,jun,SEP")");
  for (const auto* text : {"0 0 L-29 2 *", "0 0 30W 2 *", "0 0 31 4 *"}) EXPECT_FALSE(parse_cron(text).ok()) << text;
  for (const auto* text : {"0 0 29 2 *", "0 0 30,31 2,3 *", "0 0 30 2 MON", "0 0 L-28 2 *", "0 0 * 2 MON#5"}) {
    EXPECT_TRUE(ok(parse_cron(text))) << text;
  }
}

TEST(CronTest, EitherDayFieldMayMatchWhenBothRestrict) {
  EXPECT_EQ(days_of("0 0 13 * *", february), (Days{13}));
  EXPECT_EQ(days_of("0 0 * * FRI", february), (Days{6, 13, 20, 27}));
  EXPECT_EQ(days_of("0 0 1 * FRI", february), (Days{1, 6, 13, 20, 27}));
  EXPECT_EQ(days_of("0 0 */10 * FRI", february), (Days{1, 6, 11, 13, 20, 21, 27}));
  EXPECT_EQ(days_of("0 0 1-31 * FRI", february), (Days{6, 13, 20, 27})) << "every day is no restriction";
  EXPECT_EQ(days_of("0 0 1 * 0-6", february), (Days{1})) << "nor is every weekday";
  EXPECT_EQ(days_of("0 0 L * MON#1", february), (Days{2, 28}));
}

TEST(CronTest, LastDaysAreCountedFromTheEndOfTheMonth) {
  EXPECT_EQ(days_of("0 0 L * *", february), (Days{28}));
  EXPECT_EQ(days_of("0 0 L * *", 2028y / 2), (Days{29}));
  EXPECT_EQ(days_of("0 0 L-3,L * *", january), (Days{28, 31}));
  EXPECT_EQ(days_of("0 0 L-30 * *", january), (Days{1}));
  EXPECT_EQ(days_of("0 0 L-30 * *", february), (Days{}));
  EXPECT_EQ(days_of("0 0 31 * *", february), (Days{}));
}

TEST(CronTest, WeekdaysAreCountedWithinTheMonth) {
  EXPECT_EQ(days_of("0 0 * * MON#2", january), (Days{12}));
  EXPECT_EQ(days_of("0 0 * * THU#1,SAT#5", january), (Days{1, 31}));
  EXPECT_EQ(days_of("0 0 * * SUN#5", january), (Days{}));
  EXPECT_EQ(days_of("0 0 * * FRIL,SATL", january), (Days{30, 31}));
  EXPECT_EQ(days_of("0 0 * * 0L", february), (Days{22}));
}

TEST(CronTest, WorkdaysStayWithinTheMonth) {
  EXPECT_EQ(days_of("0 0 15W * *", january), (Days{15}));
  EXPECT_EQ(days_of("0 0 17W * *", january), (Days{16})) << "a Saturday: the Friday before";
  EXPECT_EQ(days_of("0 0 18W * *", january), (Days{19})) << "a Sunday: the Monday after";
  EXPECT_EQ(days_of("0 0 1W * *", february), (Days{2}));
  EXPECT_EQ(days_of("0 0 1W * *", 2026y / 8), (Days{3})) << "Saturday the first: not in July";
  EXPECT_EQ(days_of("0 0 31W * *", may), (Days{29})) << "Sunday the last: not in June";
  EXPECT_EQ(days_of("0 0 31W * *", february), (Days{})) << "there is no such day";
  EXPECT_EQ(days_of("0 0 LW * *", january), (Days{30}));
  EXPECT_EQ(days_of("0 0 LW * *", may), (Days{29}));
}

TEST(CronTest, TheNextLocalTimeIsTheFirstNotBefore) {
  const auto next = [](std::string_view text, local_seconds from, local_seconds until = local_days(2500y / 1 / 1)) {
    return next_local(parse_cron(text).value(), from, until);
  };
  const local_days new_year(2026y / 1 / 1);
  EXPECT_EQ(next("* * * * *", new_year), new_year);
  EXPECT_EQ(next("* * * * *", new_year + 1s), new_year + 1min);
  EXPECT_EQ(next("* * * * * *", new_year + 1s), new_year + 1s);
  EXPECT_EQ(next("15,45 30 9 * * *", new_year + 9h + 30min + 16s), new_year + 9h + 30min + 45s);
  EXPECT_EQ(next("15,45 30 9 * * *", new_year + 9h + 30min + 46s), new_year + 33h + 30min + 15s);
  EXPECT_EQ(next("59 23 31 12 *", new_year), local_days(2026y / 12 / 31) + 23h + 59min);
  EXPECT_EQ(next("0 0 1 1 *", new_year + 1s), local_days(2027y / 1 / 1));
  EXPECT_EQ(next("0 0 29 2 *", local_days(2096y / 3 / 1)), local_days(2104y / 2 / 29)) << "1900 and 2100 have none";
  EXPECT_EQ(next("0 0 * 2 MON#5", local_days(2072y / 3 / 1)), local_days(2112y / 2 / 29));
  EXPECT_EQ(next("0 0 1 * *", new_year + 1s, local_days(2026y / 2 / 1)), std::nullopt);
  EXPECT_EQ(next("0 0 1 * *", new_year + 1s, local_days(2026y / 2 / 1) + 1s), local_days(2026y / 2 / 1));
}

}  // namespace
}  // namespace leasehold::support

// Bad arguments about schedules are refused before they reach the store, on both stores alike.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

using namespace std::string_literals;

class ScheduleBadInputTest : public ScheduleStoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    set_schedule("refresh", every_ten_minutes());
    run_ = acquire("refresh");
    before_ = dump();
  }
  void TearDown() override { EXPECT_EQ(dump(), before_) << "a refused call changed the store"; }

  template <typename T>
  static void refused(const Result<T>& result) {
    EXPECT_TRUE(fails(result, Errc::invalid_argument));
  }
  /// Why a definition is refused.
  std::string why_not(const ScheduleOptions& options) {
    const auto saved = schedules().set("new", options);
    refused(saved);
    return saved ? "" : saved.error().message;
  }
  std::string why_not_cron(const std::string& expression, const std::string& zone = "UTC") {
    return why_not(with_cron(expression, zone));
  }

  ScheduleRun run_;

 private:
  std::string before_;
};
LEASEHOLD_ON_BOTH_STORES(ScheduleBadInputTest);

TEST_P(ScheduleBadInputTest, NamesThatAreNoNames) {
  for (const auto& name : {""s, std::string(513, 'x'), "a\0b"s, "line\nbreak"s, "\x7f"s, "\xFF"s}) {
    SCOPED_TRACE("name of " + std::to_string(name.size()) + " bytes");
    refused(schedules().set(name, every_ten_minutes()));
    refused(schedules().acquire(name));
    refused(schedules().heartbeat(name, run_.grant.token));
    refused(schedules().settle(name, run_.grant.token));
    refused(schedules().release(name, run_.grant.token));
    refused(schedules().trigger(name));
    refused(schedules().pause(name));
    refused(schedules().resume(name));
    refused(schedules().rename(name, "new"));
    refused(schedules().rename("refresh", name));
    refused(schedules().remove(name));
    refused(schedules().fire(name));
    refused(schedules().show(name));
    refused(schedules().next(name));
    refused(schedules().history(name));
    refused(schedules().hold(name));
    if (name.empty()) continue;  // of a request: one is drawn; of a queue: none
    ScheduleAcquireOptions request{};
    request.request_id = name;
    refused(schedules().acquire("refresh", request, by("ann")));
    why_not({.rule = every(1h), .queue = name});
  }
}

TEST_P(ScheduleBadInputTest, ABadCronExpressionNamesTheField) {
  EXPECT_EQ(why_not_cron("0 25 * * *"), "cron: field 2 (hour) \"25\": 25 is outside 0-23");
  for (const auto& [expression, words] :
       {std::pair{"60 * * * *", "field 1 (minute)"}, std::pair{"* * 32 * *", "field 3 (day of month)"},
        std::pair{"* * * 13 *", "field 4 (month)"}, std::pair{"* * * * MOO", "field 5 (day of week)"},
        std::pair{"61 * * * * *", "field 1 (second)"}, std::pair{"* * * *", "4 fields"},
        std::pair{"0 0 30 2 *", "no such day"}, std::pair{"@reboot", "@reboot"}, std::pair{"", "0 fields"}}) {
    EXPECT_NE(why_not_cron(expression).find(words), std::string::npos)
        << expression << ": " << why_not_cron(expression);
  }
}

TEST_P(ScheduleBadInputTest, AnUnknownZoneSuggestsAKnownOne) {
  EXPECT_NE(why_not_cron("0 9 * * *", "Europe/Berln").find("did you mean Europe/Berlin"), std::string::npos)
      << why_not_cron("0 9 * * *", "Europe/Berln");
  for (const std::string zone : {"", "Mars/Olympus", "../../etc/passwd", "/etc/localtime", "+02:00"}) {
    EXPECT_NE(why_not_cron("0 9 * * *", zone), "") << zone;
  }
}

TEST_P(ScheduleBadInputTest, LengthsThatCannotBe) {
  why_not({.rule = every(-1s)});
  why_not({.rule = every(15min, 10min)});
  EXPECT_NE(why_not({.rule = every(0s)}).find("pause is 0s, not between 1s"), std::string::npos);
  why_not({.rule = every(999ms, 10min)});
  why_not({.rule = every(-5min, 10min)});
  why_not({.rule = every(1h), .on_fail = Between{40min, 20min}});
  why_not({.rule = every(1h), .on_fail = Between{-1s, 1s}});
  why_not({.rule = every(1h), .ttl = 1ms});
  why_not({.rule = every(1h), .ttl = 24h * 31});
  why_not({.rule = every(1h), .misfire_after = -1s});
  why_not({.rule = CronRule{.expression = "0 9 * * *", .jitter = -1s}});
  ScheduleAcquireOptions short_lived{};
  short_lived.ttl = 1ms;
  refused(schedules().acquire("refresh", short_lived, by("ann")));
  refused(schedules().heartbeat("refresh", run_.grant.token, 1ms));
  refused(schedules().heartbeat("refresh", run_.grant.token, -1s));
}

TEST_P(ScheduleBadInputTest, TasksThatCannotBe) {
  EXPECT_NE(why_not({.rule = every(1h), .queue = "mail", .command = {"true"}}).find("not both"), std::string::npos);
  why_not({.rule = every(1h), .payload = "without a queue"});
  why_not({.rule = every(1h), .queue = "mail", .payload = std::string(1024 * 1024 + 1, 'x')});
  why_not({.rule = every(1h), .command = {""}});
  why_not({.rule = every(1h), .command = {"echo", "\xFF"}});
  why_not({.rule = every(1h), .command = {"echo", "a\0b"s}});
  why_not({.rule = every(1h), .command = {"echo", std::string(256 * 1024, 'x')}});
}

TEST_P(ScheduleBadInputTest, VerdictsReasonsAndCountsThatCannotBe) {
  const auto finish_with = [&](const RunResult& result) {
    refused(schedules().settle("refresh", run_.grant.token, result));
  };
  finish_with({.ok = true, .error = "an error of what went well"});
  for (const auto& counts : {"rows 7"s, "{"s, "{'a':1}"s, "01"s, "1 2"s, "\"\xFF\""s}) finish_with({.counts = counts});
  finish_with({.counts = "\"" + std::string(1024 * 1024, 'x') + "\""});
  for (const auto& reason : {std::string(4097, 'x'), "a\0b"s, "\xFF"s}) refused(schedules().pause("refresh", reason));
  refused(schedules().list({.max = 0}));
  refused(schedules().history("refresh", {.max = -1}));
  refused(schedules().due(0));
  refused(schedules().next("refresh", 0));
}

}  // namespace
}  // namespace leasehold::support

// How schedules and their runs look as JSON.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/noon.h"
#include "wire/wire.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

ScheduleInfo refresh() {
  ScheduleInfo schedule;
  schedule.name = "refresh";
  schedule.options.rule = every(10min, 15min);
  schedule.next_run_at = noon + 90s;
  schedule.next_cause = "scheduled";
  schedule.wall_now = noon;
  return schedule;
}

TEST(SchedulesJson, AScheduleTellsItsRuleAndWhenItIsDue) {
  const auto parsed = boost::json::parse(wire::to_json(refresh()));
  EXPECT_EQ(parsed.at("state"), "waiting");
  EXPECT_EQ(parsed.at("every_least_seconds"), 600);
  EXPECT_EQ(parsed.at("every_most_seconds"), 900);
  EXPECT_EQ(parsed.at("next_run_at"), "1970-01-01T12:01:30Z");
  EXPECT_EQ(parsed.at("next_in_seconds"), 90);
  for (const auto* member :
       {"cron", "zone", "fail_least_seconds", "queue", "command", "paused_at", "current", "last"}) {
    EXPECT_TRUE(parsed.at(member).is_null()) << member;
  }
}

TEST(SchedulesJson, AJobsPayloadMayBeAnyBytes) {
  auto schedule = refresh();
  schedule.options.rule = CronRule{.expression = "@daily", .zone = "Europe/Berlin", .jitter = 5s};
  schedule.options.queue = "mail";
  schedule.options.payload = "\xFF";
  const auto parsed = boost::json::parse(wire::to_json(schedule));
  EXPECT_TRUE(parsed.at("every_least_seconds").is_null());
  EXPECT_EQ(parsed.at("cron"), "@daily");
  EXPECT_EQ(parsed.at("jitter_seconds"), 5);
  EXPECT_EQ(parsed.at("queue"), "mail");
  EXPECT_EQ(parsed.at("payload_base64"), "/w==");
}

TEST(SchedulesJson, CountsAreToldAsTheJsonTheyAre) {
  auto schedule = refresh();
  RunInfo run;
  run.schedule = "refresh";
  run.outcome = "ok";
  run.counts = R"({"rows":123456789012345678901234567890})";
  run.started_at = noon - 10s;
  run.finished_at = noon - 8s;
  schedule.last = run;
  const auto text = wire::to_json(schedule);
  EXPECT_NE(text.find(R"("counts":{"rows":123456789012345678901234567890})"), std::string::npos) << text;
  EXPECT_EQ(boost::json::parse(text).at("last").at("took_seconds"), 2);
  run.counts = "";
  EXPECT_TRUE(boost::json::parse(wire::to_json(run)).at("counts").is_null());
}

TEST(SchedulesJson, ASkipIsNoErrorAndSaysWhatAPersonAsksNext) {
  const Error not_due{.code = Errc::not_due, .message = "", .retry_at = noon, .retry_in = 72s};
  EXPECT_EQ(wire::to_json(wire::SkippedRun{"refresh", not_due}),
            R"({"ok":true,"skipped":true,"reason":"not_due","schedule":"refresh",)"
            R"("next_run_at":"1970-01-01T12:00:00Z","next_in_seconds":72})");
  LeaseInfo lease;
  lease.holder = {.name = "ana", .host = "box"};
  lease.acquired_at = noon - 60s;
  lease.expires_at = noon + 30s;
  lease.store_now = noon;
  const Error held{.code = Errc::held, .message = "", .current = lease};
  EXPECT_EQ(wire::to_json(wire::SkippedRun{"refresh", held}),
            R"({"ok":true,"skipped":true,"reason":"held","schedule":"refresh","holder":"ana","host":"box",)"
            R"("since":"1970-01-01T11:59:00Z","frees_at":"1970-01-01T12:00:30Z","frees_in_seconds":30})");
  Error paused{.code = Errc::paused, .message = ""};
  paused.detail = {{"paused_at", noon}, {"pause_reason", "holidays"}};
  EXPECT_EQ(wire::to_json(wire::SkippedRun{"refresh", paused}),
            R"({"ok":true,"skipped":true,"reason":"paused","schedule":"refresh",)"
            R"("since":"1970-01-01T12:00:00Z","paused_reason":"holidays"})");
  paused.detail.clear();
  EXPECT_EQ(boost::json::parse(wire::to_json(wire::SkippedRun{"refresh", paused})).at("since"), nullptr);
}

}  // namespace
}  // namespace leasehold::support

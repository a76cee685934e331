// How schedules and their runs look as JSON.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/noon.h"
#include "model/json.h"

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

TEST(SchedulesJson, AScheduleShowsItsRuleAndWhenItIsDue) {
  const auto parsed = boost::json::parse(model::to_json(refresh()));
  EXPECT_EQ(parsed.at("state"), "waiting");
  EXPECT_EQ(parsed.at("every_min_seconds"), 600);
  EXPECT_EQ(parsed.at("every_max_seconds"), 900);
  EXPECT_EQ(parsed.at("next_run_at"), "1970-01-01T12:01:30Z");
  EXPECT_EQ(parsed.at("next_run_in_seconds"), 90);
  for (const auto* member : {"cron", "zone", "fail_min_seconds", "queue", "command", "paused_at", "held_by", "last"}) {
    EXPECT_TRUE(parsed.at(member).is_null()) << member;
  }
}

TEST(SchedulesJson, AJobsPayloadMayBeAnyBytes) {
  auto schedule = refresh();
  schedule.options.rule = CronRule{.expression = "@daily", .zone = "Europe/Berlin", .jitter = 5s};
  schedule.options.queue = "mail";
  schedule.options.payload = "\xFF";
  const auto parsed = boost::json::parse(model::to_json(schedule));
  EXPECT_TRUE(parsed.at("every_min_seconds").is_null());
  EXPECT_EQ(parsed.at("cron"), "@daily");
  EXPECT_EQ(parsed.at("jitter_seconds"), 5);
  EXPECT_EQ(parsed.at("queue"), "mail");
  EXPECT_EQ(parsed.at("payload_base64"), "/w==");
}

TEST(SchedulesJson, CountsAreWrittenAsJson) {
  auto schedule = refresh();
  RunInfo run;
  run.name = "refresh";
  run.outcome = RunOutcome::completed;
  run.counts = R"({"rows":123456789012345678901234567890})";
  run.started_at = noon - 10s;
  run.finished_at = noon - 8s;
  schedule.last = run;
  const auto text = model::to_json(schedule);
  EXPECT_NE(text.find(R"("counts":{"rows":123456789012345678901234567890})"), std::string::npos) << text;
  EXPECT_EQ(boost::json::parse(text).at("last").at("took_seconds"), 2);
  run.counts = "";
  EXPECT_TRUE(boost::json::parse(model::to_json(run)).at("counts").is_null());
}

TEST(SchedulesJson, ARefusalIsAnErrorThatAnswersTheNextQuestion) {
  const Error not_due{.code = Errc::not_due, .message = "m", .retry_at = noon, .retry_in = 72s};
  EXPECT_EQ(model::to_json(not_due),
            R"({"error":{"code":"not_due","message":"m","retry_at":"1970-01-01T12:00:00Z","retry_in_seconds":72}})");
  LeaseInfo lease;
  lease.state = LeaseState::running;
  lease.holder = {.name = "ana", .host = "box"};
  lease.acquired_at = noon - 60s;
  lease.expires_at = noon + 30s;
  lease.store_now = noon;
  const auto held = boost::json::parse(model::to_json(Error{.code = Errc::held, .message = "m", .held_by = lease}));
  EXPECT_EQ(held.at("error").at("retry_in_seconds"), 30);
  EXPECT_EQ(held.at("error").at("held_by").at("holder").at("name"), "ana");
  EXPECT_EQ(held.at("error").at("held_by").at("since"), "1970-01-01T11:59:00Z");
  EXPECT_EQ(held.at("error").at("held_by").at("until"), "1970-01-01T12:00:30Z");
  Error paused{.code = Errc::paused, .message = "m"};
  EXPECT_EQ(model::to_json(paused), R"({"error":{"code":"paused","message":"m"}})");
  paused.detail = {{"paused_at", noon}, {"pause_reason", "holidays"}, {"paused_for", Duration(5s)}};
  EXPECT_EQ(model::to_json(paused),
            R"({"error":{"code":"paused","message":"m","pause_reason":"holidays","paused_at":"1970-01-01T12:00:00Z",)"
            R"("paused_for_seconds":5}})");
}

}  // namespace
}  // namespace leasehold::support

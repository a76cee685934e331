// Schedules that put jobs into a queue: job, occurrence and the next moment in one commit.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleFireTest : public ScheduleStoreTest {
 protected:
  Fired fire(const std::string& name = "report") { return must(schedules().fire(name)); }
};
LEASEHOLD_ON_BOTH_STORES(ScheduleFireTest);

TEST_P(ScheduleFireTest, AnOccurrenceBecomesAJob) {
  set_schedule("report", into_a_queue(daily()));
  go_to("2026-03-02T09:00:07Z");
  const auto fired = fire();
  EXPECT_EQ(fired.occurrence, at("2026-03-02T09:00:00Z"));
  EXPECT_EQ(fired.cause, "scheduled");
  EXPECT_EQ(fired.skipped, 0);
  const auto run = history("report").at(0);
  EXPECT_EQ(line_of(run), "2026-03-02T09:00:00Z scheduled enqueued");
  EXPECT_EQ(run.job_id, fired.job_id);
  EXPECT_EQ(run.took(), Duration(0));
  EXPECT_EQ(info("report").last->job_id, fired.job_id);
  EXPECT_EQ(next_run("report"), at("2026-03-03T09:00:00Z"));
  const auto job = claim_one(jobs(), "mail", "ann");
  EXPECT_EQ(job.id, fired.job_id);
  EXPECT_EQ(job.payload, "news");
  EXPECT_EQ(job.schedule, "report");
  EXPECT_EQ(job.occurrence, fired.occurrence);
  const auto shown = must(jobs().show(fired.job_id));
  EXPECT_EQ(shown.schedule, "report");
  EXPECT_EQ(shown.occurrence, fired.occurrence);
  add(jobs(), "other");
  const auto other = must(jobs().show(add(jobs(), "other")));
  EXPECT_EQ(shown.priority, other.priority) << "a job like any other";
  EXPECT_EQ(other.schedule, "");
  EXPECT_FALSE(other.occurrence);
  EXPECT_TRUE(ok(jobs().complete(job.id, job.token)));
}

TEST_P(ScheduleFireTest, AmongManyItsJobsKnowWhereTheyComeFrom) {
  set_schedule("report", into_a_queue(every_ten_minutes()));
  add(jobs(), "mail");
  const auto first = fire();
  add(jobs(), "mail");
  advance(10min);
  const auto second = fire();
  const auto grant = must(jobs().claim("mail", {.max = 10, .request_id = "once"}));
  ASSERT_EQ(grant.jobs.size(), 4U);
  const auto again = must(jobs().claim("mail", {.max = 10, .request_id = "once"}));
  ASSERT_EQ(again.jobs.size(), 4U);
  for (const auto* claimed : {&grant.jobs, &again.jobs}) {
    for (const auto& job : *claimed) {
      const bool fired = job.id == first.job_id || job.id == second.job_id;
      EXPECT_EQ(job.schedule, fired ? "report" : "") << job.id;
      EXPECT_EQ(job.occurrence.has_value(), fired) << job.id;
    }
  }
  EXPECT_EQ(grant.jobs.at(1).occurrence, first.occurrence);
  EXPECT_EQ(grant.jobs.at(3).occurrence, second.occurrence);
}

TEST_P(ScheduleFireTest, AJobThatComesBackStillKnows) {
  set_schedule("report", into_a_queue(every_ten_minutes()));
  const auto fired = fire();
  must(store().queues().set("mail", {.max_running = 5}));
  auto job = claim_one(jobs(), "mail", "ann");
  must(jobs().release(job.id, job.token));
  job = claim_one(jobs(), "mail", "bob");
  EXPECT_EQ(job.schedule, "report") << "also from a queue with limits";
  EXPECT_EQ(job.occurrence, fired.occurrence);
}

TEST_P(ScheduleFireTest, APauseCountsFromTheFiring) {
  set_schedule("report", into_a_queue(every_ten_minutes()));
  fire();
  EXPECT_TRUE(not_due_until(schedules().fire("report"), now() + 10min));
  advance(10min);
  EXPECT_EQ(fire().occurrence, now());
}

TEST_P(ScheduleFireTest, AScheduleThatIsNotDueOrHasNoQueueDoesNotFire) {
  set_schedule("run", every_ten_minutes());
  set_schedule("report", into_a_queue(daily()));
  const auto before = dump();
  EXPECT_TRUE(fails(schedules().fire("run"), Errc::not_found));
  EXPECT_TRUE(not_due_until(schedules().fire("report"), at("2026-03-02T09:00:00Z")));
  go_to("2026-03-02T08:59:59.999999Z");
  EXPECT_TRUE(fails(schedules().fire("report"), Errc::not_due));
  EXPECT_EQ(dump(), before);
}

TEST_P(ScheduleFireTest, MissedOccurrencesGoByTheirPolicy) {
  for (const auto policy : {Misfire::skip, Misfire::once, Misfire::all}) {
    set_schedule(to_string(policy), into_a_queue(daily(policy)));
  }
  go_to("2026-03-05T12:00:00Z");
  EXPECT_TRUE(not_due_until(schedules().fire("skip"), at("2026-03-06T09:00:00Z")));
  EXPECT_EQ(lines("skip"), Words{"2026-03-02T09:00:00Z scheduled skipped 4 through 2026-03-05T09:00:00Z (misfire)"});
  EXPECT_EQ(fire("once").skipped, 3);
  EXPECT_EQ(lines("once"), (Words{"2026-03-05T09:00:00Z scheduled enqueued",
                                  "2026-03-02T09:00:00Z scheduled skipped 3 through 2026-03-04T09:00:00Z (misfire)"}));
  for (int day = 2; day <= 5; ++day) {
    EXPECT_EQ(fire("all").occurrence, at("2026-03-01T09:00:00Z") + (day - 1) * 24h);
  }
  EXPECT_TRUE(fails(schedules().fire("all"), Errc::not_due));
  EXPECT_EQ(must(queues().show("mail")).available, 5);
}

TEST_P(ScheduleFireTest, ATriggerFires) {
  set_schedule("report", into_a_queue(daily()));
  must(schedules().trigger("report"));
  const auto fired = fire();
  EXPECT_EQ(fired.cause, "triggered");
  EXPECT_EQ(fired.occurrence, now());
  EXPECT_TRUE(not_due_until(schedules().fire("report"), at("2026-03-02T09:00:00Z")));
}

TEST_P(ScheduleFireTest, TheLimitsOfTheQueueAreForThoseWhoClaim) {
  must(queues().set("mail", {.max_running = 1}));
  must(queues().pause("mail", "holidays"));
  set_schedule("report", into_a_queue(with_cron("* * * * *")));
  for (int i = 0; i < 2; ++i) {
    advance(1min);
    fire();
  }
  EXPECT_TRUE(fails(jobs().claim("mail", claiming(), by("ann")), Errc::paused));
  must(queues().resume("mail"));
  claim_one(jobs(), "mail", "ann");
  EXPECT_TRUE(fails(jobs().claim("mail", claiming(), by("bob")), Errc::at_capacity));
}

TEST_P(ScheduleFireTest, AFiringAndARunInProgressDoNotAffectEachOther) {
  set_schedule("report", into_a_queue(every_ten_minutes()));
  const auto run = acquire("report");
  advance(1s);
  must(schedules().trigger("report"));
  fire();
  EXPECT_EQ(outcomes("report"), (Words{"enqueued", "running"}));
  EXPECT_TRUE(ok(beat(run))) << "its token is not the latest, but its run is its own";
  EXPECT_EQ(info("report").held_by->token, run.grant.token);
  EXPECT_TRUE(ok(settle(run)));
  EXPECT_EQ(outcomes("report"), (Words{"enqueued", "completed"}));
}

TEST_P(ScheduleFireTest, WithoutAPayloadTheJobHasAnEmptyOne) {
  set_schedule("report", {.rule = every(1h), .queue = "mail"});
  fire();
  EXPECT_EQ(claim_one(jobs(), "mail", "ann").payload, "");
}

}  // namespace
}  // namespace leasehold::support

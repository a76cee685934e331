// JobContext::save: what it answers, and what the handler learns.
#include <gtest/gtest.h>

#include <atomic>

#include "support/running_worker.h"
#include "support/runtime_fixture.h"

namespace leasehold::support {
namespace {

class WorkerSaveTest : public RuntimeTest {
 protected:
  /// Lets one handler save this, and returns what it got; `then` decides about the job.
  Result<void> save(const std::string& cursor, const Handler& then) {
    Result<void> saved;
    RunningWorker worker(fragile(),
                         {{"mail",
                           [&](const Job& job, JobContext& context) {
                             saved = context.save(cursor);
                             return then(job, context);
                           }}},
                         {.until = WorkUntil::empty});
    static_cast<void>(worker.finish());
    return saved;
  }
};

TEST_F(WorkerSaveTest, ReturnsWhenTheCursorIsInTheStore) {
  const auto id = add("mail", 1)[0];
  std::string stored;
  const auto saved = save(R"({"row":7})", [&](const Job&, JobContext& context) {
    stored = show(id).cursor;
    EXPECT_FALSE(context.stop_requested());
    return Verdict::snooze(1h);
  });
  EXPECT_TRUE(ok(saved));
  EXPECT_EQ(stored, R"({"row":7})");
  advance(2h);
  EXPECT_EQ(claim_one(store().jobs(), "mail", "bob").cursor, R"({"row":7})");
}

TEST_F(WorkerSaveTest, RefusesWhatIsNotJsonAndTheJobGoesOn) {
  const auto id = add("mail", 1)[0];
  const auto saved = save("row 7", [](const Job&, JobContext& context) {
    EXPECT_FALSE(context.stop_requested());
    return Verdict::complete();
  });
  EXPECT_TRUE(fails(saved, Errc::invalid_argument));
  EXPECT_EQ(show(id).state, JobState::completed);
}

TEST_F(WorkerSaveTest, ALostJobSavesNothingAndIsStopped) {
  const auto id = add("mail", 1)[0];
  faults().refuse_next({.code = Errc::lost, .message = "gone", .lost_reason = LostReason::expired}, 2, "job_heartbeat");
  const auto saved = save("7", [&](const Job&, JobContext& context) {
    EXPECT_EQ(wait_for_stop(context), StopReason::lost);
    EXPECT_TRUE(fails(context.save("8"), Errc::lost));
    return Verdict::complete();
  });
  EXPECT_TRUE(fails(saved, Errc::lost));
  EXPECT_EQ(show(id).cursor, "");
}

TEST_F(WorkerSaveTest, ASaveIsRepeatedWhileTheStoreIsAway) {
  const auto id = add("mail", 1)[0];
  faults().fail_next(Fault::fail_before_send, 2, "job_heartbeat");
  const auto saved = save("7", [](const Job&, JobContext&) { return Verdict::snooze(1h); });
  EXPECT_TRUE(ok(saved));
  EXPECT_EQ(faults().calls("job_heartbeat"), 3);
  EXPECT_EQ(show(id).cursor, "7");
}

TEST_F(WorkerSaveTest, TheAnswerReportsACancelRequest) {
  const auto id = add("mail", 1)[0];
  Result<void> saved;
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job&, JobContext& context) {
                           EXPECT_TRUE(ok(store().jobs().cancel(id)));
                           saved = context.save("7");
                           EXPECT_EQ(wait_for_stop(context), StopReason::cancelled);
                           return Verdict::release();
                         }}},
                       {.until = WorkUntil::empty});
  ASSERT_TRUE(ok(worker.finish()));
  EXPECT_TRUE(ok(saved));
  EXPECT_EQ(show(id).state, JobState::cancelled);
}

}  // namespace
}  // namespace leasehold::support

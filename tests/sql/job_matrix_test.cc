// Waits about jobs: the lock matrix of docs/semantics.md, pair by pair. Alice does the first thing in a
// transaction that stays open, bob the second. Two jobs are held under one worker's lease, in two grants; both speak of
// the first, and a third job waits.
#include <gtest/gtest.h>

#include <map>

#include "sql/matrix_fixture.h"

namespace leasehold::support {
namespace {

std::map<std::string, std::string> job_acts() {
  return {
      {"attach",
       "outcome || coalesce(' ' || why, '') FROM leasehold_internal.job_claim('q', p_attach => LEASE, "
       "p_instance => 'i')"},
      {"settle", "outcome || coalesce(' ' || why, '') FROM leasehold_internal.job_settle(JOB, TOKEN, 'complete')"},
      {"fail", "outcome || coalesce(' ' || why, '') FROM leasehold_internal.job_settle(JOB, TOKEN, 'fail')"},
      {"settle other",
       "outcome || coalesce(' ' || why, '') FROM leasehold_internal.job_settle(OTHER, LATER, 'complete')"},
      {"settle both",
       "cardinality(settled) FROM leasehold_internal.job_settle_many('complete', '{JOB,OTHER}', '{TOKEN,LATER}')"},
      {"release both",
       "cardinality(settled) FROM leasehold_internal.job_settle_many('release', '{OTHER,JOB}', '{LATER,TOKEN}')"},
      {"heartbeat", "outcome || coalesce(' ' || why, '') FROM leasehold_internal.job_heartbeat(JOB, TOKEN)"},
      {"fence", "leasehold_internal.job_fence(JOB, TOKEN)"},
      {"extend", "outcome || coalesce(' ' || why, '') FROM leasehold_internal.lease_extend(LEASE, 'i')"},
      {"takeover", "outcome FROM leasehold_internal.job_claim('q', p_holder => 'carol')"},
      {"close", "outcome || ' ' || jobs FROM leasehold_internal.lease_close(LEASE, 'i')"},
      {"recover", "jobs FROM leasehold_internal.recover()"},
      {"cancel", "outcome FROM leasehold_internal.job_cancel(JOB)"},
      {"show", "state FROM leasehold_internal.job_show(JOB)"},
  };
}

class JobMatrixTest : public MatrixTest {
 protected:
  JobMatrixTest() : MatrixTest(job_acts()) {}

  void SetUp() override {
    observer_.run(here("SELECT leasehold_internal.job_enqueue('q', p) FROM unnest('{a,b,c}'::bytea[]) AS p"));
    words_["LEASE"] =
        observer_.scalar(here("SELECT lease_id FROM leasehold_internal.lease_open('worker', 'alice', interval '30 "
                              "seconds', p_instance => 'i')"));
    claim("JOB", "TOKEN");
    claim("OTHER", "LATER");
  }
  void claim(const std::string& job, const std::string& token) {
    const auto row = observer_.rows(
        filled("job_ids[1], token FROM leasehold_internal.job_claim('q', p_attach => LEASE, p_instance => 'i')"));
    words_[job] = row.at(0)[0].value();
    words_[token] = row.at(0)[1].value();
  }
  std::string count(const std::string& what) {
    return observer_.scalar(here("SELECT count(*) FROM leasehold_internal." + what));
  }

  /// Each of the three jobs is in one place, and nothing hangs on a lease that has ended.
  void expect_sound() override {
    EXPECT_EQ(observer_.scalar(here(
                  "SELECT count(*) FROM leasehold_internal.job AS j WHERE 1 <> "
                  "(SELECT count(*) FROM leasehold_internal.ready AS r WHERE r.job_id = j.id) + "
                  "(SELECT count(*) FROM leasehold_internal.bundle AS b WHERE j.id BETWEEN b.first_id AND b.last_id) + "
                  "(SELECT count(*) FROM leasehold_internal.deferred AS d WHERE d.job_id = j.id) + "
                  "(SELECT count(*) FROM leasehold_internal.settled AS s WHERE s.job_id = j.id AND s.final) + "
                  "(SELECT count(*) FROM leasehold_internal.job_grant AS g WHERE j.id = ANY (g.jobs) AND NOT EXISTS "
                  "(SELECT FROM leasehold_internal.settled AS s WHERE s.job_id = j.id AND s.token = g.token))")),
              "0");
    EXPECT_EQ(
        count("job_grant AS g JOIN leasehold_internal.lease AS l ON l.id = g.lease_id WHERE l.ended_at IS NOT NULL"),
        "0");
  }
};

TEST_P(JobMatrixTest, EachPairWaitsOrPassesAsPromised) { expect_as_promised(); }

TEST_P(JobMatrixTest, ARolledBackActLeavesNoTrace) { expect_sound_after_rollback(); }

INSTANTIATE_TEST_SUITE_P(
    Living, JobMatrixTest,
    ::testing::Values(Pair{"AttachThenAttach", "attach", "attach", Bob::passes, "busy"},
                      Pair{"AttachThenSettle", "attach", "settle", Bob::passes, "settled"},
                      Pair{"AttachThenHeartbeat", "attach", "heartbeat", Bob::passes, "extended"},
                      Pair{"AttachThenClose", "attach", "close", Bob::waits, "closed 3"},
                      Pair{"SettleThenAttach", "settle", "attach", Bob::passes, "granted"},
                      Pair{"SettleThenSettle", "settle", "settle", Bob::waits, "settled"},
                      Pair{"SettleThenFail", "settle", "fail", Bob::waits, "lost finished"},
                      Pair{"SettleThenSettleOther", "settle", "settle other", Bob::passes, "settled"},
                      Pair{"SettleThenHeartbeat", "settle", "heartbeat", Bob::passes, "extended"},
                      Pair{"SettleThenExtend", "settle", "extend", Bob::passes, "extended"},
                      Pair{"SettleThenClose", "settle", "close", Bob::waits, "closed 1"},
                      Pair{"SettleThenCancel", "settle", "cancel", Bob::waits, "final"},
                      Pair{"SettleThenShow", "settle", "show", Bob::passes, "running"},
                      Pair{"CancelThenFail", "cancel", "fail", Bob::waits, "settled"},
                      Pair{"FenceThenHeartbeat", "fence", "heartbeat", Bob::passes, "extended"},
                      Pair{"FenceThenFence", "fence", "fence", Bob::passes, ""},
                      Pair{"FenceThenSettle", "fence", "settle", Bob::waits, "settled"},
                      Pair{"FenceThenSettleOther", "fence", "settle other", Bob::passes, "settled"},
                      Pair{"FenceThenClose", "fence", "close", Bob::waits, "closed 2"},
                      Pair{"FenceThenTakeover", "fence", "takeover", Bob::passes, "granted", Expiry::before_alice},
                      Pair{"HeartbeatThenSettle", "heartbeat", "settle", Bob::passes, "settled"},
                      Pair{"HeartbeatThenAttach", "heartbeat", "attach", Bob::passes, "granted"},
                      Pair{"HeartbeatThenHeartbeat", "heartbeat", "heartbeat", Bob::waits, "extended"},
                      Pair{"HeartbeatThenClose", "heartbeat", "close", Bob::waits, "closed 2"}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Batches, JobMatrixTest,
    ::testing::Values(Pair{"SettleBothThenAttach", "settle both", "attach", Bob::passes, "granted"},
                      Pair{"SettleBothThenSettle", "settle both", "settle", Bob::waits, "settled"},
                      Pair{"SettleBothThenFail", "settle both", "fail", Bob::waits, "lost finished"},
                      Pair{"SettleBothThenExtend", "settle both", "extend", Bob::passes, "extended"},
                      Pair{"SettleBothThenReleaseBoth", "settle both", "release both", Bob::waits, "0"},
                      Pair{"SettleThenReleaseBoth", "settle", "release both", Bob::waits, "1"},
                      Pair{"ReleaseBothThenSettleBoth", "release both", "settle both", Bob::waits, "0"},
                      Pair{"SettleBothThenClose", "settle both", "close", Bob::waits, "closed 0"},
                      Pair{"CloseThenSettleBoth", "close", "settle both", Bob::waits, "0"},
                      Pair{"TakeoverThenSettleBoth", "takeover", "settle both", Bob::waits, "0", Expiry::before_alice},
                      Pair{"RecoverThenSettleBoth", "recover", "settle both", Bob::waits, "0", Expiry::before_alice}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Endings, JobMatrixTest,
    ::testing::Values(
        Pair{"CloseThenAttach", "close", "attach", Bob::waits, "lost finished"},
        Pair{"CloseThenSettle", "close", "settle", Bob::waits, "lost expired"},
        Pair{"CloseThenHeartbeat", "close", "heartbeat", Bob::waits, "lost expired"},
        Pair{"CloseThenExtend", "close", "extend", Bob::waits, "lost finished"},
        Pair{"CloseThenClose", "close", "close", Bob::waits, "closed 0"},
        Pair{"CloseThenRecover", "close", "recover", Bob::passes, "0", Expiry::before_alice},
        Pair{"SettleThenTakeover", "settle", "takeover", Bob::passes, "granted", Expiry::before_alice},
        Pair{"SettleThenRecover", "settle", "recover", Bob::passes, "0", Expiry::before_alice},
        Pair{"TakeoverThenAttach", "takeover", "attach", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"TakeoverThenSettle", "takeover", "settle", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"TakeoverThenHeartbeat", "takeover", "heartbeat", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"TakeoverThenClose", "takeover", "close", Bob::waits, "lost 0", Expiry::before_alice},
        Pair{"TakeoverThenTakeover", "takeover", "takeover", Bob::passes, "granted", Expiry::before_alice},
        Pair{"TakeoverThenRecover", "takeover", "recover", Bob::passes, "0", Expiry::before_alice},
        Pair{"RecoverThenSettle", "recover", "settle", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"RecoverThenHeartbeat", "recover", "heartbeat", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"RecoverThenAttach", "recover", "attach", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"RecoverThenTakeover", "recover", "takeover", Bob::passes, "granted", Expiry::before_alice},
        Pair{"RecoverThenRecover", "recover", "recover", Bob::passes, "0", Expiry::before_alice}),
    pair_name);

}  // namespace
}  // namespace leasehold::support

// Who waits for whom about jobs: the lock matrix of docs/semantics.md, pair by pair. Alice does the first thing in a
// transaction that stays open, bob the second. Two jobs are held under one worker's lease, in two grants; both speak of
// the first, and a third job waits.
#include <gtest/gtest.h>

#include <map>

#include "sql/matrix_fixture.h"

namespace leasehold::support {
namespace {

struct Pair {
  const char* name;
  const char* first;   ///< an act of alice
  const char* second;  ///< an act of bob
  Bob bob;
  const char* told;      ///< what bob is told in the end
  bool expired = false;  ///< the lease has run out before alice comes
};

/// For gtest: how a parameter looks in the name of a test.
void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }

const std::map<std::string, std::string>& acts() {
  static const std::map<std::string, std::string> all = {
      {"attach",
       "SELECT outcome || coalesce(' ' || why, '') FROM leasehold.job_claim('q', attach => LEASE, "
       "instance => 'i')"},
      {"settle", "SELECT outcome || coalesce(' ' || why, '') FROM leasehold.job_complete(JOB, TOKEN)"},
      {"fail", "SELECT outcome || coalesce(' ' || why, '') FROM leasehold.job_fail(JOB, TOKEN)"},
      {"settle other", "SELECT outcome || coalesce(' ' || why, '') FROM leasehold.job_complete(OTHER, LATER)"},
      {"settle both",
       "SELECT cardinality(settled) FROM leasehold.job_settle_plain('complete', '{JOB,OTHER}', '{TOKEN,LATER}')"},
      {"release both",
       "SELECT cardinality(settled) FROM leasehold.job_settle_plain('release', '{OTHER,JOB}', '{LATER,TOKEN}')"},
      {"heartbeat", "SELECT outcome || coalesce(' ' || why, '') FROM leasehold.job_heartbeat(JOB, TOKEN)"},
      {"extend", "SELECT outcome || coalesce(' ' || why, '') FROM leasehold.lease_extend(LEASE, 'i')"},
      {"takeover", "SELECT outcome FROM leasehold.job_claim('q', holder => 'carol')"},
      {"close", "SELECT outcome || ' ' || jobs FROM leasehold.lease_close(LEASE, 'i')"},
      {"recover", "SELECT jobs FROM leasehold.recover()"},
      {"cancel", "SELECT outcome FROM leasehold.job_cancel(JOB)"},
      {"show", "SELECT state FROM leasehold.job_show(JOB)"},
  };
  return all;
}

class JobMatrixTest : public SqlTest, public ::testing::WithParamInterface<Pair> {
 protected:
  void SetUp() override {
    observer_.run(here("SELECT leasehold.job_enqueue('q', p) FROM unnest('{a,b,c}'::bytea[]) AS p"));
    words_["LEASE"] = observer_.scalar(
        here("SELECT lease_id FROM leasehold.lease_open('worker', 'alice', interval '30 seconds', instance => 'i')"));
    claim("JOB", "TOKEN");
    claim("OTHER", "LATER");
  }
  void claim(const std::string& job, const std::string& token) {
    const auto row =
        observer_.rows(filled("SELECT job_id, token FROM leasehold.job_claim('q', attach => LEASE, "
                              "instance => 'i')"));
    words_[job] = row.at(0)[0].value();
    words_[token] = row.at(0)[1].value();
  }
  std::string filled(const std::string& act) {
    auto sql = here(act);
    for (const auto& [word, value] : words_) {
      for (auto at = sql.find(word); at != std::string::npos; at = sql.find(word)) sql.replace(at, word.size(), value);
    }
    return sql;
  }
  std::string count(const std::string& what) {
    return observer_.scalar(here("SELECT count(*) FROM leasehold." + what));
  }

  /// Each of the three jobs is in one place, and nothing hangs on a lease that has ended.
  void expect_nothing_lost() {
    EXPECT_EQ(observer_.scalar(
                  here("SELECT count(*) FROM leasehold.job AS j WHERE 1 <> "
                       "(SELECT count(*) FROM leasehold.ready AS r WHERE r.job_id = j.id) + "
                       "(SELECT count(*) FROM leasehold.bundle AS b WHERE j.id BETWEEN b.first_id AND b.last_id) + "
                       "(SELECT count(*) FROM leasehold.deferred AS d WHERE d.job_id = j.id) + "
                       "(SELECT count(*) FROM leasehold.settled AS s WHERE s.job_id = j.id AND s.final) + "
                       "(SELECT count(*) FROM leasehold.job_grant AS g WHERE j.id = ANY (g.jobs) AND NOT EXISTS "
                       "(SELECT FROM leasehold.settled AS s WHERE s.job_id = j.id AND s.token = g.token))")),
              "0");
    EXPECT_EQ(count("job_grant AS g JOIN leasehold.lease AS l ON l.id = g.lease_id WHERE l.ended_at IS NOT NULL"), "0");
  }

  std::map<std::string, std::string> words_;
};

TEST_P(JobMatrixTest, EachPairWaitsOrPassesAsPromised) {
  const auto& pair = GetParam();
  if (pair.expired) store_.advance(31s);
  alice_.run("BEGIN");
  alice_.run(filled(acts().at(pair.first)));
  bob_.send(filled(acts().at(pair.second)));
  EXPECT_EQ(bob_.waits(observer_), pair.bob == Bob::waits);
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), pair.told);
  expect_nothing_lost();
}

TEST_P(JobMatrixTest, WhatRolledBackIsAsIfItHadNeverBeen) {
  const auto& pair = GetParam();
  if (pair.expired) store_.advance(31s);
  alice_.run("BEGIN");
  alice_.run(filled(acts().at(pair.first)));
  bob_.send(filled(acts().at(pair.second)));
  bob_.waits(observer_);
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.outcome().state, "");
  expect_nothing_lost();
}

std::string pair_name(const ::testing::TestParamInfo<Pair>& info) { return info.param.name; }

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
                      Pair{"HeartbeatThenSettle", "heartbeat", "settle", Bob::passes, "settled"},
                      Pair{"HeartbeatThenAttach", "heartbeat", "attach", Bob::passes, "granted"},
                      Pair{"HeartbeatThenHeartbeat", "heartbeat", "heartbeat", Bob::waits, "extended"},
                      Pair{"HeartbeatThenClose", "heartbeat", "close", Bob::waits, "closed 2"}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Lots, JobMatrixTest,
    ::testing::Values(Pair{"SettleBothThenAttach", "settle both", "attach", Bob::passes, "granted"},
                      Pair{"SettleBothThenSettle", "settle both", "settle", Bob::waits, "settled"},
                      Pair{"SettleBothThenFail", "settle both", "fail", Bob::waits, "lost finished"},
                      Pair{"SettleBothThenExtend", "settle both", "extend", Bob::passes, "extended"},
                      Pair{"SettleBothThenReleaseBoth", "settle both", "release both", Bob::waits, "0"},
                      Pair{"SettleThenReleaseBoth", "settle", "release both", Bob::waits, "1"},
                      Pair{"ReleaseBothThenSettleBoth", "release both", "settle both", Bob::waits, "0"},
                      Pair{"SettleBothThenClose", "settle both", "close", Bob::waits, "closed 0"},
                      Pair{"CloseThenSettleBoth", "close", "settle both", Bob::waits, "0"},
                      Pair{"TakeoverThenSettleBoth", "takeover", "settle both", Bob::waits, "0", true},
                      Pair{"RecoverThenSettleBoth", "recover", "settle both", Bob::waits, "0", true}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Endings, JobMatrixTest,
    ::testing::Values(Pair{"CloseThenAttach", "close", "attach", Bob::waits, "lost finished"},
                      Pair{"CloseThenSettle", "close", "settle", Bob::waits, "lost expired"},
                      Pair{"CloseThenHeartbeat", "close", "heartbeat", Bob::waits, "lost expired"},
                      Pair{"CloseThenExtend", "close", "extend", Bob::waits, "lost finished"},
                      Pair{"CloseThenClose", "close", "close", Bob::waits, "closed 0"},
                      Pair{"CloseThenRecover", "close", "recover", Bob::passes, "0", true},
                      Pair{"SettleThenTakeover", "settle", "takeover", Bob::passes, "granted", true},
                      Pair{"SettleThenRecover", "settle", "recover", Bob::passes, "0", true},
                      Pair{"TakeoverThenAttach", "takeover", "attach", Bob::waits, "lost expired", true},
                      Pair{"TakeoverThenSettle", "takeover", "settle", Bob::waits, "lost expired", true},
                      Pair{"TakeoverThenHeartbeat", "takeover", "heartbeat", Bob::waits, "lost expired", true},
                      Pair{"TakeoverThenClose", "takeover", "close", Bob::waits, "lost 0", true},
                      Pair{"TakeoverThenTakeover", "takeover", "takeover", Bob::passes, "granted", true},
                      Pair{"TakeoverThenRecover", "takeover", "recover", Bob::passes, "0", true},
                      Pair{"RecoverThenSettle", "recover", "settle", Bob::waits, "lost expired", true},
                      Pair{"RecoverThenHeartbeat", "recover", "heartbeat", Bob::waits, "lost expired", true},
                      Pair{"RecoverThenAttach", "recover", "attach", Bob::waits, "lost expired", true},
                      Pair{"RecoverThenTakeover", "recover", "takeover", Bob::passes, "granted", true},
                      Pair{"RecoverThenRecover", "recover", "recover", Bob::passes, "0", true}),
    pair_name);

}  // namespace
}  // namespace leasehold::support

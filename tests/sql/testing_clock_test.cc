// leasehold sql --testing: the clock that tests of SQL users move.
#include <gtest/gtest.h>

#include <string>

#include "leasehold/migrations.h"
#include "leasehold/store.h"
#include "support/pg.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

constexpr auto claim = "SELECT count(*) FROM leasehold.job_claim('mail') WHERE outcome = 'granted'";

// A database of its own, since the clock is a schema beside the store's.
class TestingClockTest : public ::testing::Test {
 protected:
  void SetUp() override { install(); }

  static std::string script(const std::string& schema = "leasehold") {
    return Migrations::testing_script("postgresql:///?schema=" + schema).value();
  }
  void install() { me_.run(script()); }
  void advance(const std::string& by) { me_.run("SELECT leasehold_test.advance('" + by + "')"); }
  std::string scalar(const std::string& sql) { return me_.scalar(sql); }
  void enqueue(const std::string& more = {}) {
    me_.run("SELECT leasehold.job_enqueue('mail', '{\"to\":\"ann\"}'" + more + ")");
  }
  bool has_finding(const std::string& what) {
    const auto findings = store_.open().doctor().value();
    for (const auto& finding : findings) {
      if (finding.what == what) return finding.level == Finding::Level::danger;
    }
    return false;
  }

  TestStore store_{StoreKind::postgres, {.real_time = true}};
  PgConnection me_{store_.database_url()};
};

TEST_F(TestingClockTest, ALaterJobIsDueAfterAnAdvance) {
  enqueue(", delay => '10 minutes'");
  EXPECT_EQ(scalar(claim), "0");
  advance("10 minutes");
  EXPECT_EQ(scalar("SELECT payload ->> 'to' FROM leasehold.job_claim('mail')"), "ann");
}

TEST_F(TestingClockTest, ALeaseExpiresAfterAnAdvance) {
  enqueue();
  EXPECT_EQ(scalar("SELECT outcome FROM leasehold.job_claim('mail', ttl => '30 seconds')"), "granted");
  EXPECT_EQ(scalar(claim), "0");
  advance("31 seconds");
  EXPECT_EQ(scalar("SELECT state FROM leasehold.jobs"), "expired");
  EXPECT_EQ(scalar(claim), "1");
}

TEST_F(TestingClockTest, ARollbackTakesEverythingBackAndHindersNoOther) {
  PgConnection other(store_.database_url());
  me_.run("BEGIN");
  advance("1 day");
  enqueue();
  EXPECT_EQ(scalar("SELECT count(*) FROM leasehold.jobs WHERE queue = 'mail'"), "1");
  EXPECT_EQ(scalar(claim), "1");
  // Another test in its own transaction: it has its own clock, and does not wait.
  other.run("BEGIN; SET LOCAL lock_timeout = '1s'");
  EXPECT_EQ(other.scalar("SELECT leasehold_test.advance('2 days') > clock_timestamp() + interval '47 hours'"), "t");
  other.run("ROLLBACK");
  me_.run("ROLLBACK");
  EXPECT_EQ(scalar("SELECT leasehold_test.now() < clock_timestamp() + interval '1 minute'"), "t");
  EXPECT_EQ(scalar("SELECT count(*) FROM leasehold.jobs"), "0");
}

TEST_F(TestingClockTest, AFrozenClockMovesOnlyByAdvance) {
  EXPECT_EQ(scalar("SELECT leasehold_test.freeze('2026-03-28 12:00Z') = '2026-03-28 12:00Z'"), "t");
  EXPECT_EQ(scalar("SELECT leasehold_test.advance('48 hours') = '2026-03-30 12:00Z'"), "t");
  enqueue();
  EXPECT_EQ(scalar("SELECT created_at = '2026-03-30 12:00Z' FROM leasehold.jobs"), "t");
  EXPECT_EQ(scalar("SELECT leasehold_test.unfreeze() > '2026-03-30 12:00Z'"), "t");
  EXPECT_EQ(scalar("SELECT leasehold_test.now() < '2026-03-30 12:01Z'"), "t");
  EXPECT_EQ(scalar("SELECT leasehold_test.reset() > clock_timestamp() - interval '1 minute'"), "t");
}

TEST_F(TestingClockTest, ARunningClockKeepsItsLeadInEveryTimeZone) {
  // A day has 23 hours there on 29 March.
  me_.run("SET timezone = 'Europe/Berlin'");
  me_.run(
      "SELECT leasehold_test.freeze('2026-03-28 12:00Z'), leasehold_test.advance('90 days'), "
      "leasehold_test.unfreeze()");
  const auto lead = "SELECT round(extract(epoch FROM leasehold_test.now() - clock_timestamp()))";
  const auto here = scalar(lead);
  me_.run("SET timezone = 'UTC'");
  EXPECT_EQ(scalar(lead), here);
}

TEST_F(TestingClockTest, TheClockNeverMovesBackByAdvance) {
  EXPECT_NE(me_.fail("SELECT leasehold_test.advance('-1 second')").message.find("moves forward only"),
            std::string::npos);
}

TEST_F(TestingClockTest, ALeaseExpiresOnRequest) {
  enqueue();
  EXPECT_EQ(scalar(claim), "1");
  me_.run("SELECT leasehold_test.expire(kind, key) FROM leasehold.leases");
  EXPECT_EQ(scalar("SELECT state FROM leasehold.jobs"), "expired");
  EXPECT_EQ(scalar(claim), "1");
  EXPECT_NE(me_.fail("SELECT leasehold_test.expire('lock', 'deploy')").message.find("lock deploy is not held"),
            std::string::npos);
}

TEST_F(TestingClockTest, AStoreInUseGetsNoTestClock) {
  me_.run("SELECT leasehold_test.remove()");
  enqueue();
  EXPECT_NE(me_.fail(script()).message.find("this store has been used"), std::string::npos);
  EXPECT_EQ(scalar("SELECT to_regnamespace('leasehold_test') IS NULL"), "t");
}

TEST_F(TestingClockTest, ADatabaseWithoutTheSchemaGetsNoTestClock) {
  EXPECT_NE(me_.fail(script("elsewhere")).message.find("there is no schema elsewhere"), std::string::npos);
}

TEST_F(TestingClockTest, InstallingItAgainKeepsTheTime) {
  me_.run("SELECT leasehold_test.freeze('2026-03-28 12:00Z')");
  enqueue();
  install();
  EXPECT_EQ(scalar("SELECT leasehold_test.now() = '2026-03-28 12:00Z'"), "t");
}

TEST_F(TestingClockTest, VerifyAndDoctorReportItUntilItIsRemoved) {
  auto drift = store_.open().migrations().verify().value();
  ASSERT_EQ(drift.size(), 1U);
  EXPECT_EQ(drift[0].object, "function now()");
  EXPECT_EQ(drift[0].problem,
            "a test clock is installed; no production store may have it: SELECT leasehold_test.remove()");
  EXPECT_TRUE(has_finding("a test clock is installed"));
  me_.run("SELECT leasehold_test.remove()");
  EXPECT_TRUE(store_.open().migrations().verify().value().empty());
  EXPECT_FALSE(has_finding("a test clock is installed"));
}

TEST_F(TestingClockTest, AClockThatTheStoreDoesNotAskSaysSo) {
  me_.run(
      "CREATE OR REPLACE FUNCTION leasehold_internal.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT "
      "clock_timestamp()'");
  EXPECT_NE(me_.fail("SELECT leasehold_test.advance('1s')").message.find("does not use this clock"), std::string::npos);
}

TEST_F(TestingClockTest, AReaderSeesTheTimeAndMayNotMoveIt) {
  const auto role = "reader_" + scalar("SELECT replace(gen_random_uuid()::text, '-', '')");
  me_.run("CREATE ROLE " + role);
  store_.open().grant(role, Scope::read).value();
  advance("1 day");
  enqueue();
  me_.run("SET ROLE " + role);
  EXPECT_EQ(scalar("SELECT count(*) FROM leasehold.leases WHERE state = 'running'"), "0");
  EXPECT_NE(me_.fail("SELECT leasehold_test.advance('1s')").message.find("permission denied"), std::string::npos);
  me_.run("RESET ROLE; DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST(TestingClockOfSqliteTest, ThereIsNone) {
  const auto script = Migrations::testing_script("sqlite:work.db");
  ASSERT_FALSE(script);
  EXPECT_EQ(script.error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace leasehold::support

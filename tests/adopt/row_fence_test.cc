// PostgreSQL: fences, proofs in a transaction, isolation levels, row security and rights of an adopted table.
#include <gmock/gmock.h>

#include "adopt_fixture.h"
#include "support/pg.h"

namespace leasehold {
namespace {

using support::AdoptTest;
using support::PgConnection;
using support::StoreKind;
using testing::HasSubstr;

class RowFenceTest : public AdoptTest {
 protected:
  void run_as(PgConnection& session, const std::string& sql) { session.run(with_schema(sql)); }
  std::string tell(PgConnection& session, const std::string& sql) { return session.scalar(with_schema(sql)); }
  std::string state_of(PgConnection& session, const std::string& sql) { return session.fail(with_schema(sql)).state; }
  static std::string text(const RowGrant& grant) { return std::to_string(grant.token.value); }
  /// A role of this test alone, which goes with the test.
  std::string make_role(const std::string& name) {
    auto role = with_schema("{s}_" + name);
    run("CREATE ROLE " + role);
    roles_.push_back(role);
    return role;
  }
  void TearDown() override {
    for (const auto& role : roles_) refusal("DROP OWNED BY " + role + "; DROP ROLE " + role);
  }

 private:
  std::vector<std::string> roles_;
};
INSTANTIATE_TEST_SUITE_P(Stores, RowFenceTest, ::testing::Values(StoreKind::postgres), support::store_name);

TEST_P(RowFenceTest, ATakeoverWaitsUntilTheFenceEnds) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  PgConnection holder(url());
  run_as(holder, "BEGIN; SELECT {s}.jobs_fence(1, " + text(grant) + ")");
  const auto extended = rows.heartbeat({{grant.key, grant.token}}).front();
  EXPECT_TRUE(extended.ok()) << "a heartbeat passes the fence: " << extended.error().message;
  expire(rows, grant);
  EXPECT_EQ(code_of(rows.claim({}, by("bob"))), Errc::empty);
  ASSERT_EQ(code_of(rows.claim_key({"1"}, {}, by("bob"))), Errc::held);
  EXPECT_TRUE(rows.recover()->empty());
  const auto old = holder.backend_pid();
  EXPECT_GT(old, 0);
  PgConnection other(url());
  ASSERT_EQ(state_of(other, "UPDATE {s}.jobs SET locked_until = " + moment(60) + ", locked_by = 'old' WHERE id = 1"),
            "55P03");
  run_as(holder, "COMMIT");
  EXPECT_EQ(claim_one(rows, "bob").key, RowKey{"1"});
  EXPECT_EQ(state_of(holder, "SELECT {s}.jobs_fence(1, " + text(grant) + ")"), "LH001");
}

TEST_P(RowFenceTest, ARowThatWasRevokedBehindAFenceIsNotTakenBeforeItEnds) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  PgConnection holder(url());
  run_as(holder, "BEGIN; SELECT {s}.jobs_fence(1, " + text(grant) + ")");
  run("UPDATE {s}.jobs SET locked_until = NULL, locked_by = NULL WHERE id = 1");
  EXPECT_EQ(code_of(rows.claim({}, by("bob"))), Errc::empty);
  ASSERT_EQ(code_of(rows.claim_key({"1"}, {}, by("bob"))), Errc::held);
  PgConnection other(url());
  ASSERT_EQ(state_of(other, "UPDATE {s}.jobs SET locked_until = " + moment(60) + ", locked_by = 'old' WHERE id = 1"),
            "55P03");
  run_as(holder, "COMMIT");
  EXPECT_TRUE(rows.claim_key({"1"}, {}, by("bob")).ok());
}

TEST_P(RowFenceTest, ATokenInTheTransactionProvesWritesThatKeepTheLease) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  PgConnection holder(url());
  run_as(holder,
         "BEGIN; SET LOCAL leasehold.token = '" + text(grant) + "'; UPDATE {s}.jobs SET error = 'half way'; COMMIT");
  EXPECT_EQ(scalar("SELECT error || locked_by FROM {s}.jobs"), "half wayann");
  EXPECT_EQ(state_of(holder, "UPDATE {s}.jobs SET error = 'after the commit'"), "LH001");
  run_as(holder, "BEGIN; SET LOCAL leasehold.token = '" + std::to_string(grant.token.value - 10) + "'");
  EXPECT_EQ(state_of(holder, "UPDATE {s}.jobs SET error = 'another token'"), "LH001");
  run_as(holder, "ROLLBACK");
  EXPECT_TRUE(rows.heartbeat({{grant.key, grant.token}}).front().ok());
}

TEST_P(RowFenceTest, ATokenInTheTransactionRevivesNoExpiredLease) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  const auto grant = claim_one(rows);
  expire(rows, grant);
  PgConnection holder(url());
  run_as(holder, "BEGIN; SET LOCAL leasehold.token = '" + text(grant) + "'");
  holder.fail(with_schema("UPDATE {s}.jobs SET locked_until = " + moment(60)));
  run_as(holder, "COMMIT");
  EXPECT_NE(rows.show({"1"})->state + scalar("SELECT lease_token % 10 FROM {s}.jobs"), "running0");
}

TEST_P(RowFenceTest, AHeartbeatLeavesNoProofBehindInItsTransaction) {
  adopt_jobs("(1)");
  const auto grant = claim_one(open_rows());
  PgConnection holder(url());
  run_as(holder, "BEGIN; SELECT {s}.jobs_heartbeat(1, " + text(grant) + ")");
  EXPECT_EQ(state_of(holder, "UPDATE {s}.jobs SET status = 'FAILED'"), "LH001");
  run_as(holder, "ROLLBACK");
}

TEST_P(RowFenceTest, ClaimsNeedReadCommitted) {
  adopt_jobs("(1)");
  PgConnection session(url());
  for (const std::string level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    for (const std::string call : {"jobs_claim('ann')", "jobs_claim_key(1, 'ann')"}) {
      run_as(session, "BEGIN ISOLATION LEVEL " + level);
      const auto failure = session.fail(with_schema("SELECT {s}." + call));
      EXPECT_THAT(failure.message, HasSubstr("READ COMMITTED")) << call;
      run_as(session, "ROLLBACK");
    }
  }
  EXPECT_EQ(tell(session, "SELECT count(*) FROM {s}.jobs WHERE locked_by IS NULL"), "1");
}

TEST_P(RowFenceTest, ASnapshotFromBeforeATakeoverFencesAndFinishesNothing) {
  adopt_jobs("(1)");
  const auto rows = open_rows();
  const auto late = claim_one(rows);
  for (const std::string act : {"jobs_fence(1, ", "jobs_complete(1, ", "jobs_heartbeat(1, "}) {
    PgConnection session(url());
    run_as(session, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM {s}.jobs");
    expire(rows, RowGrant{.key = {"1"},
                          .token = Token{std::stoll(scalar("SELECT lease_token FROM {s}.jobs"))},
                          .holder = {},
                          .row = {}});
    const auto current = claim_one(rows, "bob");
    session.fail(with_schema("SELECT {s}." + act + text(late) + ")"));
    session.fail("COMMIT");
    EXPECT_TRUE(rows.heartbeat({{current.key, current.token}}).front().ok()) << act;
  }
}

TEST_P(RowFenceTest, OnlyTheRolesHaveRightsWhateverTheDefaultPrivilegesAre) {
  const auto anon = make_role("anon"), app = make_role("app");
  run("GRANT USAGE ON SCHEMA {s} TO " + anon + ", " + app);
  for (const std::string what : {"TABLES", "FUNCTIONS", "SEQUENCES"}) {
    run("ALTER DEFAULT PRIVILEGES IN SCHEMA {s} GRANT ALL ON " + what + " TO " + anon + ", PUBLIC");
  }
  run(support::jobs_table);
  run("REVOKE ALL ON {s}.jobs FROM " + anon + ", PUBLIC; GRANT SELECT, UPDATE ON {s}.jobs TO " + app);
  run("INSERT INTO {s}.jobs (id) VALUES (1)");
  adopt(std::string(support::jobs_file) + "keep = [\"note\"]\nroles = [\"" + app + "\"]\n");
  const std::string strangers =
      "SELECT string_agg(what, ', ') FROM ("
      "SELECT p.oid::regprocedure || ' to ' || a.grantee AS what FROM pg_proc AS p, "
      "aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a "
      "WHERE p.pronamespace = '{s}'::regnamespace AND a.grantee NOT IN (p.proowner, '" +
      app +
      "'::regrole) UNION ALL "
      "SELECT c.oid::regclass || ' to ' || a.grantee FROM pg_class AS c, "
      "aclexplode(coalesce(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::\"char\", c.relowner))) "
      "AS a WHERE c.relnamespace = '{s}'::regnamespace AND c.relkind IN ('r', 'v', 'S', 'p') "
      "AND a.grantee NOT IN (c.relowner, '" +
      app + "'::regrole)) AS open";
  EXPECT_EQ(scalar(strangers), "NULL");
  PgConnection session(url());
  run_as(session, "SET ROLE " + anon);
  for (const std::string sql : {"SELECT {s}.jobs_claim('eve')", "SELECT * FROM {s}.jobs_leases",
                                "SELECT * FROM {s}.leasehold_adopted", "SELECT {s}.jobs_recover()"}) {
    EXPECT_EQ(state_of(session, sql), "42501") << sql;
  }
  run_as(session, "SET ROLE " + app);
  EXPECT_EQ(tell(session, "SELECT id FROM {s}.jobs_claim('ann')"), "1");
  EXPECT_EQ(tell(session, "SELECT state FROM {s}.jobs_leases"), "running");
  // A second apply grants no rights again.
  adopt(std::string(support::jobs_file) + "keep = [\"note\"]\nroles = [\"" + app + "\"]\nguard = \"skip\"\n");
  EXPECT_EQ(scalar(strangers), "NULL");
  EXPECT_EQ(scalar("SELECT count(*) FROM pg_proc WHERE pronamespace = '{s}'::regnamespace AND prosecdef AND proconfig "
                   "IS NULL"),
            "0");
  const auto reverted = adoption().revert(with_schema("{s}.jobs"));
  EXPECT_TRUE(reverted.ok()) << reverted.error().message;
}

TEST_P(RowFenceTest, RowsThatRowSecurityHidesAreAnErrorAndNeverSilence) {
  const auto app = make_role("app");
  run("GRANT USAGE ON SCHEMA {s} TO " + app);
  run(support::jobs_table);
  run("INSERT INTO {s}.jobs (id) VALUES (1); GRANT SELECT, UPDATE ON {s}.jobs TO " + app);
  run("ALTER TABLE {s}.jobs ENABLE ROW LEVEL SECURITY; CREATE POLICY look ON {s}.jobs FOR SELECT USING (true)");
  adopt(std::string(support::jobs_file) + "roles = [\"" + app + "\"]\n");
  const auto grant = claim_one(open_rows());
  PgConnection session(url());
  run_as(session, "SET ROLE " + app);
  for (const std::string act : {"complete(1, ", "fail(1, ", "release(1, ", "heartbeat(1, "}) {
    EXPECT_EQ(state_of(session, "SELECT {s}.jobs_" + act + text(grant) + ")"), "42501") << act;
  }
  ASSERT_TRUE(open_rows().release(grant.key, grant.token).ok());
  EXPECT_EQ(state_of(session, "SELECT {s}.jobs_claim('eve')"), "42501");
  EXPECT_EQ(state_of(session, "SELECT {s}.jobs_claim_key(1, 'eve')"), "42501");
  EXPECT_EQ(scalar("SELECT status FROM {s}.jobs"), "PENDING");
}

}  // namespace
}  // namespace leasehold

// A database whose default privileges open new objects to a role, as a hosted project does: the objects of leasehold
// stay closed.
#include <gtest/gtest.h>

#include "support/copied_database.h"
#include "support/job_helpers.h"
#include "support/results.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class DefaultPrivilegesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    admin_.run("CREATE ROLE " + anon_ + "; CREATE ROLE " + app_);
    admin_.run("ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO " + anon_);
    admin_.run("ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO " + anon_);
    admin_.run("ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO " + anon_);
    admin_.run("ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO " + anon_);
    store_ = must(Store::open(database_.url(), {.migrate = MigrateOnOpen::yes}));
  }
  void TearDown() override {
    store_.reset();
    for (const auto& role : {anon_, app_}) admin_.run("DROP OWNED BY " + role + "; DROP ROLE " + role);
  }

  /// The objects of the two schemas that this role may use: functions, tables, views, sequences and the schemas
  /// themselves.
  std::string open_to(const std::string& role) {
    return admin_.scalar(
        "SELECT coalesce(string_agg(what, ', ' ORDER BY what), '') FROM ("
        "SELECT p.oid::regprocedure::text AS what FROM pg_proc AS p WHERE p.pronamespace IN "
        "('leasehold'::regnamespace, 'leasehold_internal'::regnamespace) AND has_function_privilege('" +
        role +
        "', p.oid, 'EXECUTE') UNION ALL "
        "SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relnamespace IN ('leasehold'::regnamespace, "
        "'leasehold_internal'::regnamespace) AND (c.relkind IN ('r', 'v') AND has_table_privilege('" +
        role + "', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE') OR c.relkind = 'S' AND has_sequence_privilege('" +
        role +
        "', c.oid, 'USAGE, SELECT, UPDATE')) UNION ALL "
        "SELECT n.nspname::text FROM pg_namespace AS n WHERE n.nspname IN ('leasehold', 'leasehold_internal') AND "
        "has_schema_privilege('" +
        role + "', n.oid, 'USAGE, CREATE')) AS open");
  }
  /// Of our relations `c` in schema `n`, those for which this holds.
  std::string relations_where(const std::string& condition) {
    return admin_.scalar(
        "SELECT coalesce(string_agg(c.oid::regclass::text, ', '), '') FROM pg_class AS c JOIN pg_namespace AS n ON "
        "n.oid = c.relnamespace WHERE n.nspname IN ('leasehold', 'leasehold_internal') AND " +
        condition);
  }
  std::string as(const std::string& role, const std::string& sql) {
    const auto failure = admin_.fail("SET ROLE " + role + "; " + sql);
    admin_.run("RESET ROLE");
    return failure.state;
  }

  EmptyDatabase database_{test_postgres_url()};
  PgConnection admin_{database_.url()};
  const std::string id_ = database_.url().substr(database_.url().rfind('/') + 1);
  const std::string anon_ = "anon_" + id_;
  const std::string app_ = "app_" + id_;
  std::optional<Store> store_;
};

TEST_F(DefaultPrivilegesTest, NothingIsOpenByDefault) {
  EXPECT_EQ(open_to(anon_), "");
  EXPECT_EQ(open_to(app_), "") << "PUBLIC";
  EXPECT_TRUE(ok(store_->locks().acquire("deploy"))) << "the owner works as before";
}

TEST_F(DefaultPrivilegesTest, AScopeOpensWhatItNamesAndRevokeClosesIt) {
  const std::string enqueue = "SELECT leasehold_internal.job_enqueue_one('mail', 'x')";
  const std::string claim = "SELECT leasehold_internal.job_claim('mail')";
  const std::string revoke = "SELECT leasehold_internal.lock_revoke('deploy', 'why')";
  const std::string look = "SELECT * FROM leasehold.leases";
  const std::string denied = "42501";
  const auto tried = [&] { return std::vector{as(app_, look), as(app_, enqueue), as(app_, claim), as(app_, revoke)}; };
  EXPECT_EQ(tried(), (std::vector{denied, denied, denied, denied}));
  const std::string fine;
  ASSERT_TRUE(ok(store_->grant(app_, Scope::read)));
  EXPECT_EQ(tried(), (std::vector{fine, denied, denied, denied}));
  ASSERT_TRUE(ok(store_->grant(app_, Scope::produce)));
  EXPECT_EQ(tried(), (std::vector{fine, fine, denied, denied}));
  ASSERT_TRUE(ok(store_->grant(app_, Scope::work)));
  EXPECT_EQ(tried(), (std::vector{fine, fine, fine, denied}));
  ASSERT_TRUE(ok(store_->grant(app_, Scope::admin)));
  EXPECT_EQ(tried(), (std::vector{fine, fine, fine, fine}));
  EXPECT_EQ(as(app_, "SELECT * FROM leasehold_internal.lease"), denied) << "tables stay closed";
  ASSERT_TRUE(ok(store_->revoke(app_)));
  EXPECT_EQ(open_to(app_), "");
  EXPECT_TRUE(fails(store_->revoke("role_that_does_not_exist"), Errc::invalid_argument));
}

TEST_F(DefaultPrivilegesTest, EveryScopeReadsTheViewsAndNoScopeReachesATable) {
  for (const auto scope : {Scope::read, Scope::produce, Scope::work, Scope::admin}) {
    ASSERT_TRUE(ok(store_->grant(app_, scope)));
    EXPECT_EQ(relations_where("c.relkind = 'v' AND n.nspname = 'leasehold' AND NOT has_table_privilege('" + app_ +
                              "', c.oid, 'SELECT')"),
              "");
    EXPECT_EQ(relations_where("c.relkind IN ('r', 'v') AND has_table_privilege('" + app_ +
                              "', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')"),
              scope == Scope::admin ? "leasehold.retention" : "");
    EXPECT_EQ(relations_where("c.relkind = 'v' AND n.nspname = 'leasehold_internal' AND has_table_privilege('" + app_ +
                              "', c.oid, 'SELECT')"),
              "leasehold_internal.held_lease");
    EXPECT_EQ(relations_where("c.relkind = 'r' AND has_table_privilege('" + app_ + "', c.oid, 'SELECT')"), "");
  }
}

TEST_F(DefaultPrivilegesTest, UndoneAndDoneAgainItStaysClosed) {
  ASSERT_TRUE(ok(store_->grant(app_, Scope::work)));
  ASSERT_TRUE(ok(store_->migrations().down(2)));
  EXPECT_EQ(as(anon_, "SELECT leasehold_internal.lock_show('x')"), "42501");
  ASSERT_TRUE(ok(store_->migrations().up()));
  EXPECT_EQ(open_to(anon_), "");
  EXPECT_EQ(as(app_, "SELECT leasehold_internal.job_claim('mail')"), "") << "the scope came back";
}

}  // namespace
}  // namespace leasehold::support

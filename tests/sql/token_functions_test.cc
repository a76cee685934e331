// API tokens and the audit log from psql, and the scopes of their functions.
#include <gtest/gtest.h>

#include "leasehold/access.h"
#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class TokenFunctionsTest : public SqlTest {
 protected:
  std::string ask(const std::string& sql) { return alice_.scalar(here("SELECT " + sql)); }
};

TEST_F(TokenFunctionsTest, ATokenFromSqlIsOneThatTheLibraryFinds) {
  const auto secret = ask(R"(secret FROM leasehold.token_set('mailer', 'work', '{"queue:mail*"}', '90 days'))");
  const auto found = store_.open().access().find_token(secret);
  ASSERT_TRUE(ok(found));
  EXPECT_EQ(found->name, "mailer");
  EXPECT_EQ(found->scope, Scope::work);
  EXPECT_EQ(found->only, (std::vector<std::string>{"queue:mail*"}));
  EXPECT_EQ(ask("concat_ws(' ', outcome, id, secret) FROM leasehold.token_set('mailer')"), "exists 1");
  EXPECT_EQ(ask("concat_ws(' ', id, name, state, scope, \"only\") FROM leasehold.tokens"),
            "1 mailer active work {queue:mail*}");
  EXPECT_EQ(ask("outcome FROM leasehold.token_set('mailer', revoke => true)"), "revoked");
  EXPECT_EQ(ask("outcome FROM leasehold.token_set('mailer', revoke => true)"), "not_found");
  EXPECT_TRUE(fails(store_.open().access().find_token(secret), Errc::unauthorized));
  EXPECT_EQ(ask("outcome FROM leasehold.token_set('mailer')"), "created") << "the name is free again";
}

TEST_F(TokenFunctionsTest, BadTokensAreRefused) {
  for (const auto* arguments :
       {"''", "NULL", "'a', 'root'", "'a', NULL", R"('a', "only" => '{mail}')", R"('a', "only" => '{queue:}')",
        R"('a', "only" => '{NULL}')", "'a', expires_in => '-1 s'", "'a', expires_in => '0'"}) {
    EXPECT_EQ(alice_.fail(here(std::string("SELECT leasehold.token_set(") + arguments + ")")).state, "LH003")
        << arguments;
  }
  EXPECT_EQ(ask("count(*) FROM leasehold.tokens"), "0");
}

TEST_F(TokenFunctionsTest, OnlyScopeAdminSeesAndChangesTokens) {
  const auto role = "token_" + store_.schema();
  observer_.run("CREATE ROLE " + role);
  const auto refused = [&](const std::string& sql) {
    observer_.run("SET ROLE " + role);
    const auto state = observer_.fail(here(sql)).state;
    observer_.run("RESET ROLE");
    return state;
  };
  const std::string calls[] = {"SELECT * FROM leasehold.tokens",
                               "SELECT * FROM leasehold.audit",
                               "SELECT leasehold.token_set('x')",
                               "SELECT leasehold_internal.api_token_create('x', repeat('0', 64), 'read', '[]', NULL)",
                               "SELECT leasehold_internal.api_token_revoke(1)",
                               "SELECT leasehold_internal.api_token_list(NULL, NULL, 0, 10)",
                               "SELECT leasehold_internal.audit_record('a', 'b', 'c', 'd', 'e', 'f')",
                               "SELECT * FROM leasehold_internal.api_token"};
  observer_.run(here("SELECT leasehold.grant_scope('" + role + "', 'work')"));
  for (const auto& call : calls) EXPECT_EQ(refused(call), "42501") << call;
  observer_.run(here("SELECT leasehold.grant_scope('" + role + "', 'admin')"));
  EXPECT_EQ(refused(calls[7]), "42501") << "tables stay closed";
  for (int i = 0; i < 7; ++i) EXPECT_EQ(refused(calls[i]), "") << calls[i];
  observer_.run(here("SELECT leasehold.revoke_scope('" + role + "')"));
  observer_.run("DROP ROLE " + role);
}

TEST_F(TokenFunctionsTest, AnEnqueueWithARequestIdReturnsItsFirstAnswer) {
  const std::string enqueue = "concat_ws(' ', id, created, state) FROM leasehold.job_enqueue('mail', '{}', ";
  EXPECT_EQ(ask(enqueue + "request_id => 'r-1')"), "1 t available");
  EXPECT_EQ(ask(enqueue + "request_id => 'r-1', delay => '1 hour')"), "1 t available");
  EXPECT_EQ(ask("concat_ws(' ', id, created) FROM leasehold.job_enqueue_bytes('mail', 'x', request_id => 'r-1')"),
            "1 t");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold.job_enqueue('mail', '{}', request_id => '')")).state, "LH003");
  alice_.run("BEGIN");
  const auto dropped = ask("id FROM leasehold.job_enqueue('mail', '{}', request_id => 'r-2')");
  alice_.run("ROLLBACK");
  EXPECT_NE(ask("id FROM leasehold.job_enqueue('mail', '{}', request_id => 'r-2')"), dropped)
      << "the id is used up by the commit";
}

}  // namespace
}  // namespace leasehold::support

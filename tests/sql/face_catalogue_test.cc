// What `\df leasehold.*` shows: few functions, each described, with a scope, and closed to everyone without one.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class FaceCatalogueTest : public SqlTest {
 protected:
  std::string ask(const std::string& sql) { return observer_.scalar(here(sql)); }
};

/// The functions of the face, as `f`, and their comments.
const std::string functions =
    " FROM (SELECT p.*, p.oid::regprocedure::text AS shown, obj_description(p.oid, 'pg_proc') AS comment FROM pg_proc "
    "AS "
    "p WHERE p.pronamespace = 'leasehold'::regnamespace) AS f ";

TEST_F(FaceCatalogueTest, HasAtMostNinetyFunctions) {
  const auto count = std::stoi(ask("SELECT count(*)" + functions));
  EXPECT_GT(count, 60);
  EXPECT_LE(count, 90);
}

TEST_F(FaceCatalogueTest, EveryFunctionSaysWhatItDoesWithAnExampleAndAScope) {
  EXPECT_EQ(ask("SELECT string_agg(f.shown, ' ')" + functions +
                R"(WHERE f.comment IS NULL OR f.comment !~ '^[A-Z].*\.\s' OR f.comment !~ '\n\nExample:\n\w'
                   OR f.comment !~ '\n\nScope: (read|produce|work|admin|owner)\.$'
                   OR position('.' || f.proname || '(' IN split_part(f.comment, 'Example:', 2)) = 0)"),
            "NULL");
  EXPECT_EQ(
      ask("SELECT string_agg(f.proname, ' ' ORDER BY f.proname)" + functions + "WHERE f.comment ~ 'Scope: owner'"),
      "grant_scope revoke_scope");
}

TEST_F(FaceCatalogueTest, EveryParameterAndColumnIsDescribed) {
  // In the comment of the function or its answer type, in that of a function whose parameters it shares, or in that of
  // the schema.
  EXPECT_EQ(ask(R"(SELECT string_agg(DISTINCT d.proname || '.' || d.name, ' ') FROM (
                     SELECT f.proname, u.name,
                            concat_ws(E'\n', f.comment, obj_description(f.prorettype, 'pg_type'),
                                      obj_description('leasehold'::regnamespace, 'pg_namespace'),
                                      CASE WHEN f.comment ~ 'parameters' THEN (SELECT string_agg(
                                        obj_description(o.oid, 'pg_proc'), E'\n') FROM pg_proc AS o
                                         WHERE o.pronamespace = f.pronamespace
                                           AND o.proname = substring(f.comment FROM 'are those of (\w+)')) END) AS text)" +
                functions + R"(CROSS JOIN unnest(f.proargnames) AS u(name)) AS d
                 WHERE d.text !~ ('(^|\n)(\w+, )*' || d.name || '(, \w+)*: ') AND d.name !~ '^(payload|result)_(text|json)$')"),
            "NULL");
  EXPECT_EQ(ask(R"(SELECT string_agg(c.relname || '.' || a.attname, ' ') FROM pg_class AS c
                     JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
                    WHERE c.relnamespace = 'leasehold'::regnamespace AND c.relkind IN ('c', 'v')
                      AND (concat_ws(E'\n', obj_description(c.reltype, 'pg_type'), obj_description(c.oid, 'pg_class'),
                                     obj_description('leasehold'::regnamespace, 'pg_namespace'))
                           !~ ('(^|\n)(\w+, )*' || a.attname || '(, \w+)*: ')
                           OR coalesce(col_description(c.oid, a.attnum), '') = ''))"),
            "NULL");
}

TEST_F(FaceCatalogueTest, EveryTypeAndViewIsDescribed) {
  EXPECT_EQ(ask(R"(SELECT string_agg(c.relname, ' ') FROM pg_class AS c
                    WHERE c.relnamespace = 'leasehold'::regnamespace AND c.relkind IN ('c', 'v')
                      AND coalesce(obj_description(c.oid, 'pg_class'), obj_description(c.reltype, 'pg_type')) IS NULL)"),
            "NULL");
  // What it shows, its columns, and an example that asks it.
  EXPECT_EQ(ask(R"(SELECT string_agg(c.relname, ' ') FROM pg_class AS c
                    WHERE c.relnamespace = 'leasehold'::regnamespace AND c.relkind = 'v'
                      AND obj_description(c.oid, 'pg_class')
                          !~ ('^[A-Z].*\.\n\n(.*: .*\n)+\nExample:\n(.*\n)*.*FROM leasehold[^.]*\.' || c.relname || '[ ;]'))"),
            "NULL");
}

TEST_F(FaceCatalogueTest, OneThingHasOneName) {
  // docs/decisions.md: what another holds is held_since and held_until, and a grant acquired_at and expires_at.
  const std::string columns = R"(SELECT string_agg(c.relname || '.' || a.attname, ' ' ORDER BY c.relname, a.attname)
                                   FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
                                  WHERE c.relnamespace = 'leasehold'::regnamespace AND )";
  EXPECT_EQ(
      ask(columns + "c.relkind = 'v' AND a.attname IN ('acquired_at', 'expires_at', 'since', 'until', 'taken_at')"),
      "jobs.expires_at rates.taken_at tokens.expires_at")
      << "of the job, of the turn and of the API token itself";
  EXPECT_EQ(ask(columns + "a.attname IN ('paused_reason', 'since', 'until', 'locked_by', 'locked_until', 'job')"),
            "NULL");
  EXPECT_EQ(
      ask(columns + "c.relkind = 'v' AND a.attname = CASE WHEN c.relname IN ('items', 'claims', 'chunks') THEN 'key' "
                    "WHEN c.relname IN ('jobs', 'sessions', 'leases', 'tokens', 'events', 'audit') THEN 'id' "
                    "WHEN c.relname IN ('locks', 'queues', 'chunk_sets', 'schedules', 'schedule_runs', 'rates') THEN "
                    "'name' END"),
      "audit.id chunk_sets.name chunks.key claims.key events.id items.key jobs.id leases.id locks.name queues.name "
      "rates.name schedule_runs.name schedules.name sessions.id tokens.id");
}

TEST_F(FaceCatalogueTest, NoViewShowsAProof) {
  const std::string proofs[] = {
      alice_.scalar(here("SELECT token FROM leasehold.lock_acquire('deploy')")),
      alice_.scalar(here("SELECT token FROM leasehold.lock_acquire('pool', permits => 1, capacity => 2)")),
      alice_.scalar(here("SELECT token FROM leasehold.job_enqueue('mail', '{}'), leasehold.job_claim('mail')")),
      alice_.scalar(here("SELECT c.token FROM leasehold.chunk_plan('orders', '{a}', '{1}'), LATERAL "
                         "leasehold.chunk_claim('orders') AS c")),
      alice_.scalar(here("SELECT token FROM leasehold.session_open('ann')")),
      alice_.scalar(
          here("SELECT c.token FROM leasehold_internal.session AS s, leasehold.claim_take('SD-1', s.id, s.token, "
               "create_item => true) AS c")),
      alice_.scalar(here("SELECT a.token FROM leasehold.schedule_ensure('refresh', every_min => '1 hour'), LATERAL "
                         "leasehold.schedule_acquire('refresh') AS a")),
      "the-instance-of-bob",
      alice_.scalar(here("SELECT secret FROM leasehold.token_set('mailer')")),
  };
  alice_.run(here("SELECT leasehold_internal.lease_open('worker', 'bob', interval '1 minute', p_instance => '" +
                  proofs[7] + "')"));
  alice_.run(here("SELECT leasehold.path_take(s.id, s.token, '{a/b}') FROM leasehold_internal.session AS s"));
  const auto views = observer_.rows(
      here("SELECT c.relname FROM pg_class AS c WHERE c.relkind = 'v' AND c.relnamespace = 'leasehold'::regnamespace"));
  EXPECT_GT(views.size(), 15U);
  for (const auto& view : views) {
    const auto shown =
        ask("SELECT coalesce(string_agg(to_jsonb(v)::text, E'\\n'), '') FROM leasehold." + *view.at(0) + " AS v");
    for (const auto& proof : proofs) {
      EXPECT_EQ(shown.find(proof), std::string::npos) << *view.at(0) << " shows " << proof << ": " << shown;
    }
  }
}

TEST_F(FaceCatalogueTest, AnswersUseTheSameWordsForTheHolder) {
  EXPECT_EQ(ask(R"(SELECT string_agg(DISTINCT a.attname, ' ' ORDER BY a.attname) FROM pg_class AS c
                     JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname LIKE 'held%'
                    WHERE c.relnamespace = 'leasehold'::regnamespace AND c.relkind = 'c')"),
            "held_by held_heartbeat_at held_host held_id held_key held_label held_pid held_session held_since held_tty "
            "held_until");
}

TEST_F(FaceCatalogueTest, RunsWithTheOwnersRightsAndIsClosedToPublic) {
  EXPECT_EQ(ask("SELECT string_agg(f.proname, ' ' ORDER BY f.proname)" + functions + "WHERE NOT f.prosecdef"),
            "grant_scope revoke_scope");
  EXPECT_EQ(ask("SELECT string_agg(f.shown, ' ')" + functions +
                "WHERE array_to_string(f.proconfig, ' ') NOT LIKE 'search_path=%jit=off'"),
            "NULL");
  EXPECT_EQ(
      ask("SELECT string_agg(f.shown, ' ')" + functions +
          "CROSS JOIN aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) AS a WHERE a.grantee <> f.proowner"),
      "NULL");
}

TEST_F(FaceCatalogueTest, AScopeOpensTheFunctionsUpToIt) {
  const auto role = "face_" + store_.schema();
  observer_.run("CREATE ROLE " + role);
  const auto may = [&] {
    return ask(
        "SELECT string_agg(DISTINCT substring(f.comment FROM 'Scope: (\\w+)'), ' ' ORDER BY substring(f.comment "
        "FROM 'Scope: (\\w+)'))" +
        functions + "WHERE has_function_privilege('" + role + "', f.oid, 'EXECUTE')");
  };
  for (const auto& [scope, open] :
       std::vector<std::pair<std::string, std::string>>{{"read", "read"},
                                                        {"produce", "produce read"},
                                                        {"work", "produce read work"},
                                                        {"admin", "admin produce read work"}}) {
    ask("SELECT functions FROM leasehold.grant_scope('" + role + "', '" + scope + "')");
    EXPECT_EQ(may(), open);
  }
  ask("SELECT leasehold.revoke_scope('" + role + "')");
  EXPECT_EQ(may(), "NULL");
  observer_.run("DROP ROLE " + role);
}

}  // namespace
}  // namespace leasehold::support

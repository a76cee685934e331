// A refusal of any function of the face has no proof in it. This walks the catalogue: a new function with an outcome
// has to be added here.
#include <gtest/gtest.h>

#include <map>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

struct Refused {
  std::string arguments;
  std::string outcome;
};

class FaceRefusalTest : public SqlTest {
 protected:
  void SetUp() override {
    ask("outcome FROM leasehold.lock_acquire('deploy', holder => 'alice')");
    ask("outcome FROM leasehold.lock_wait('deploy', 'r0', holder => 'cid')");
    ask("leasehold.queue_set('mail', max_running => 1)");
    ask("id FROM leasehold.job_enqueue('mail', '{}')");
    ask("id FROM leasehold.job_enqueue('mail', '{}')");
    ask("outcome FROM leasehold.job_claim('mail', holder => 'alice')");
    ask("total FROM leasehold.chunk_plan('orders', '{a}', '{1}')");
    ask("outcome FROM leasehold.chunk_claim('orders', holder => 'alice')");
    ask("outcome FROM leasehold.item_add('SD-1')");
    ask("c.outcome FROM leasehold.session_open('ann', holder => 'alice') AS s, leasehold.claim_take('SD-1', s.id, "
        "s.token, true) AS c");
    bobs_ = ask("token FROM leasehold.session_open('bob')");
    ask("created FROM leasehold.schedule_set('refresh', '10 min')");
    ask("created FROM leasehold.schedule_set('nightly', cron => '0 3 * * *', queue => 'mail')");
    ask("outcome FROM leasehold.schedule_acquire('refresh', at_once => true, holder => 'alice')");
    ask("outcome FROM leasehold.rate_take('api', every => '1 hour')");
  }
  std::string ask(const std::string& sql) { return alice_.scalar(here("SELECT " + sql)); }

  /// A refused call of every function that has an outcome.
  std::multimap<std::string, Refused> refused() const {
    return {{"lock_acquire", {"'deploy', holder => 'bob'", "held"}},
            {"lock_acquire", {"'deploy', holder => 'bob', shared => true", "held"}},
            {"lock_acquire_all", {"'{deploy,other}', holder => 'bob'", "held"}},
            {"lock_wait", {"'deploy', 'r1', holder => 'bob'", "held"}},
            {"lock_heartbeat", {"'deploy', 1", "lost"}},
            {"lock_heartbeat", {"'none', 1", "not_found"}},
            {"lock_release", {"'deploy', 1", "lost"}},
            {"lock_revoke", {"'none', 'why'", "not_found"}},
            {"job_claim", {"'mail', holder => 'bob'", "at_capacity"}},
            {"job_claim", {"'mail', 5, holder => 'bob'", "at_capacity"}},
            {"job_claim", {"'none', holder => 'bob'", "empty"}},
            {"job_heartbeat", {"1, 1", "lost"}},
            {"job_settle", {"1, 1, 'complete'", "lost"}},
            {"job_complete", {"1, 1", "lost"}},
            {"job_complete_bytes", {"1, 1, 'x'", "lost"}},
            {"job_fail", {"1, 1", "lost"}},
            {"job_release", {"1, 1", "lost"}},
            {"job_snooze", {"1, 1, '1 s'", "lost"}},
            {"job_cancel", {"99", "not_found"}},
            {"job_retry", {"1", "running"}},
            {"job_remove", {"1", "running"}},
            {"rate_take", {"'api', wait => '0'", "rate_limited"}},
            {"token_set", {"'none', revoke => true", "not_found"}},
            {"chunk_claim", {"'orders', holder => 'bob'", "held"}},
            {"chunk_claim", {"'orders', key => 'a', holder => 'bob'", "held"}},
            {"chunk_heartbeat", {"'orders', 'a', 1", "lost"}},
            {"chunk_settle", {"'orders', 'a', 1, 'complete'", "lost"}},
            {"chunk_complete", {"'orders', 'a', 1", "lost"}},
            {"chunk_fail", {"'orders', 'a', 1", "lost"}},
            {"chunk_release", {"'orders', 'a', 1", "lost"}},
            {"chunk_skip", {"'orders', 'a', 'why'", "held"}},
            {"chunk_reset", {"'none'", "not_found"}},
            {"chunk_set_settings", {"'none'", "not_found"}},
            {"chunk_set_remove", {"'orders'", "held"}},
            {"chunk_tie_job", {"'none', 1", "not_found"}},
            {"session_open", {"'ann', holder => 'bob'", "held"}},
            {"session_heartbeat", {"'ann', 1", "lost"}},
            {"session_heartbeat", {"'ann', 1, silence => '1 s'", "lost"}},
            {"session_close", {"'ann', 1", "lost"}},
            {"session_revoke", {"'none', 'why'", "not_found"}},
            {"item_add", {"'SD-3', parent => 'none'", "not_found"}},
            {"item_done", {"'SD-1'", "held"}},
            {"item_done", {"'none', done => false", "not_found"}},
            {"item_done", {"'SD-1', session_id => 'bob', session_token => " + bobs_, "held"}},
            {"item_remove", {"'SD-1'", "held"}},
            {"claim_take", {"'SD-1', 'bob', " + bobs_, "held"}},
            {"claim_take", {"NULL, 'bob', " + bobs_ + ", parent => 'none'", "not_found"}},
            {"claim_release", {"'SD-1', 'bob', 1", "lost"}},
            {"path_take", {"'bob', 1, '{a}'", "unregistered"}},
            {"claim_switch", {"'SD-1', 1, 'SD-2'", "lost"}},
            {"claim_transfer", {"'SD-1', 1, 'bob'", "lost"}},
            {"claim_assign", {"'none', 'bob'", "not_found"}},
            {"claim_revoke", {"'none', 'why'", "not_found"}},
            {"schedule_acquire", {"'refresh', holder => 'bob'", "held"}},
            {"schedule_acquire", {"'nightly', holder => 'bob'", "not_due"}},
            {"schedule_heartbeat", {"'refresh', 1", "lost"}},
            {"schedule_settle", {"'refresh', 1, true", "lost"}},
            {"schedule_complete", {"'refresh', 1", "lost"}},
            {"schedule_fail", {"'refresh', 1", "lost"}},
            {"schedule_release", {"'refresh', 1", "lost"}},
            {"schedule_fire", {"'nightly'", "not_due"}},
            {"schedule_trigger", {"'none'", "not_found"}},
            {"schedule_pause", {"'none'", "not_found"}},
            {"schedule_resume", {"'none'", "not_found"}},
            {"schedule_rename", {"'none', 'x'", "not_found"}},
            {"schedule_remove", {"'refresh'", "held"}}};
  }

  std::string bobs_;
};

TEST_F(FaceRefusalTest, Promise11_HasNoProofInAnyFunction) {
  const std::string proofs = "{token,id,lease_id,payload,payload_bytes,session_id,spec,cursor,instance,expires_at,ttl}";
  for (const auto& [function, call] : refused()) {
    // A function with one column returns just its value.
    const auto answers = bob_.rows(
        here("SELECT coalesce(r.body ->> 'outcome', r.body #>> '{}'), (SELECT string_agg(c.key, ' ') FROM "
             "jsonb_each(CASE jsonb_typeof(r.body) WHEN 'object' THEN r.body ELSE '{}' END) AS c WHERE c.key = ANY ('" +
             proofs + "') AND c.value <> 'null') FROM (SELECT to_jsonb(a) AS body FROM leasehold." + function + "(" +
             call.arguments + ") AS a) AS r"));
    ASSERT_EQ(answers.size(), 1U) << function;
    EXPECT_EQ(answers.at(0).at(0).value_or("") + " " + answers.at(0).at(1).value_or(""), call.outcome + " ")
        << function << "(" << call.arguments << ")";
  }
}

TEST_F(FaceRefusalTest, NamesTheHolderInTheSameColumns) {
  for (const auto* call :
       {"lock_acquire('deploy')", "lock_heartbeat('deploy', 1)", "job_claim('mail')", "job_heartbeat(1, 1)",
        "job_complete(1, 1)", "chunk_claim('orders')", "chunk_heartbeat('orders', 'a', 1)",
        "chunk_skip('orders', 'a', 'why')", "session_open('ann')", "session_close('ann', 1)", "item_done('SD-1')",
        "schedule_acquire('refresh')", "schedule_complete('refresh', 1)"}) {
    EXPECT_EQ(bob_.scalar(here(std::string("SELECT held_by FROM leasehold.") + call)), "alice") << call;
  }
}

TEST_F(FaceRefusalTest, EveryFunctionWithAnOutcomeIsTested) {
  const auto rows =
      observer_.rows(here("SELECT DISTINCT p.proname::text FROM pg_proc AS p WHERE p.pronamespace = "
                          "'leasehold'::regnamespace AND ('outcome' "
                          "= ANY (p.proargnames) OR EXISTS (SELECT FROM pg_type AS t JOIN pg_attribute AS a ON "
                          "a.attrelid = t.typrelid WHERE "
                          "t.oid = p.prorettype AND a.attname = 'outcome'))"));
  const auto known = refused();
  for (const auto& row : rows) {
    EXPECT_TRUE(known.contains(*row.at(0)) || *row.at(0) == "job_attempts") << *row.at(0);
  }
  EXPECT_GT(rows.size(), 40U);
}

TEST_F(FaceRefusalTest, NullProvesNothing) {
  const auto before = store_.dump();
  for (const auto* call : {"lock_heartbeat('deploy', NULL)",
                           "lock_release('deploy', NULL)",
                           "lock_fence('deploy', NULL)",
                           "job_heartbeat(1, NULL)",
                           "job_complete(1, NULL)",
                           "job_fail(1, NULL)",
                           "job_fence(1, NULL)",
                           "chunk_heartbeat('orders', 'a', NULL)",
                           "chunk_complete('orders', 'a', NULL)",
                           "chunk_fence('orders', 'a', NULL)",
                           "session_heartbeat('ann', NULL)",
                           "session_close('ann', NULL)",
                           "claim_take('SD-2', 'ann', NULL)",
                           "claim_release('SD-1', 'ann', NULL)",
                           "claim_transfer('SD-1', NULL, 'bob')",
                           "claim_switch('SD-1', NULL, 'SD-2')",
                           "item_done('SD-1', NULL)",
                           "item_fence('SD-1', NULL)",
                           "schedule_complete('refresh', NULL)",
                           "schedule_release('refresh', NULL)",
                           "schedule_fence('refresh', NULL)"}) {
    bob_.fail(here(std::string("SELECT * FROM leasehold.") + call));
    EXPECT_EQ(store_.dump(), before) << call;
  }
}

}  // namespace
}  // namespace leasehold::support

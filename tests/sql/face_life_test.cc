// A life of each feature with nothing but the functions of schema leasehold.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class FaceLifeTest : public SqlTest {
 protected:
  std::string ask(const std::string& sql) { return alice_.scalar(here("SELECT " + sql)); }
  std::string raised(const std::string& sql) { return bob_.fail(here("SELECT " + sql)).state; }
};

TEST_F(FaceLifeTest, OfALock) {
  const auto token =
      ask(R"(token FROM leasehold.lock_acquire('deploy', '1 min', '{"name": "ann", "host": "h", "pid": 7}'))");
  EXPECT_EQ(ask("concat_ws(' ', outcome, held_by, held_host, held_pid, retry_at = held_until) FROM "
                "leasehold.lock_acquire('deploy', holder => 'bob')"),
            "held ann h 7 t");
  EXPECT_EQ(ask("concat_ws(' ', outcome, ttl) FROM leasehold.lock_heartbeat('deploy', " + token + ", '2 min')"),
            "extended 00:02:00");
  EXPECT_EQ(ask("concat_ws(' ', name, state, holder, holders) FROM leasehold.locks"), "deploy running ann 1");
  EXPECT_EQ(raised("leasehold.lock_fence('deploy', " + token + ")"), "");
  EXPECT_EQ(ask("concat_ws(' ', outcome, waiters) FROM leasehold.lock_wait('deploy', 'r', holder => 'bob')"), "free 0");
  EXPECT_EQ(ask("left_line FROM leasehold.lock_leave('deploy', 'r')"), "t");
  EXPECT_EQ(ask("concat_ws(' ', outcome, token = " + token + ") FROM leasehold.lock_release('deploy', " + token + ")"),
            "released t");
  EXPECT_EQ(raised("leasehold.lock_fence('deploy', " + token + ")"), "LH001");
  EXPECT_EQ(ask("outcome FROM leasehold.lock_acquire_all('{a,b}')"), "granted");
  EXPECT_EQ(ask("concat_ws(' ', outcome, name) FROM leasehold.lock_acquire('b')"), "held b");
  EXPECT_EQ(ask("outcome FROM leasehold.lock_revoke('a', 'maintenance')"), "revoked");
  EXPECT_EQ(ask("outcome FROM leasehold.lock_acquire('b')"), "granted") << "they end together";
}

TEST_F(FaceLifeTest, OfALockInShares) {
  for (const auto* holder : {"ann", "bob"}) {
    EXPECT_EQ(
        ask(std::string("outcome FROM leasehold.lock_acquire('report', shared => true, holder => '") + holder + "')"),
        "granted");
  }
  EXPECT_EQ(ask("outcome FROM leasehold.lock_acquire('report')"), "held");
  EXPECT_EQ(ask("outcome FROM leasehold.lock_acquire('gpu', permits => 5, capacity => 8)"), "granted");
  EXPECT_EQ(ask("outcome FROM leasehold.lock_acquire('gpu', permits => 5, capacity => 8, holder => 'bob')"), "held");
  EXPECT_EQ(ask("concat_ws(' ', outcome, why) FROM leasehold.lock_acquire('gpu', permits => 1, capacity => 9)"),
            "mismatch 8");
}

TEST_F(FaceLifeTest, OfAJob) {
  EXPECT_EQ(
      ask("concat_ws(' ', id, created, state) FROM leasehold.job_enqueue('mail', '{\"to\": \"ann\"}', dedupe_key => "
          "'k', \"group\" => 'g', tags => '{x}')"),
      "1 t available");
  EXPECT_EQ(ask("concat_ws(' ', id, created) FROM leasehold.job_enqueue('mail', '{}', dedupe_key => 'k')"), "1 f");
  auto token = ask("token FROM leasehold.job_claim('mail', ttl => '1 min', holder => 'ann')");
  EXPECT_EQ(ask("concat_ws(' ', outcome, ttl, cancel_requested) FROM leasehold.job_heartbeat(1, " + token +
                ", percent => 40, message => 'half')"),
            "extended 00:01:00 f");
  EXPECT_EQ(ask("concat_ws(' ', state, holder, percent, \"group\", payload) FROM leasehold.job_show(1)"),
            "running ann 40 g {\"to\": \"ann\"}");
  EXPECT_EQ(ask("concat_ws(' ', outcome, id, state) FROM leasehold.job_fail(1, " + token + ", 'full', delay => '0')"),
            "settled 1 available");
  token = ask("token FROM leasehold.job_claim('mail')");
  EXPECT_EQ(ask("concat_ws(' ', outcome, state) FROM leasehold.job_complete(1, " + token + ", '{\"sent\": true}')"),
            "settled completed");
  EXPECT_EQ(ask("replayed FROM leasehold.job_complete(1, " + token + ", '{\"sent\": true}')"), "t");
  EXPECT_EQ(ask("concat_ws(' ', state, result) FROM leasehold.job_show(1)"), "completed {\"sent\": true}");
  EXPECT_EQ(ask("string_agg(outcome, ' ' ORDER BY number) FROM leasehold.job_attempts(1)"), "failed completed");
  EXPECT_EQ(ask("count(*) FROM leasehold.job_show(99)"), "0");
}

TEST_F(FaceLifeTest, OfManyJobs) {
  EXPECT_EQ(
      ask("string_agg(id::text, ' ') FROM leasehold.job_enqueue_many('mail', ARRAY['1', '{\"a\": 2}', NULL]::jsonb[])"),
      "1 2 3");
  EXPECT_EQ(ask("string_agg(concat_ws(' ', id, payload), ' ' ORDER BY id) FROM leasehold.job_claim('mail', 10)"),
            "1 1 2 {\"a\": 2} 3 null");
  const auto token = ask("max(token) FROM leasehold_internal.held_lease WHERE kind = 'job'");
  EXPECT_EQ(ask("string_agg(s.outcome || ' ' || s.state, ' ') FROM unnest('{1,2}'::bigint[]) AS u(id), LATERAL "
                "leasehold.job_complete(u.id, " +
                token + ") AS s"),
            "settled completed settled completed");
  EXPECT_EQ(ask("state FROM leasehold.job_release(3, " + token + ")"), "available");
  EXPECT_EQ(ask("outcome FROM leasehold.job_cancel(3)"), "cancelled");
  EXPECT_EQ(ask("outcome FROM leasehold.job_retry(3)"), "retried");
  EXPECT_EQ(ask("concat_ws(' ', id, next) FROM leasehold.job_list(max => 1)"), "3 3");
  EXPECT_EQ(ask("concat_ws(' ', id, state, next) FROM leasehold.job_list('mail', max => 1, page => 2)"),
            "1 completed 1");
  EXPECT_EQ(ask("concat_ws(' ', count(*), max(next)) FROM leasehold.job_list(state => 'completed')"), "2");
  EXPECT_EQ(ask("outcome FROM leasehold.job_remove(1)"), "removed");
}

TEST_F(FaceLifeTest, OfAQueueAndARate) {
  ask("leasehold.queue_set('mail', max_running => 1)");
  ask("count(*) FROM leasehold.job_enqueue_many('mail', '{1,2}')");
  const auto token = ask("token FROM leasehold.job_claim('mail', holder => 'ann')");
  EXPECT_EQ(ask("concat_ws(' ', outcome, held_by, held_id) FROM leasehold.job_claim('mail')"), "at_capacity ann 1");
  EXPECT_EQ(ask("state FROM leasehold.job_snooze(1, " + token + ", '1 hour')"), "deferred");
  ask("leasehold.queue_pause('mail', 'down')");
  EXPECT_EQ(ask("concat_ws(' ', outcome, why) FROM leasehold.job_claim('mail')"), "paused down");
  ask("leasehold.queue_resume('mail')");
  EXPECT_EQ(ask("concat_ws(' ', name, available, deferred, max_running) FROM leasehold.queues"), "mail 1 1 1");
  EXPECT_EQ(ask("changed FROM leasehold.job_bulk('cancel', queue => 'mail')"), "2");
  EXPECT_EQ(ask("created FROM leasehold.rate_set('api', '1 hour')"), "t");
  EXPECT_EQ(ask("outcome FROM leasehold.rate_take('api')"), "granted");
  EXPECT_EQ(
      ask("concat_ws(' ', outcome, at IS NULL, retry_at > store_now) FROM leasehold.rate_take('api', wait => '0')"),
      "rate_limited t t");
  EXPECT_EQ(ask("concat_ws(' ', name, taken) FROM leasehold.rates"), "api 1");
  EXPECT_EQ(ask("removed FROM leasehold.rate_remove('api')"), "t");
}

TEST_F(FaceLifeTest, OfASet) {
  EXPECT_EQ(ask("concat_ws(' ', created, added, total, state) FROM leasehold.chunk_plan_range('orders', 1, 25, 10)"),
            "t 3 3 planned");
  EXPECT_EQ(ask("concat_ws(' ', created, kept) FROM leasehold.chunk_plan_range('orders', 1, 25, 10)"), "f 3");
  const auto token = ask("token FROM leasehold.chunk_claim('orders', holder => 'ann')");
  EXPECT_EQ(ask("concat_ws(' ', outcome, rows) FROM leasehold.chunk_heartbeat('orders', '1-10', " + token +
                ", cursor => '{\"page\": 17}', rows => 5)"),
            "extended 5");
  EXPECT_EQ(ask("concat_ws(' ', outcome, key, state) FROM leasehold.chunk_release('orders', '1-10', " + token + ")"),
            "settled 1-10 available");
  const auto claimed =
      alice_.rows(here("SELECT token FROM leasehold.chunk_claim('orders', max => 2) ORDER BY position"));
  const auto next = *claimed.at(0).at(0);
  const auto second = *claimed.at(1).at(0);
  EXPECT_EQ(ask("concat_ws(' ', outcome, held_key) FROM leasehold.chunk_claim('orders', key => '1-10')"), "held 1-10");
  EXPECT_EQ(ask("concat_ws(' ', cursor, rows) FROM leasehold.chunks WHERE key = '1-10'"), "{\"page\": 17} 5");
  EXPECT_EQ(raised("leasehold.chunk_fence('orders', '1-10', " + next + ")"), "");
  EXPECT_EQ(raised("leasehold.chunk_fence('orders', '1-10', " + token + ")"), "LH001");
  EXPECT_EQ(ask("state FROM leasehold.chunk_complete('orders', '1-10', " + next + ", rows => 10)"), "completed");
  EXPECT_EQ(ask("state FROM leasehold.chunk_fail('orders', '11-20', " + second + ", 'no', retryable => false)"),
            "exhausted");
  EXPECT_EQ(ask("outcome FROM leasehold.chunk_skip('orders', '21-25', 'none')"), "skipped");
  EXPECT_EQ(ask("concat_ws(' ', name, state, completed, exhausted, skipped) FROM leasehold.chunk_sets"),
            "orders partial 1 1 1");
  EXPECT_EQ(ask("concat_ws(' ', outcome, reset) FROM leasehold.chunk_reset('orders', 'failed')"), "ok 1");
  EXPECT_EQ(ask("outcome FROM leasehold.chunk_set_settings('orders', max_failures => 1)"), "ok");
  ask("id FROM leasehold.job_enqueue('sync', '{}')");
  EXPECT_EQ(ask("outcome FROM leasehold.chunk_tie_job('orders', 1)"), "tied");
  EXPECT_EQ(ask("concat_ws(' ', outcome, chunks) FROM leasehold.chunk_set_remove('orders')"), "removed 3");
  EXPECT_EQ(ask("total FROM leasehold.chunk_plan('years', '{2025,2026}', ARRAY['{\"y\": 1}', '[2]']::jsonb[])"), "2");
  EXPECT_EQ(ask("string_agg(spec::text, ' ' ORDER BY key) FROM leasehold.chunk_claim('years', max => 2)"),
            "{\"y\": 1} [2]");
}

TEST_F(FaceLifeTest, OfASessionAndItsItems) {
  const auto ann =
      ask("token FROM leasehold.session_open('ann', label => 'parsing', metadata => '{\"tool\": \"vim\"}')");
  const auto row = alice_.rows(here("SELECT id, token FROM leasehold.session_open(holder => 'bob')")).at(0);
  EXPECT_EQ(row.at(0)->size(), 36U) << "an id of its own";
  EXPECT_EQ(ask("outcome FROM leasehold.item_add('SD-1', 'Parse', metadata => '{\"n\": 1}')"), "created");
  EXPECT_EQ(ask("outcome FROM leasehold.item_add('SD-2', parent => 'SD-1')"), "created");
  EXPECT_EQ(ask("outcome FROM leasehold.item_add('SD-1', 'Parse it')"), "updated");
  EXPECT_EQ(ask("metadata FROM leasehold.items WHERE key = 'SD-1'"), "{\"n\": 1}");
  const auto claim = ask("token FROM leasehold.claim_take('SD-1', 'ann', " + ann + ")");
  EXPECT_EQ(
      ask("concat_ws(' ', outcome, why, key, held_key, held_session, held_label) FROM leasehold.claim_take('SD-2', '" +
          *row.at(0) + "', " + *row.at(1) + ")"),
      "blocked parent SD-2 SD-1 ann parsing");
  EXPECT_EQ(raised("leasehold.item_fence('SD-1', " + claim + ")"), "");
  EXPECT_EQ(ask("concat_ws(' ', outcome, session_id = '" + *row.at(0) + "') FROM leasehold.claim_transfer('SD-1', " +
                claim + ", '" + *row.at(0) + "')"),
            "granted t");
  EXPECT_EQ(raised("leasehold.item_fence('SD-1', " + claim + ")"), "LH001");
  EXPECT_EQ(ask("concat_ws(' ', outcome, session_id) FROM leasehold.claim_assign('SD-1', 'ann', 'holiday')"),
            "granted ann");
  const auto again = ask("token FROM leasehold.claim_assign('SD-1', 'ann')");
  const auto other = ask("token FROM leasehold.claim_switch('SD-1', " + again + ", 'SD-9', true)");
  EXPECT_EQ(ask("concat_ws(' ', outcome, key) FROM leasehold.claim_release('SD-9', 'ann', " + other + ")"),
            "released SD-9");
  ask("outcome FROM leasehold.claim_take('SD-1', 'ann', " + ann + ")");
  EXPECT_EQ(ask("outcome FROM leasehold.session_heartbeat('ann', " + ann + ", silence => '1 hour')"), "extended");
  EXPECT_EQ(ask("outcome FROM leasehold.session_heartbeat('ann', " + ann + ", progress => 'green')"), "extended");
  EXPECT_EQ(ask("concat_ws(' ', outcome, keys) FROM leasehold.session_close('ann', " + ann + ")"), "released {SD-1}");
  ask("outcome FROM leasehold.claim_assign('SD-9', '" + *row.at(0) + "')");
  EXPECT_EQ(ask("concat_ws(' ', outcome, held_by) FROM leasehold.claim_revoke('SD-9', 'no')"), "revoked bob");
  EXPECT_EQ(ask("outcome FROM leasehold.item_done('SD-1')"), "done");
  EXPECT_EQ(ask("outcome FROM leasehold.item_done('SD-1', done => false)"), "reopened");
  EXPECT_EQ(ask("outcome FROM leasehold.item_remove('SD-2')"), "removed");
  EXPECT_EQ(ask("concat_ws(' ', outcome, held_by) FROM leasehold.session_revoke('" + *row.at(0) + "', 'bye')"),
            "revoked bob");
}

TEST_F(FaceLifeTest, OfASchedule) {
  EXPECT_EQ(
      ask("concat_ws(' ', created, changed) FROM leasehold.schedule_set('refresh', '10 min', fail_min => '1 min')"),
      "t t");
  EXPECT_EQ(ask("concat_ws(' ', created, changed) FROM leasehold.schedule_ensure('refresh', '20 min')"), "f t");
  EXPECT_EQ(ask("concat_ws(' ', outcome, retry_at = next_run_at) FROM leasehold.schedule_acquire('refresh')"),
            "not_due t");
  EXPECT_EQ(ask("outcome FROM leasehold.schedule_trigger('refresh')"), "triggered");
  auto token = ask("token FROM leasehold.schedule_acquire('refresh', holder => 'ann')");
  EXPECT_EQ(ask("outcome FROM leasehold.schedule_heartbeat('refresh', " + token + ")"), "extended");
  EXPECT_EQ(raised("leasehold.schedule_fence('refresh', " + token + ")"), "");
  EXPECT_EQ(ask("outcome FROM leasehold.schedule_fail('refresh', " + token + ", 'no answer')"), "settled");
  EXPECT_EQ(raised("leasehold.schedule_fence('refresh', " + token + ")"), "LH001");
  token = ask("token FROM leasehold.schedule_acquire('refresh', at_once => true)");
  EXPECT_EQ(ask("outcome FROM leasehold.schedule_release('refresh', " + token + ")"), "released");
  token = ask("token FROM leasehold.schedule_acquire('refresh', at_once => true)");
  EXPECT_EQ(ask("outcome FROM leasehold.schedule_complete('refresh', " + token + ", '{\"rows\": 3}')"), "settled");
  EXPECT_EQ(ask("counts FROM leasehold.schedule_runs WHERE outcome = 'completed'"), "{\"rows\": 3}");
  EXPECT_EQ(ask("outcome FROM leasehold.schedule_pause('refresh', 'down')"), "paused");
  EXPECT_EQ(ask("concat_ws(' ', outcome, pause_reason) FROM leasehold.schedule_acquire('refresh', at_once => true)"),
            "paused down");
  EXPECT_EQ(ask("outcome FROM leasehold.schedule_resume('refresh')"), "resumed");
  EXPECT_EQ(ask("outcome FROM leasehold.schedule_rename('refresh', 'all')"), "renamed");
  EXPECT_EQ(ask("count(*) FROM leasehold.schedule_next('all')"), "1");
  EXPECT_EQ(ask("outcome FROM leasehold.schedule_remove('all')"), "removed");
}

TEST_F(FaceLifeTest, OfAScheduleThatEnqueues) {
  ask("created FROM leasehold.schedule_set('nightly', cron => '0 3 * * *', zone => 'Europe/Berlin', queue => "
      "'reports', "
      "payload => '{\"kind\": \"nightly\"}')");
  EXPECT_EQ(ask("count(DISTINCT occurrence) FROM leasehold.schedule_next('nightly', 4)"), "4");
  ask("outcome FROM leasehold.schedule_trigger('nightly')");
  EXPECT_EQ(ask("concat_ws(' ', outcome, job_id) FROM leasehold.schedule_fire('nightly')"), "enqueued 1");
  EXPECT_EQ(ask("concat_ws(' ', schedule, payload ->> 'kind') FROM leasehold.job_claim('reports')"), "nightly nightly");
}

TEST_F(FaceLifeTest, OfTheStore) {
  alice_.run(here("LISTEN leasehold"));
  EXPECT_EQ(ask("until IS NOT NULL FROM leasehold.await_topic('queue:mail', '1 hour')"), "t");
  bob_.scalar(here("SELECT id FROM leasehold.job_enqueue('mail', '{}')"));
  EXPECT_TRUE(alice_.notified());
  ask("outcome FROM leasehold.job_claim('mail', ttl => '1 s')");
  store_.advance(1min);
  EXPECT_EQ(ask("concat_ws(' ', jobs, leases) FROM leasehold.recover()"), "1 1");
  EXPECT_EQ(ask("version > 8 AND held_leases = 0 FROM leasehold.status"), "t");
  ask("outcome FROM leasehold.job_cancel(1)");
  ask("outcome FROM leasehold.lock_acquire('deploy')");
  EXPECT_EQ(ask("what FROM leasehold.events WHERE key = 'deploy'"), "acquired");
  store_.advance(1h);
  EXPECT_EQ(ask("jobs FROM leasehold.prune('1 min')"), "1");
}

}  // namespace
}  // namespace leasehold::support

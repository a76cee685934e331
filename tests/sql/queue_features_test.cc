// Time limits, expiry, dedupe modes, groups, batches and wait reasons through the functions of schema leasehold. Each
// parameter has a value of its own, so that a swapped one shows.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "leasehold/store.h"
#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class QueueFeaturesTest : public SqlTest {
 protected:
  std::string ask(const std::string& sql) { return alice_.scalar(here("SELECT " + sql)); }
  /// The columns of the only row, with spaces between them.
  std::string row(const std::string& columns, const std::string& from) {
    return ask("concat_ws(' ', " + columns + ") FROM " + from);
  }
  std::string shown(int id, const std::string& columns) {
    return row(columns, "leasehold.job_show(" + std::to_string(id) + ")");
  }
  /// What the store keeps of a job, whatever function has enqueued it.
  std::string kept(const std::string& id) {
    return row(
        "j.priority, j.job_group, j.max_failures, j.max_crashes, j.backoff_base, j.backoff_max, j.backoff_exponential, "
        "j.tags, j.timeout, j.expires_at - j.created_at, j.metadata, j.batch",
        "leasehold_internal.job AS j WHERE j.id = " + id);
  }
  static constexpr auto all_settings =
      R"(priority => 5, "group" => 'g', max_failures => 4, max_crashes => 6, backoff_base => '12 s',
         backoff_max => '13 s', backoff_exponential => false, tags => '{t}', timeout => '14 s', expires_in => '15 s',
         metadata => '{"m": 1}', batch => 'b', delay => '11 s')";
  static constexpr auto all_kept = "5 g 4 6 00:00:12 00:00:13 f {t} 00:00:14 00:00:15 {\"m\": 1} b";
};

TEST_F(QueueFeaturesTest, EveryFunctionThatEnqueuesKeepsEachSetting) {
  ask("leasehold.job_enqueue('first', '{}')");
  for (const std::string call : {"job_enqueue('mail', payload => '{}'", "job_enqueue('mail', payload_text => '{}'",
                                 "job_enqueue('mail', payload_json => '{}'", R"(job_enqueue_bytes('mail', '\x00')"}) {
    const auto id = ask("id FROM leasehold." + call + ", " + all_settings +
                        R"(, dedupe_key => 'k', depends_on => '{1}', if_failed => 'run', on_batch_end => 'e',
                           dedupe_mode => 'replace', dedupe_for => '16 s', request_id => 'r'))");
    EXPECT_EQ(kept(id), all_kept) << call;
    EXPECT_EQ(row("d.dedupe_key, d.job_id = " + id + ", taken_until - j.created_at",
                  "leasehold_internal.dedupe AS d JOIN leasehold_internal.job AS j ON j.id = d.job_id"),
              "k t 00:00:16")
        << call;
    EXPECT_EQ(row("after_id, if_failed", "leasehold_internal.predecessor WHERE job_id = " + id), "1 run") << call;
    EXPECT_EQ(ask("end_job FROM leasehold.batch_show('e')"), id) << call;
    EXPECT_EQ(ask("string_agg(DISTINCT (b.due_at - j.created_at)::text, ' ') FROM leasehold_internal.blocked AS b "
                  "JOIN leasehold_internal.job AS j ON j.id = b.job_id"),
              "00:00:11")
        << call;
    EXPECT_EQ(row("request_id, job_id = " + id, "leasehold_internal.enqueue_request"), "r t") << call;
    EXPECT_EQ(ask("updated FROM leasehold." + call + ", dedupe_key => 'k', dedupe_mode => 'replace')"), "t") << call;
    ask("leasehold.job_remove(" + id + ")");
    alice_.run(here("DELETE FROM leasehold_internal.enqueue_request"));
  }
}

TEST_F(QueueFeaturesTest, ManyJobsKeepEachSetting) {
  for (const std::string group : {R"("group" => 'g', )", ""}) {
    ask("count(*) FROM leasehold.job_enqueue_many('many', '{1,2}', " + group +
        R"(priority => 5, max_failures => 4, max_crashes => 6, backoff_base => '12 s', backoff_max => '13 s',
           backoff_exponential => false, tags => '{t}', timeout => '14 s', expires_in => '15 s',
           metadata => '{"m": 1}', batch => 'b', delay => '11 s'))");
    std::string expected = all_kept;
    if (group.empty()) expected.replace(expected.find(" g"), 2, "");
    const auto last = ask("max(id) FROM leasehold.jobs");
    EXPECT_EQ(kept(last), expected);
    EXPECT_EQ(ask("due_at - created_at FROM leasehold.job_show(" + last + ")"), "00:00:11");
  }
  EXPECT_EQ(ask("string_agg(payload::text, ' ' ORDER BY id) FROM leasehold.jobs"), "1 2 1 2");
  EXPECT_EQ(row("total, unfinished", "leasehold.batch_show('b')"), "4 4");
}

TEST_F(QueueFeaturesTest, ManyJobsOfAGroupTakeTurnsWithOthers) {
  ask("count(*) FROM leasehold.job_enqueue_many('mail', '{1,2,3}', \"group\" => 'ann')");
  ask("leasehold.job_enqueue('mail', '4', \"group\" => 'bob')");
  EXPECT_EQ(ask("string_agg(\"group\", ' ') FROM leasehold.job_claim('mail', 3)"), "ann bob ann");
  EXPECT_EQ(bob_.fail(here("SELECT leasehold.job_enqueue_many('mail', '{1}', \"group\" => '')")).state, "LH003");
}

TEST_F(QueueFeaturesTest, TheFirstOfSeveralTimeLimitsCounts) {
  ask("leasehold.queue_set('mail', timeout => '20 min', default_ttl => '1 hour')");
  ask("leasehold.job_enqueue('mail', '{}', timeout => '10 min')");
  ask("leasehold.job_enqueue('mail', '{}')");
  ask("leasehold.job_enqueue('other', '{}')");
  const std::string limits = "ttl, timeout, expires_at - acquired_at";
  EXPECT_EQ(row(limits, "leasehold.job_claim('mail', timeout => '30 min')"), "01:00:00 00:10:00 00:10:00");
  EXPECT_EQ(row(limits, "leasehold.job_claim('mail', timeout => '30 min')"), "01:00:00 00:20:00 00:20:00");
  EXPECT_EQ(row(limits, "leasehold.job_claim('other', ttl => '1 min', timeout => '30 min')"),
            "00:01:00 00:30:00 00:01:00");
  EXPECT_EQ(shown(1, "timeout, times_out_at - store_now"), "00:10:00 00:10:00");
  store_.advance(std::chrono::minutes(10));
  EXPECT_EQ(ask("outcome FROM leasehold.job_claim('mail')"), "empty");
  EXPECT_EQ(shown(1, "state, failures, crashes, error"), "deferred 1 0 timed out after 10m");
}

TEST_F(QueueFeaturesTest, AJobThatIsNotStartedInTimeLapses) {
  ask("leasehold.job_enqueue('mail', '{}', expires_in => '2 min', delay => '1 min')");
  ask("leasehold.job_enqueue('mail', '{}', expires_at => leasehold_internal.now() + interval '3 min')");
  EXPECT_EQ(shown(1, "expires_at - created_at, due_at - created_at"), "00:02:00 00:01:00");
  EXPECT_EQ(shown(2, "expires_at - created_at"), "00:03:00");
  store_.advance(std::chrono::minutes(2));
  EXPECT_EQ(row("outcome, id", "leasehold.job_claim('mail')"), "granted 2");
  EXPECT_EQ(shown(1, "state"), "lapsed");
  EXPECT_EQ(ask("string_agg(outcome, ' ') FROM leasehold.job_attempts(1)"), "lapsed");
  EXPECT_EQ(ask("outcome FROM leasehold.job_retry(1)"), "retried");
}

TEST_F(QueueFeaturesTest, ADedupeModeChangesTheJobThatWaits) {
  const auto enqueue = [&](const std::string& more) {
    return row("id, created, updated, state", "leasehold.job_enqueue('mail', " + more + ", dedupe_key => 'k')");
  };
  EXPECT_EQ(enqueue("'1', priority => 1"), "1 t f available");
  EXPECT_EQ(enqueue("'2', priority => 2"), "1 f f available");
  EXPECT_EQ(shown(1, "payload, priority"), "1 1");
  EXPECT_EQ(enqueue("'3', priority => 3, dedupe_mode => 'replace', timeout => '7 min'"), "1 f t available");
  EXPECT_EQ(shown(1, "payload, priority, timeout"), "3 3 00:07:00");
  EXPECT_EQ(enqueue("'4', priority => 4, dedupe_mode => 'debounce', delay => '5 min'"), "1 f t deferred");
  EXPECT_EQ(shown(1, "payload, priority, due_at - store_now"), "3 3 00:05:00");
}

TEST_F(QueueFeaturesTest, ADedupePeriodOutlivesItsJob) {
  ask("leasehold.job_enqueue('mail', '{}', dedupe_key => 'k', dedupe_for => '2 min')");
  ask("leasehold.job_cancel(1)");
  const std::string again = "leasehold.job_enqueue('mail', '{}', dedupe_key => 'k')";
  EXPECT_EQ(row("id, created, state", again), "1 f cancelled");
  store_.advance(std::chrono::minutes(2));
  EXPECT_EQ(row("created, state", again), "t available");
}

TEST_F(QueueFeaturesTest, ABatchCountsItsJobsAndStartsItsLast) {
  for (const auto* batch : {"b", "b", "b", "b", "b"}) {
    ask("leasehold.job_enqueue('mail', '{}', max_failures => 1, batch => '" + std::string(batch) + "')");
  }
  ask("leasehold.job_enqueue('report', '{}', on_batch_end => 'b')");
  EXPECT_EQ(shown(6, "state, on_batch_end, wait_reason, wait_text"),
            "blocked b blocked it waits for the batch b (5 unfinished)");
  const auto settle = [&](const std::string& act, const std::string& more = {}) {
    ask("s.outcome FROM leasehold.job_claim('mail') AS c, LATERAL leasehold.job_" + act + "(c.id, c.token" + more +
        ") AS s");
  };
  settle("complete");
  settle("complete");
  settle("fail", ", 'no'");
  const std::string counts = "total, unfinished, completed, failed, cancelled, lapsed, end_job, ended_at IS NULL";
  EXPECT_EQ(row(counts, "leasehold.batch_show('b')"), "5 2 2 1 0 0 6 t");
  ask("leasehold.job_cancel(4)");
  ask("leasehold.job_enqueue('mail', '{}', batch => 'b', expires_in => '0 s')");
  settle("complete");
  EXPECT_EQ(row(counts, "leasehold.batch_show('b')"), "6 0 3 1 1 1 6 f");
  EXPECT_EQ(row("outcome, id", "leasehold.job_claim('report')"), "granted 6");
  EXPECT_EQ(ask("count(*) FROM leasehold.batch_show('none')"), "0");
  EXPECT_EQ(ask("count(*) FROM leasehold.job_list(batch => 'b')"), "6");
}

TEST_F(QueueFeaturesTest, MetadataAndCursorReachTheNextAttempt) {
  ask(R"(leasehold.job_enqueue('mail', '{}', metadata => '{"a": 1}'))");
  const auto token = ask("token FROM leasehold.job_claim('mail')");
  ask("outcome FROM leasehold.job_heartbeat(1, " + token + ", save => '{\"row\": 7}')");
  ask("outcome FROM leasehold.job_release(1, " + token + ")");
  EXPECT_EQ(row("attempt, metadata, cursor", "leasehold.job_claim('mail')"), R"(2 {"a": 1} {"row": 7})");
  EXPECT_EQ(shown(1, "metadata, cursor"), R"({"a": 1} {"row": 7})");
}

TEST_F(QueueFeaturesTest, AJobSaysWhyItWaits) {
  ask("leasehold.job_enqueue('mail', '{}', \"group\" => 'ann')");
  EXPECT_EQ(shown(1, "wait_reason, wait_text"), "no_worker no worker has asked for mail in the last 5m");
  EXPECT_EQ(row("wait_reason, workers, asked_at IS NULL", "leasehold.queues"), "no_worker 0 t");
  ask("leasehold.job_enqueue('mail', '{}', \"group\" => 'ann')");
  ask("outcome FROM leasehold.job_claim('mail', ttl => '3 min')");
  EXPECT_EQ(shown(2, "wait_reason, wait_text"), "turn it waits for its turn");
  ask("leasehold.queue_set('mail', max_per_group => 1)");
  EXPECT_EQ(shown(2, "wait_reason, wait_job_id, wait_until - store_now"), "group_full 1 00:03:00");
  ask("leasehold.queue_set('mail', max_running => 1)");
  EXPECT_EQ(shown(2, "wait_reason, wait_job_id, wait_until - store_now"), "at_capacity 1 00:03:00");
  EXPECT_EQ(row("wait_reason", "leasehold.queues"), "at_capacity");
  EXPECT_EQ(row("wait_reason", "leasehold.job_list('mail', state => 'available')"), "at_capacity");
  ask("leasehold.queue_pause('mail', 'the provider is down')");
  EXPECT_EQ(shown(2, "wait_reason, wait_text"), "paused the queue is paused: the provider is down");
  EXPECT_EQ(shown(1, "wait_reason IS NULL"), "t") << "it runs";
  ask("leasehold.job_enqueue('later', '{}', delay => '4 min')");
  EXPECT_EQ(shown(3, "wait_reason, wait_until - store_now"), "not_due 00:04:00");
  ask("leasehold.job_enqueue('later', '{}', depends_on => '{3}')");
  EXPECT_EQ(shown(4, "wait_reason, wait_job_id"), "blocked 3");
  ask("leasehold.queue_set('fast', rate_count => 1, rate_period => '1 min')");
  ask("count(*) FROM leasehold.job_enqueue_many('fast', '{1,2}')");
  ask("outcome FROM leasehold.job_claim('fast', ttl => '1 s')");
  EXPECT_EQ(shown(6, "wait_reason, wait_until - store_now"), "rate_limited 00:01:00");
  store_.advance(std::chrono::seconds(1));
  EXPECT_EQ(shown(5, "wait_reason"), "recovering");
}

TEST_F(QueueFeaturesTest, WorkersAreListedWithWhatTheyListenTo) {
  const auto jobs = store_.open().jobs();
  const auto lease = jobs.open_lease(std::chrono::minutes(2), {.holder = Holder{.name = "ann", .host = "h", .pid = 7}},
                                     {.queues = {"mail", "sms"}, .concurrency = 3});
  ASSERT_TRUE(lease);
  ask("leasehold.job_enqueue('mail', '{}')");
  EXPECT_EQ(shown(1, "wait_reason"), "turn") << "a worker listens";
  Call call{.holder = Holder{.name = "ann", .host = "h", .pid = 7}};
  call.lease = *lease;
  ASSERT_TRUE(jobs.claim("mail", {}, call));
  store_.advance(std::chrono::seconds(30));
  ASSERT_TRUE(jobs.extend(*lease));
  store_.advance(std::chrono::seconds(5));
  EXPECT_EQ(row("holder, host, pid, queues, concurrency, running, heartbeat_at - held_since, held_until - heartbeat_at",
                "leasehold.workers"),
            R"(ann h 7 ["mail", "sms"] 3 1 00:00:30 00:02:00)");
  EXPECT_EQ(row("name, running, workers", "leasehold.queues"), "mail 1 1");
}

}  // namespace
}  // namespace leasehold::support

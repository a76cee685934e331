// Many connections call the queue's SQL functions at random, at the same time, while leases run out and backends are
// terminated. Whatever happens, the tables must agree with each other in every snapshot.
//
// The run is short. LEASEHOLD_FUZZ_SECONDS makes it longer, LEASEHOLD_FUZZ_SEED repeats the choices of an earlier one
// (how the connections interleave is up to the server).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "storage/postgres/texts.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

constexpr int fuzzers = 6;
/// Rates change while jobs run, but never beyond these.
constexpr int most_running = 3;
constexpr int most_per_key = 2;

int number_from(const std::string& name, int otherwise) {
  const auto text = env(name);
  return text.empty() ? otherwise : std::stoi(text);
}

/// Shared by all connections of a run.
struct Shared {
  std::string url;
  std::string schema;
  BootTime until{};
  std::array<std::atomic<int>, fuzzers> pids{};
  std::atomic<long> acts = 0;
  std::atomic<long> granted = 0;
  std::mutex mutex;
  std::vector<std::string> surprises;
  std::set<std::pair<std::string, std::string>> grants;  ///< job and token: each is reported once

  void surprise(const std::string& what) {
    const std::lock_guard guard(mutex);
    if (surprises.size() < 10) surprises.push_back(what);
  }
  [[nodiscard]] bool goes_on() {
    const std::lock_guard guard(mutex);
    return surprises.empty() && BootClock::now() < until;
  }
};

/// One connection and its thread. It reconnects when its backend is terminated.
class Fuzzer {
 public:
  Fuzzer(Shared& shared, int number, std::uint64_t seed)
      : shared_(shared), number_(static_cast<std::size_t>(number)), dice_(seed + static_cast<std::uint64_t>(number)) {}

  void run() {
    while (shared_.goes_on()) {
      try {
        PgConnection connection(shared_.url);
        connection_ = &connection;
        shared_.pids[number_] = connection.backend_pid();
        while (shared_.goes_on() && (number_ % 2 == 0 ? act() : live_fast())) ++shared_.acts;
      } catch (const std::exception& error) {
        // The answer to a terminated backend, or to a connection that was refused meanwhile.
        if (std::string(error.what()).find("terminat") == std::string::npos &&
            std::string(error.what()).find("connection") == std::string::npos) {
          shared_.surprise(error.what());
        }
      }
    }
  }

 private:
  struct Held {
    std::string job;
    std::string token;
  };

  int roll(int sides) { return static_cast<int>(dice_() % static_cast<std::uint64_t>(sides)); }
  std::string queue() { return roll(3) == 0 ? "'limited'" : "'free'"; }
  /// The newest jobs are where things happen.
  std::string any_job() {
    return "(SELECT greatest(1, max(id) - " + std::to_string(roll(25)) + ") FROM leasehold_internal.job)";
  }
  std::string maybe(int one_in, const std::string& value) { return roll(one_in) == 0 ? value : "NULL"; }

  /// False: the connection is gone. Conflicts and refusals are answers, too.
  bool ask(const std::string& sql, std::vector<TextRow>* rows = nullptr) {
    const auto here = at_home(sql);
    connection_->send(here);
    PgFailure failure;
    auto reported = connection_->answered(failure);
    if (failure.state.empty()) {
      if (rows != nullptr) *rows = std::move(reported);
      return true;
    }
    if (failure.state == "57P01" || failure.state == "connection") return false;
    static const std::set<std::string> expected = {"40001", "40P01", "LH003", "55P03"};
    if (!expected.contains(failure.state)) shared_.surprise(failure.state + " " + failure.message + " of " + here);
    return true;
  }

  [[nodiscard]] std::string at_home(const std::string& sql) const { return postgres::in_schema(sql, shared_.schema); }

  bool act() {
    switch (roll(21)) {
      case 0:
      case 1:
      case 2: return enqueue();
      case 3: return ask("SELECT leasehold_internal.job_enqueue_many(" + queue() + ", '{a,b,c,d,e}')");
      case 4:
      case 5:
      case 6: return claim();
      case 7:
      case 8:
      case 9: return settle();
      case 10: return heartbeat();
      case 11: return settle_many();
      case 12: return ask("SELECT leasehold_internal.job_cancel(" + any_job() + ", 'fuzz')");
      case 13: return ask("SELECT leasehold_internal.job_retry(" + any_job() + ")");
      case 14: return ask("SELECT leasehold_internal.job_redrive(" + maybe(2, queue()) + ", 5)");
      case 15: return ask("SELECT leasehold_internal.job_remove(" + any_job() + ")");
      case 16: return ask("SELECT leasehold_internal.recover(3)");
      case 17: return operate();
      case 18: return change_many();
      default: return revive();
    }
  }

  bool change_many() {
    const std::vector<std::string> actions = {"cancel", "retry", "remove"};
    return ask("SELECT leasehold.job_bulk('" + actions[static_cast<std::size_t>(roll(3))] + "', " + maybe(2, queue()) +
               ", max => 5)");
  }

  /// Dead letters come back: one by one, or all at once.
  bool revive() {
    if (roll(2) == 0) return ask("SELECT leasehold_internal.job_redrive(NULL, 100)");
    return ask(
        "SELECT leasehold_internal.job_retry((SELECT s.job_id FROM leasehold_internal.settled AS s WHERE s.final "
        "AND s.outcome <> 'completed' ORDER BY s.job_id LIMIT 1 OFFSET " +
        std::to_string(roll(5)) + "))");
  }

  /// Jobs die and come back all the time.
  bool live_fast() {
    if (roll(3) == 0) return revive();
    if (held_.empty()) return claim();
    const auto held = take();
    return ask("SELECT leasehold_internal.job_settle(" + held.job + ", " + held.token +
               ", 'fail', p_retryable => false)");
  }

  bool enqueue() {
    return ask(
        "SELECT leasehold_internal.job_enqueue(" + queue() + ", 'x', " + std::to_string(roll(3)) +
        ", p_delay => interval '" + std::to_string(roll(4) == 0 ? roll(30) : 0) + " milliseconds', p_dedupe_key => " +
        maybe(4, "'key" + std::to_string(roll(3)) + "'") + ", p_job_group => " +
        maybe(2, "'key" + std::to_string(roll(2)) + "'") + ", p_max_failures => " + std::to_string(1 + roll(2)) +
        ", p_max_crashes => " + std::to_string(1 + roll(2)) +
        ", p_backoff_base => interval '2 milliseconds', p_backoff_max => interval '9 milliseconds', p_depends_on => " +
        (roll(3) == 0 ? "ARRAY[" + any_job() + ", " + any_job() + "]" : std::string("'{}'")) + ", p_if_failed => '" +
        std::array{"cancel", "run", "wait"}[static_cast<std::size_t>(roll(3))] + "')");
  }

  bool claim() {
    std::vector<TextRow> rows;
    if (!ask("SELECT j.id, c.token FROM leasehold_internal.job_claim(" + queue() + ", " +
                 std::to_string(roll(2) == 0 ? 1 : 1 + roll(5)) +
                 ", interval '50 milliseconds', 'fuzzer') AS c, unnest(c.job_ids) AS j(id)",
             &rows)) {
      return false;
    }
    for (const auto& row : rows) {
      held_.push_back({.job = row[0].value(), .token = row[1].value()});
      ++shared_.granted;
      const std::lock_guard guard(shared_.mutex);
      if (!shared_.grants.emplace(held_.back().job, held_.back().token).second) {
        shared_.surprises.push_back("job " + held_.back().job + " was granted twice with token " + held_.back().token);
      }
    }
    // A holder of many jobs lets some of them expire.
    while (held_.size() > 12) held_.erase(held_.begin());
    return true;
  }

  Held take() {
    if (held_.empty()) return {.job = "1", .token = "1"};
    const auto at = held_.begin() + roll(static_cast<int>(held_.size()));
    const auto taken = *at;
    // Some verdicts are given twice.
    if (roll(8) != 0) held_.erase(at);
    return taken;
  }

  bool settle() {
    const auto held = take();
    static constexpr std::array<const char*, 7> verdicts = {"'complete'",
                                                            "'complete', 'result'",
                                                            "'fail', NULL, 'error'",
                                                            "'fail', NULL, 'error', false",
                                                            "'fail', NULL, 'error', true, interval '1 millisecond'",
                                                            "'release'",
                                                            "'snooze', p_delay => interval '3 milliseconds'"};
    return ask("SELECT leasehold_internal.job_settle(" + held.job + ", " + held.token + ", " +
               verdicts[static_cast<std::size_t>(roll(7))] + ")");
  }

  bool settle_many() {
    std::string ids;
    std::string tokens;
    for (int i = 0; i < 3; ++i) {
      const auto held = take();
      ids += (ids.empty() ? "" : ",") + held.job;
      tokens += (tokens.empty() ? "" : ",") + held.token;
    }
    return ask("SELECT leasehold_internal.job_settle_many('" + std::string(roll(2) == 0 ? "complete" : "release") +
               "', '{" + ids + "}', '{" + tokens + "}')");
  }

  bool heartbeat() {
    const auto held = held_.empty() ? take() : held_[static_cast<std::size_t>(roll(static_cast<int>(held_.size())))];
    return ask("SELECT leasehold_internal.job_heartbeat(" + held.job + ", " + held.token + ", NULL, " + maybe(2, "50") +
               ")");
  }

  bool operate() {
    switch (roll(5)) {
      case 0: return ask("SELECT leasehold_internal.queue_purge(" + queue() + ", 2)");
      case 1: return ask("SELECT leasehold_internal.job_prune(interval '0', interval '0', 0, 100)");
      case 2:
        return ask("SELECT leasehold_internal.queue_set('limited', " + std::to_string(1 + roll(most_running)) + ", " +
                   std::to_string(1 + roll(most_per_key)) + ")");
      case 3:
        return ask("SELECT leasehold_internal.queue_pause('limited', " + std::string(roll(3) == 0 ? "true" : "false") +
                   ")");
      default:
        return ask("SELECT pg_terminate_backend(" +
                   std::to_string(shared_.pids[static_cast<std::size_t>(roll(fuzzers))].load()) + ")");
    }
  }

  Shared& shared_;
  std::size_t number_;
  std::mt19937_64 dice_;
  PgConnection* connection_ = nullptr;
  std::vector<Held> held_;
};

class JobFuzzTest : public ::testing::Test {
 protected:
  JobFuzzTest() {
    shared_.url = store_.database_url();
    shared_.schema = store_.schema();
    for (const auto* is : {"bundle_from() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 2'",
                           "bundle_size() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 3'"}) {
      store_.run("CREATE OR REPLACE FUNCTION " + store_.schema() + "_internal." + is);
    }
    store_.run("SELECT " + store_.schema() + "_internal.queue_set('limited', " + std::to_string(most_running) + ", " +
               std::to_string(most_per_key) + ")");
    store_.run("SET search_path = " + store_.schema() + "_internal, " + store_.schema());
  }

  /// Rows that name a job and what is wrong with it. One statement, and so one snapshot.
  std::string broken_rules() {
    return store_.scalar(
        "WITH held AS ("
        "  SELECT u.id, g.token, g.queue, g.lease_id FROM job_grant AS g CROSS JOIN unnest(g.jobs) AS u(id)"
        "   WHERE NOT EXISTS (SELECT FROM settled AS s WHERE s.job_id = u.id AND s.token = g.token)), "
        "place AS ("
        "  SELECT job_id AS id, 'ready' AS place FROM ready"
        "  UNION ALL SELECT i, 'bundle' FROM bundle CROSS JOIN generate_series(first_id, last_id) AS i"
        "  UNION ALL SELECT job_id, 'deferred' FROM deferred"
        "  UNION ALL SELECT DISTINCT job_id, 'blocked' FROM blocked"
        "  UNION ALL SELECT id, 'held' FROM held"
        "  UNION ALL SELECT job_id, 'final ' || outcome FROM settled WHERE final"
        "     AND EXISTS (SELECT FROM job WHERE id = job_id)), "
        "wrong AS ("
        "  SELECT coalesce(j.id, p.id) || ' is in: ' || coalesce(string_agg(p.place, ', '), 'no place') AS what"
        "    FROM job AS j FULL JOIN place AS p ON p.id = j.id GROUP BY j.id, p.id"
        "  HAVING count(p.id) <> 1 OR j.id IS NULL"
        "  UNION ALL SELECT b.job_id || ' waits for ' || b.after_id || ', which has completed'"
        "    FROM blocked AS b JOIN settled AS s ON s.job_id = b.after_id AND s.final AND s.outcome = 'completed'"
        "  UNION ALL SELECT b.job_id || ' waits for ' || b.after_id || ', which is gone'"
        "    FROM blocked AS b WHERE NOT EXISTS (SELECT FROM job WHERE id = b.after_id)"
        "  UNION ALL SELECT b.job_id || ' waits for ' || b.after_id || ', which is dead'"
        "    FROM blocked AS b JOIN predecessor AS n ON n.job_id = b.job_id AND n.after_id = b.after_id"
        "    JOIN settled AS s ON s.job_id = b.after_id AND s.final WHERE n.if_failed <> 'wait'"
        "  UNION ALL SELECT n.job_id || ' does not wait for ' || n.after_id FROM predecessor AS n"
        "    JOIN place AS p ON p.id = n.job_id AND p.place NOT LIKE 'final%'"
        "   WHERE n.if_failed <> 'run' AND NOT EXISTS (SELECT FROM blocked WHERE (job_id, after_id) = (n.job_id, "
        "n.after_id))"
        "     AND NOT EXISTS (SELECT FROM settled WHERE job_id = n.after_id AND final AND outcome = 'completed')"
        "  UNION ALL SELECT n.job_id || ' or ' || n.after_id || ' of a predecessor is gone' FROM predecessor AS n"
        "    WHERE (SELECT count(*) FROM job WHERE id IN (n.job_id, n.after_id)) < 2"
        "  UNION ALL SELECT 'limited runs ' || count(*) FROM held AS h JOIN lease AS l ON l.id = h.lease_id"
        "     WHERE h.queue = 'limited' AND l.ended_at IS NULL HAVING count(*) > " +
        std::to_string(most_running) +
        "  UNION ALL SELECT j.job_group || ' runs ' || count(*) FROM held AS h JOIN lease AS l ON l.id = h.lease_id"
        "     JOIN job AS j ON j.id = h.id WHERE h.queue = 'limited' AND l.ended_at IS NULL"
        "       AND j.job_group IS NOT NULL GROUP BY j.job_group HAVING count(*) > " +
        std::to_string(most_per_key) +
        "  UNION ALL SELECT d.job_id || ' has a dedupe key and is final' FROM dedupe AS d"
        "     JOIN settled AS s ON s.job_id = d.job_id AND s.final) "
        "SELECT coalesce(string_agg(what, '; '), '') FROM wrong");
  }

  /// The latest token of a job never falls. Of a removed job, only what its open grants need is left.
  std::string fallen_tokens() {
    std::string fallen;
    std::map<std::string, long> now;
    for (const auto& row : store_.rows(
             "SELECT t.id, max(t.token) FROM (SELECT u.id, g.token FROM job_grant AS g CROSS JOIN unnest(g.jobs) AS "
             "u(id) UNION ALL SELECT job_id, token FROM settled) AS t JOIN job AS j ON j.id = t.id GROUP BY t.id")) {
      const auto token = std::stol(row[1].value());
      const auto before = tokens_.find(row[0].value());
      if (before != tokens_.end() && before->second > token) fallen += row[0].value() + " ";
      now[row[0].value()] = token;
    }
    tokens_ = std::move(now);
    return fallen;
  }

  void check(const std::string& when) {
    if (const auto broken = broken_rules(); !broken.empty()) shared_.surprise(when + ": " + broken);
    if (const auto fallen = fallen_tokens(); !fallen.empty()) shared_.surprise(when + ": tokens fell of " + fallen);
  }

  void run(std::uint64_t seed, Duration span) {
    shared_.until = BootClock::now() + span;
    std::vector<std::thread> threads;
    for (int i = 0; i < fuzzers; ++i) threads.emplace_back([this, i, seed] { Fuzzer(shared_, i, seed).run(); });
    while (shared_.goes_on()) check("meanwhile");
    for (auto& thread : threads) thread.join();
  }

  TestStore store_{StoreKind::postgres, {.real_time = true}};
  Shared shared_;
  std::map<std::string, long> tokens_;
};

TEST_F(JobFuzzTest, ConcurrentCallsKeepEveryJobInOnePlace) {
  const auto seed = number_from("LEASEHOLD_FUZZ_SEED", static_cast<int>(std::random_device{}() & 0xffffff));
  run(static_cast<std::uint64_t>(seed), std::chrono::seconds(number_from("LEASEHOLD_FUZZ_SECONDS", 5)));
  check("at the end");
  for (const auto& surprise : shared_.surprises) ADD_FAILURE() << "LEASEHOLD_FUZZ_SEED=" << seed << ": " << surprise;
  std::cout << "seed " << seed << ": " << shared_.acts << " acts, " << shared_.granted << " grants\n";
  EXPECT_GT(shared_.granted, 50);
}

}  // namespace
}  // namespace leasehold::support

// The clients' acts on jobs and queues.
#include "leasehold/sqlite.h"
#include "model/words.h"
#include "sim/actor.h"
#include "sim/scenario.h"

namespace leasehold::sim {
namespace {

std::string key_of(JobId id) { return "job " + std::to_string(id); }
std::string lease_of(const SharedLease& lease) { return fmt::format("worker {} {}", lease.id, lease.instance); }

NewJob some_job(Actor& actor, const std::string& queue) {
  NewJob job{.payload = "payload", .priority = static_cast<int>(actor.dice.below(3))};
  job.max_failures = static_cast<int>(actor.dice.between(1, 3));
  job.max_crashes = static_cast<int>(actor.dice.between(1, 3));
  job.backoff = {.base = 1s, .max = 4s};
  if (actor.dice.chance(2000)) job.delay = Duration(actor.dice.between(1, 5'000'000));
  if (queue == "keyed") job.group = actor.dice.choose(groups);
  return job;
}

// A queue that grows for ever would only make the run slow.
bool is_crowded(Actor& actor) {
  const auto& jobs = actor.stage.picture().jobs->jobs;
  return std::count_if(jobs.begin(), jobs.end(), [](const auto& job) { return !job.second.final; }) > 25;
}

Answer enqueue(Actor& actor) {
  if (is_crowded(actor)) return std::nullopt;
  const auto& queue = actor.dice.choose(queue_names);
  auto job = some_job(actor, queue);
  if (actor.dice.chance(2500)) job.dedupe_key = "only one";
  if (!actor.known_jobs.empty() && actor.dice.chance(2000)) {
    job.depends_on = {actor.dice.choose(actor.known_jobs)};
    job.if_failed = actor.dice.choose(std::vector{IfFailed::cancel, IfFailed::run, IfFailed::wait});
  }
  actor.say("enqueue into {}", queue);
  const auto enqueued = actor.store.jobs().enqueue(queue, job);
  if (enqueued) Actor::remember(actor.known_jobs, enqueued->id);
  return word(enqueued);
}

Answer enqueue_many(Actor& actor) {
  if (is_crowded(actor)) return std::nullopt;
  const auto& queue = actor.dice.choose(queue_names);
  std::vector<NewJob> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(some_job(actor, queue));
  actor.say("enqueue three into {}", queue);
  const auto enqueued = actor.store.jobs().enqueue(queue, jobs);
  if (!enqueued) return word(enqueued);
  for (const auto& one : *enqueued) Actor::remember(actor.known_jobs, one.id);
  return "ok";
}

Answer keep(Actor& actor, const Result<JobGrant>& grant, const std::optional<SharedLease>& attached) {
  if (!grant) return word(grant);
  const auto lease =
      attached && !grant->solo ? lease_of(*attached) : fmt::format("lease {} {}", grant->lease_id, grant->token.value);
  for (const auto& job : grant->jobs) {
    actor.believe(key_of(job.id), job.token, lease, grant->trusted_until);
    Actor::remember(actor.jobs, {.id = job.id, .token = job.token, .lease = lease});
    Actor::remember(actor.known_jobs, job.id);
  }
  return "ok";
}

Answer claim_with(Actor& actor, JobClaimOptions options, const std::optional<SharedLease>& lease = {}) {
  const auto& queue = actor.dice.choose(queue_names);
  options.max = static_cast<int>(actor.dice.between(1, 4));
  const Call call{.holder = actor.holder, .lease = lease};
  if (!lease) options.request_id = actor.new_request_id();
  actor.say("claim up to {} of {}{}", options.max, queue, lease ? ", attached" : "");
  if (lease) return keep(actor, actor.store.jobs().claim(queue, options, call), lease);
  std::optional<Token> first;
  const auto grant = actor.ask([&] {
    auto answer = actor.store.jobs().claim(queue, options, call);
    if (answer && first && *first != answer->token) {
      actor.stage.report(Violation{"I6", "one request for jobs was granted twice"});
    }
    if (answer && !first) first = answer->token;
    return answer;
  });
  return keep(actor, grant, std::nullopt);
}

Answer claim(Actor& actor) { return claim_with(actor, {.ttl = actor.some_ttl()}); }
Answer wait_for(Actor& actor) { return claim_with(actor, {.ttl = actor.some_ttl(), .wait = 3s}); }

Answer attach(Actor& actor) {
  if (!actor.shared_lease) return std::nullopt;
  return claim_with(actor, {}, actor.shared_lease);
}

Answer heartbeat(Actor& actor) {
  auto* held = actor.some(actor.jobs);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.say("heartbeat job {} {}", mine.id, mine.token.value);
  const auto beat = actor.ask([&] { return actor.store.jobs().heartbeat(mine.id, mine.token, {.stage = "sim"}); });
  if (beat) actor.extend(mine.lease, beat->trusted_until);
  return word(beat);
}

/// Gives a verdict on one of its jobs.
template <typename Give>
Answer settle(Actor& actor, const char* verdict, Give&& give) {
  auto* held = actor.some(actor.jobs);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.forget(actor.jobs, held);
  actor.give_up(key_of(mine.id), mine.token);
  actor.say("{} job {} {}", verdict, mine.id, mine.token.value);
  return word(actor.ask([&] { return give(mine); }));
}

Answer complete(Actor& actor) {
  return settle(actor, "complete",
                [&](const HeldJob& job) { return actor.store.jobs().complete(job.id, job.token, "result"); });
}
Answer fail(Actor& actor) {
  const bool retryable = actor.dice.chance(8000);
  return settle(actor, "fail", [&](const HeldJob& job) {
    const auto verdict = retryable ? Verdict::fail("simulated") : Verdict::fail_finally("simulated");
    return actor.store.jobs().settle({job.id, job.token, verdict});
  });
}
Answer release(Actor& actor) {
  return settle(actor, "release", [&](const HeldJob& job) { return actor.store.jobs().release(job.id, job.token); });
}
Answer snooze(Actor& actor) {
  return settle(actor, "snooze", [&](const HeldJob& job) { return actor.store.jobs().snooze(job.id, job.token, 2s); });
}

/// Gives a verdict on all of its jobs.
Answer settle_all(Actor& actor, const Verdict& verdict) {
  if (actor.jobs.empty()) return std::nullopt;
  const auto mine = std::exchange(actor.jobs, {});
  std::vector<Settlement> verdicts;
  for (const auto& job : mine) {
    actor.give_up(key_of(job.id), job.token);
    verdicts.push_back({.id = job.id, .token = job.token, .verdict = verdict});
  }
  actor.say("{} {} jobs together", word_of(verdict.kind), mine.size());
  return word(actor.ask([&] { return actor.store.jobs().settle(verdicts); }));
}

Answer complete_all(Actor& actor) { return settle_all(actor, Verdict::complete()); }
Answer release_all(Actor& actor) { return settle_all(actor, Verdict::release()); }

// The job's writes and its completion are committed together, or not at all.
Answer complete_in_transaction(Actor& actor) {
  auto* held = actor.some(actor.jobs);
  if (held == nullptr) return std::nullopt;
  const auto mine = *held;
  actor.forget(actor.jobs, held);
  actor.say("complete job {} {} in its own transaction", mine.id, mine.token.value);
  auto transaction = OwnTransaction::begin(*actor.backend, actor.deadline());
  if (!transaction) return word(transaction);
  const auto settled = leasehold::complete(transaction->connection(), mine.id, mine.token, "result");
  if (!settled) return word(settled);
  const auto decided_at = actor.stage.now();
  actor.give_up(key_of(mine.id), mine.token);
  if (auto done = transaction->commit(); !done) return word(done);
  Deed deed{.statement = "job_settle", .verdict = "complete"};
  deed.named.push_back(
      {.key = key_of(mine.id), .token = mine.token.value, .outcome = "settled", .replayed = settled->replayed});
  actor.stage.look(deed, Parts::all(), decided_at);
  return "ok";
}

Answer cancel(Actor& actor) {
  if (actor.known_jobs.empty()) return std::nullopt;
  const auto id = actor.dice.choose(actor.known_jobs);
  actor.say("cancel job {}", id);
  return word(actor.store.jobs().cancel(id, "simulated"));
}

Answer retry(Actor& actor) {
  if (actor.known_jobs.empty()) return std::nullopt;
  const auto id = actor.dice.choose(actor.known_jobs);
  actor.say("retry job {}", id);
  return word(actor.store.jobs().retry(id));
}

Answer redrive(Actor& actor) { return word(actor.store.jobs().redrive()); }

Answer remove(Actor& actor) {
  if (actor.known_jobs.empty()) return std::nullopt;
  const auto id = actor.dice.choose(actor.known_jobs);
  actor.say("remove job {}", id);
  return word(actor.store.jobs().remove(id));
}

Answer open_lease(Actor& actor) {
  if (actor.shared_lease) return std::nullopt;
  auto lease = actor.store.jobs().open_lease(actor.some_ttl(), {.holder = actor.holder});
  if (lease) actor.shared_lease = *lease;
  return word(lease);
}

Answer extend(Actor& actor) {
  if (!actor.shared_lease) return std::nullopt;
  const auto extended = actor.store.jobs().extend(*actor.shared_lease);
  if (extended) actor.extend(lease_of(*actor.shared_lease), extended->heartbeat.trusted_until);
  if (!extended && extended.error().code == Errc::lost) actor.shared_lease.reset();
  return word(extended);
}

Answer close(Actor& actor) {
  if (!actor.shared_lease) return std::nullopt;
  const auto lease = *std::exchange(actor.shared_lease, std::nullopt);
  actor.stage.memory.beliefs.give_up_lease(lease_of(lease));
  return word(actor.ask([&] { return actor.store.jobs().close(lease); }));
}

Answer pause(Actor& actor) { return word(actor.store.queues().pause(actor.dice.choose(queue_names), "simulated")); }
Answer resume(Actor& actor) { return word(actor.store.queues().resume(actor.dice.choose(queue_names))); }

Answer show(Actor& actor) {
  if (actor.known_jobs.empty()) return std::nullopt;
  return word(actor.store.jobs().show(actor.dice.choose(actor.known_jobs)));
}

constexpr Act acts[] = {
    {"job enqueue", Feature::job, 10, enqueue},
    {"job enqueue many", Feature::job, 3, enqueue_many},
    {"job claim", Feature::job, 16, claim},
    {"job claim waiting", Feature::job, 2, wait_for},
    {"job claim attached", Feature::job, 6, attach},
    {"job heartbeat", Feature::job, 10, heartbeat},
    {"job complete", Feature::job, 8, complete},
    {"job fail", Feature::job, 5, fail},
    {"job release", Feature::job, 3, release},
    {"job snooze", Feature::job, 2, snooze},
    {"job complete many", Feature::job, 2, complete_all},
    {"job release many", Feature::job, 1, release_all},
    {"job complete in transaction", Feature::job, 2, complete_in_transaction},
    {"job cancel", Feature::job, 2, cancel},
    {"job retry", Feature::job, 2, retry},
    {"job redrive", Feature::job, 1, redrive},
    {"job remove", Feature::job, 1, remove},
    {"job open lease", Feature::job, 3, open_lease},
    {"job extend lease", Feature::job, 4, extend},
    {"job close lease", Feature::job, 1, close},
    {"queue pause", Feature::job, 1, pause},
    {"queue resume", Feature::job, 4, resume},
    {"job show", Feature::job, 1, show},
};

}  // namespace

std::span<const Act> job_acts() { return acts; }

}  // namespace leasehold::sim

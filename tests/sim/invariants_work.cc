// I4, I5, I6: what can be had, what came due, what became of it.
#include <fmt/format.h>

#include "sim/invariants.h"

namespace leasehold::sim {
namespace {

Finding broken(const char* invariant, std::string what) { return Violation{invariant, std::move(what)}; }

bool is_live(const Picture& picture, std::int64_t lease) {
  const auto* row = picture.lease(lease);
  return row != nullptr && row->expires_at > picture.now;
}

/// It is held; or it was held, and its place stays closed for a while.
bool is_taken(const Picture& picture, const Named& one) {
  const auto holding = picture.holding(one.key);
  if (holding && is_live(picture, holding->lease)) return true;
  const auto lock = picture.locks->locks.find(one.key);
  if (one.why == "delayed" && lock != picture.locks->locks.end() && lock->second.delay > 0) return true;
  for (const auto& [grant, share] : picture.locks->shares) {
    if (grant.first != one.key) continue;
    if (is_live(picture, share.lease) || (one.why == "delayed" && share.delay > 0)) return true;
  }
  return false;
}

Finding held_is_true(const Change& change, const Named& one) {
  if (is_taken(change.after, one)) return std::nullopt;
  return broken("I4", fmt::format("{} was refused as held, but its lease has run out or ended", one.key));
}

Finding empty_queue_is_true(const Change& change) {
  const auto& part = *change.after.jobs;
  for (const auto& [id, job] : part.jobs) {
    if (job.queue != change.deed.queue) continue;
    const auto held = part.holdings.find("job " + std::to_string(id));
    const bool expired = held != part.holdings.end() && !is_live(change.after, held->second.lease);
    if (!job.ready && !expired && job.due_at.value_or(change.after.now + 1) > change.after.now) continue;
    return broken("I4", fmt::format("queue {} was called empty, but job {} can be had", job.queue, id));
  }
  return std::nullopt;
}

Finding full_queue_is_true(const Change& change) {
  const auto& part = *change.after.jobs;
  for (const auto& [key, holding] : part.holdings) {
    if (part.jobs.at(std::stoll(key.substr(4))).queue == change.deed.queue && is_live(change.after, holding.lease)) {
      return std::nullopt;
    }
  }
  return broken("I4", fmt::format("queue {} was called full, but no live holder has a job of it", change.deed.queue));
}

Finding refused_chunks_are_true(const Change& change) {
  const auto& part = *change.after.chunks;
  for (const auto& [name, chunk] : part.chunks) {
    if (!name.starts_with(change.deed.set + "/") || !chunk.final.empty()) continue;
    const auto lease = part.holdings.at("chunk " + name).lease;
    if (lease == 0 ? chunk.due_at > change.after.now : is_live(change.after, lease)) continue;
    return broken("I4", fmt::format("no chunk of {} was given, but {} can be had", change.deed.set, name));
  }
  return std::nullopt;
}

/// The word that the log has for a verdict.
std::string logged_as(const std::string& verdict) {
  if (verdict == "complete") return "completed";
  if (verdict == "fail") return "failed";
  return verdict == "release" ? "released" : "snoozed";
}

/// Of a job, since it was last retried.
struct Spent {
  int failures = 0;
  int crashes = 0;
};
std::map<std::int64_t, Spent> spent_by(const JobsPart& part) {
  std::map<std::int64_t, Spent> spent;
  for (const auto& [attempt, row] : part.log) {
    auto& job = spent[attempt.first];
    if (row.outcome == "retried") job = {};
    if (row.outcome == "failed") ++job.failures;
    if (row.outcome == "expired") ++job.crashes;
  }
  return spent;
}

bool resets_chunks(const Deed& deed) {
  return deed.is("chunk_reset") || deed.is("chunk_claim") || deed.is("chunk_set_remove") || deed.is("chunk_sweep") ||
         deed.is("chunk_plan_add") || deed.is("chunk_plan_sweep") || deed.is("transaction");
}

bool is_reported(const Picture& picture, std::string_view kind, std::string_view key, std::int64_t token) {
  for (const auto& event : picture.news) {
    if (event.kind == kind && event.key == key && event.token == token) return true;
  }
  return false;
}

Finding each_grant_is_reported(const Change& change, std::string_view kind, const Holdings& before,
                               const Holdings& after) {
  if (&before == &after) return std::nullopt;
  const auto prefix = std::string(kind) + " ";
  for (const auto& [key, is] : after) {
    const auto was = before.find(key);
    if (!key.starts_with(prefix) || is.token == 0 || (was != before.end() && was->second.token == is.token)) continue;
    if (is_reported(change.after, kind, key.substr(prefix.size()), is.token)) continue;
    return broken("I6", fmt::format("{} was granted with token {}, and no event tells of it", key, is.token));
  }
  return std::nullopt;
}

Finding each_end_is_reported(const Change& change) {
  const auto& after = change.after.locks->holdings;
  for (const auto& [key, was] : change.before.locks->holdings) {
    if (!change.after.endings.contains(was.lease)) continue;
    const auto is = after.find(key);
    const bool taken_over = is != after.end() && is->second.token != was.token;
    if (taken_over || is_reported(change.after, "lock", key.substr(5), was.token)) continue;
    return broken("I6",
                  fmt::format("the lease of {} with token {} was ended, and no event tells of it", key, was.token));
  }
  return std::nullopt;
}

}  // namespace

Finding refusals_are_true(const Change& change) {
  const auto& deed = change.deed;
  if (deed.named.empty()) return std::nullopt;
  const auto& one = deed.named.front();
  const bool exclusive = deed.is("lock_acquire") || deed.is("lock_acquire_all") || deed.is("lock_share") ||
                         deed.is("session_open") || deed.is("claim_take") || deed.is("schedule_acquire") ||
                         deed.is("chunk_skip");
  if (one.outcome == "held" && exclusive) return held_is_true(change, one);
  if (deed.is("job_claim") && one.outcome == "empty") return empty_queue_is_true(change);
  if (deed.is("job_claim") && one.outcome == "at_capacity") return full_queue_is_true(change);
  const bool no_chunk = one.outcome == "empty" || one.outcome == "held";
  if (deed.is("chunk_claim") && one.key.empty() && no_chunk) return refused_chunks_are_true(change);
  return std::nullopt;
}

Finding occurrences_are_accounted_for(const Change& change, const Memory& memory) {
  const auto& before = *change.before.schedules;
  const auto& after = *change.after.schedules;
  if (&before == &after) return std::nullopt;
  for (const auto& [name, is] : after.schedules) {
    const auto was = before.schedules.find(name);
    const auto period = memory.periods.find(name);
    if (was == before.schedules.end() || period == memory.periods.end()) continue;
    const auto from = was->second.next_occurrence;
    std::int64_t reported = 0;
    for (const auto& [at, run] : after.runs) {
      if (at.first != is.id || before.runs.contains(at) || run.cause != "scheduled") continue;
      // One that begins before the next occurrence counts the retry that was to come first.
      reported += run.outcome != "skipped" ? 1 : at.second < from ? run.missed - 1 : run.missed;
    }
    const auto gone_by = (is.next_occurrence - from) / period->second;
    if (is.next_occurrence % period->second == 0 && gone_by == reported) continue;
    return broken(
        "I5", fmt::format("schedule {} went on by {} occurrences, and {} are accounted for", name, gone_by, reported));
  }
  return std::nullopt;
}

Finding stale_tokens_change_nothing(const Change& change) {
  for (const auto& one : change.deed.named) {
    if (!one.token || one.key.empty() || one.replayed || !Deed::accepted(one)) continue;
    const auto holding = change.before.holding(one.key, *one.token);
    const bool current = holding && holding->token == *one.token && change.before.lease(holding->lease) != nullptr;
    if (current) continue;
    return broken("I6", fmt::format("{} accepted token {} of {}, which was not current", change.deed.statement,
                                    *one.token, one.key));
  }
  return std::nullopt;
}

Finding jobs_are_in_one_place(const Change& change) {
  if (change.before.jobs == change.after.jobs) return std::nullopt;
  for (const auto& [id, job] : change.after.jobs->jobs) {
    if (job.places == 1) continue;
    return broken("I6", fmt::format("job {} is found in {} places", id, job.places));
  }
  return std::nullopt;
}

Finding jobs_do_not_vanish(const Change& change) {
  if (change.before.jobs == change.after.jobs) return std::nullopt;
  for (const auto& [id, job] : change.before.jobs->jobs) {
    if (change.after.jobs->jobs.contains(id)) continue;
    if (change.deed.is("job_remove") && change.deed.names("job " + std::to_string(id))) continue;
    if (change.deed.is("job_prune") && job.final) continue;
    return broken("I6", fmt::format("job {} vanished", id));
  }
  return std::nullopt;
}

Finding log_only_grows(const Change& change) {
  const auto& before = *change.before.jobs;
  const auto& after = *change.after.jobs;
  if (&before == &after) return std::nullopt;
  for (const auto& [attempt, was] : before.log) {
    const auto is = after.log.find(attempt);
    if (is == after.log.end() ? !after.jobs.contains(attempt.first) : is->second.outcome == was.outcome) continue;
    return broken("I6", fmt::format("the outcome of job {} with token {} was {} and is not any more", attempt.first,
                                    attempt.second, was.outcome));
  }
  return std::nullopt;
}

Finding verdicts_are_kept(const Change& change) {
  // Many at once are settled as their holder said; one by one, a cancel request may decide.
  const bool many = change.deed.is("job_settle_many");
  if (!many && !change.deed.is("job_settle")) return std::nullopt;
  for (const auto& one : change.deed.named) {
    if (one.outcome != "settled" || !one.token) continue;
    const auto row = change.after.jobs->log.find({std::stoll(one.key.substr(4)), *one.token});
    const bool kept = row != change.after.jobs->log.end() && (row->second.outcome == logged_as(change.deed.verdict) ||
                                                              (!many && row->second.outcome == "cancelled"));
    if (kept) continue;
    return broken("I6", fmt::format("{} got the answer that it is {}, and the log does not say so", one.key,
                                    logged_as(change.deed.verdict)));
  }
  return std::nullopt;
}

Finding budgets_are_kept(const Change& change) {
  if (change.before.jobs == change.after.jobs) return std::nullopt;
  for (const auto& [id, spent] : spent_by(*change.after.jobs)) {
    const auto job = change.after.jobs->jobs.find(id);
    if (job == change.after.jobs->jobs.end() || job->second.final) continue;
    if (spent.crashes < job->second.max_crashes && spent.failures < job->second.max_failures) continue;
    return broken("I6", fmt::format("job {} goes on after {} failures of {} and {} crashes of {}", id, spent.failures,
                                    job->second.max_failures, spent.crashes, job->second.max_crashes));
  }
  return std::nullopt;
}

Finding saves_are_kept(const Change& change) {
  const auto& before = *change.before.chunks;
  const auto& after = *change.after.chunks;
  if (&before == &after) return std::nullopt;
  for (const auto& [name, was] : before.chunks) {
    const auto is = after.chunks.find(name);
    const bool named = change.deed.names("chunk " + name) && Deed::accepted(change.deed.named.front());
    if (is == after.chunks.end()) {
      if (resets_chunks(change.deed)) continue;
      return broken("I6", fmt::format("chunk {} vanished", name));
    }
    if (named && change.deed.rows && !change.deed.named.front().replayed && is->second.rows != *change.deed.rows) {
      return broken(
          "I6", fmt::format("chunk {} was saved with {} rows and has {}", name, *change.deed.rows, is->second.rows));
    }
    const bool same = is->second.rows == was.rows && is->second.cursor == was.cursor;
    if (same || named || (resets_chunks(change.deed) && is->second.rows == 0)) continue;
    return broken("I6", fmt::format("chunk {} had {} rows saved and has {}, though its holder did not say so", name,
                                    was.rows, is->second.rows));
  }
  return std::nullopt;
}

Finding runs_have_one_outcome(const Change& change) {
  const auto& before = *change.before.schedules;
  const auto& after = *change.after.schedules;
  if (&before == &after) return std::nullopt;
  for (const auto& [at, was] : before.runs) {
    const auto is = after.runs.find(at);
    if (is == after.runs.end() ? change.deed.is("prune") : was.outcome.empty() || is->second.outcome == was.outcome) {
      continue;
    }
    return broken("I6", fmt::format("the run of schedule {} for {} was {} and is not any more", at.first, at.second,
                                    was.outcome));
  }
  return std::nullopt;
}

Finding grants_are_reported(const Change& change) {
  const auto& [before, after] = std::pair<const Picture&, const Picture&>(change.before, change.after);
  if (auto unreported = each_grant_is_reported(change, "lock", before.locks->holdings, after.locks->holdings))
    return unreported;
  if (auto unreported = each_grant_is_reported(change, "item", *before.claims, *after.claims)) return unreported;
  if (auto unreported = each_grant_is_reported(change, "chunk", before.chunks->holdings, after.chunks->holdings))
    return unreported;
  if (auto unreported =
          each_grant_is_reported(change, "schedule", before.schedules->holdings, after.schedules->holdings)) {
    return unreported;
  }
  return before.locks == after.locks ? std::nullopt : each_end_is_reported(change);
}

Finding judge(const Change& change, Memory& memory) {
  if (auto finding = tokens_rise(change, memory)) return finding;
  if (auto finding = leases_end_when_over(change)) return finding;
  if (auto finding = over_stays_over(change)) return finding;
  if (auto finding = deadlines_are_respected(change, memory)) return finding;
  if (auto finding = delays_are_kept(change, memory)) return finding;
  if (auto finding = shares_fit(change)) return finding;
  if (auto finding = refusals_are_true(change)) return finding;
  if (auto finding = occurrences_are_accounted_for(change, memory)) return finding;
  for (const auto invariant :
       {stale_tokens_change_nothing, jobs_are_in_one_place, jobs_do_not_vanish, log_only_grows, verdicts_are_kept,
        budgets_are_kept, saves_are_kept, runs_have_one_outcome, grants_are_reported}) {
    if (auto finding = invariant(change)) return finding;
  }
  return std::nullopt;
}

}  // namespace leasehold::sim

// A real store, asked in the model's words.
#pragma once

#include "model/job_model_state.h"
#include "store/store.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::model {

class JobSubject {
 public:
  /// Without housekeeping: it would take back what the dead hold at moments that the model does not know.
  explicit JobSubject(support::StoreKind kind)
      : test_store_(kind), opened_(test_store_.open()), store_(store_over(test_store_.open_backend(), {})) {}

  void advance(Moment by) { test_store_.advance(Duration(by)); }
  [[nodiscard]] Moment now() const { return micros(test_store_.now()); }

  /// Forgets the jobs of an earlier sequence, and what is left of its leases: theirs must not be counted later.
  void start_afresh() {
    advance(86'400'000'000);
    support::must(store_.recover());
    ids_.clear();
    tokens_.clear();
    leases_.clear();
  }

  std::string enqueue(const Request& request) {
    const auto enqueued = jobs().enqueue(request.queue, job_of(request));
    return enqueued ? remember(*enqueued) : word(enqueued.error());
  }

  std::string enqueue(const Request& request, int count) {
    const std::vector<NewJob> alike(static_cast<std::size_t>(count), job_of(request));
    const auto enqueued = jobs().enqueue(request.queue, alike);
    if (!enqueued) return word(enqueued.error());
    std::string reported;
    for (const auto& one : *enqueued) reported += remember(one) + "; ";
    return reported;
  }

  std::string claim(const Ask& ask) { return reported(jobs().claim(ask.queue, options_of(ask), call_of(ask))); }

  std::string heartbeat(int job, int ago, Moment ttl, const std::string& stage, const std::string& cursor) {
    Progress progress{.stage = stage};
    if (!cursor.empty()) progress.cursor = cursor;
    const auto beat = jobs().heartbeat(id(job), token(job, ago), progress, support::unless_zero(Duration(ttl)));
    if (!beat) return refusal(beat.error());
    return "extended until " + away(micros(beat->expires_at), now()) + (beat->cancel_requested ? " unwanted" : "");
  }

  std::string settle(int job, int ago, const Verdict& verdict) {
    return reported(jobs().settle({id(job), token(job, ago), spoken(verdict)}));
  }
  std::string hand_in(int job, int ago, const Verdict& verdict, const Ask& ask) {
    const auto next =
        jobs().settle_and_claim({id(job), token(job, ago), spoken(verdict)}, ask.queue, options_of(ask), call_of(ask));
    return reported(next.settled) + ", next " + reported(next.grant);
  }
  std::string settle(const std::vector<Spoken>& all, const Verdict& verdict) {
    std::vector<Settlement> verdicts;
    for (const auto& one : all) {
      verdicts.push_back(
          {.id = id(one.job), .token = token(one.job, one.ago), .verdict = leasehold::Verdict::complete("done")});
    }
    std::string answers;
    const auto release = leasehold::Verdict::release();
    const auto settled =
        jobs().settle(verdict.word == "complete" ? verdicts : support::with_verdict(verdicts, release));
    for (const auto& one : support::must(settled)) answers += reported(one) + "; ";
    return answers;
  }

  std::string cancel(int job) { return state(jobs().cancel(id(job), "model")); }
  std::string retry(int job) { return state(jobs().retry(id(job))); }
  std::string remove(int job) {
    const auto removed = jobs().remove(id(job));
    return removed ? "removed" : word(removed.error());
  }
  std::string redrive(const std::string& queue) { return std::to_string(support::must(jobs().redrive(queue))); }
  std::string purge(const std::string& queue) { return std::to_string(support::must(store_.queues().purge(queue))); }
  std::string recover() {
    const auto recovered = support::must(store_.recover());
    return say_recovered(recovered.jobs, recovered.failed);
  }

  std::string open(const std::string& holder, Moment ttl, const std::string& queue) {
    Listening listening;
    if (!queue.empty()) listening.queues.push_back(queue);
    leases_.push_back(support::must(jobs().open_lease(Duration(ttl), support::by(holder), listening)));
    return "open until " + away(micros(leases_.back().expires_at), now());
  }
  std::string extend(int lease) {
    const auto extended = jobs().extend(leases_.at(static_cast<std::size_t>(lease)));
    if (!extended) return refusal(extended.error());
    return "extended until " + away(micros(extended->heartbeat.expires_at), now()) + " unwanted " +
           names(numbers(extended->cancelled));
  }
  std::string close(int lease) {
    const auto closed = jobs().close(leases_.at(static_cast<std::size_t>(lease)));
    return closed ? "closed" : refusal(closed.error());
  }

  std::string set(const std::string& queue, const QueueSettings& settings) {
    return seen(store_.queues().set(queue, settings));
  }
  std::string pause(const std::string& queue, bool paused) {
    return seen(paused ? store_.queues().pause(queue) : store_.queues().resume(queue));
  }

  std::string show(int job) {
    const auto info = jobs().show(id(job));
    if (!info) return word(info.error());
    Seen seen{.state = to_string(info->state),
              .priority = info->priority,
              .attempts = info->attempts,
              .failures = info->failures,
              .crashes = info->crashes,
              .due_at = micros(info->due_at),
              .finished_at = micros(info->finished_at),
              .expires_at = micros(info->held_until),
              .holder = support::name_of(info->holder),
              .stage = info->stage,
              .cancel_requested = info->cancel_requested,
              .after = numbers(info->waits_for),
              .story = support::outcomes_of(jobs(), info->id)};
    for (const auto& [before, state] : info->depends_on) {
      seen.predecessors.push_back(job_name(number(before)) + " " + to_string(state));
    }
    if (!seen.predecessors.empty()) seen.if_failed = to_string(info->if_failed);
    seen.luggage = support::must(jobs().payload(info->id)) + info->metadata + info->cursor;
    seen.batch = info->batch;
    seen.on_batch_end = info->on_batch_end;
    if (const auto& wait = info->wait) {
      seen.wait =
          say_wait(to_string(wait->reason), wait->job_id ? number(*wait->job_id) : nobody, micros(wait->until), now());
    }
    return say(seen, now());
  }
  std::string show_batch(const std::string& batch) {
    const auto info = jobs().batch(batch);
    if (!info) return word(info.error());
    return say_batch(info->unfinished, info->completed, info->failed, info->cancelled, info->lapsed,
                     micros(info->ended_at), info->end_job ? number(*info->end_job) : nobody, now());
  }
  std::string show_queue(const std::string& queue) { return seen(store_.queues().show(queue)); }

 private:
  static Moment micros(Timestamp when) { return when.time_since_epoch().count(); }
  static std::optional<Moment> micros(std::optional<Timestamp> when) {
    return when ? std::optional(micros(*when)) : std::nullopt;
  }
  static std::optional<Duration> span(std::optional<Moment> micros) {
    return micros ? std::optional(Duration(*micros)) : std::nullopt;
  }
  static std::string word(const Error& error) { return to_string(error.code); }

  [[nodiscard]] std::string reported(const Result<JobSettled>& settled) const {
    if (!settled) return refusal(settled.error());
    return std::string(to_string(settled->state)) + " due " + away(micros(settled->due_at), now()) +
           (settled->replayed ? " again" : "");
  }

  std::string reported(const Result<JobGrant>& grant) { return grant ? remember(*grant) : refusal(grant.error()); }

  [[nodiscard]] JobClaimOptions options_of(const Ask& ask) const {
    if (ask.lease) return {.max = ask.max};
    return {.max = ask.max, .ttl = support::unless_zero(Duration(ask.ttl)), .request_id = ask.request};
  }
  [[nodiscard]] Call call_of(const Ask& ask) const {
    auto call = support::by(ask.holder);
    if (ask.lease) call.lease = leases_.at(static_cast<std::size_t>(*ask.lease));
    return call;
  }

  /// A handle of its own for every act: one that claims again and again may start behind the head of the queue.
  [[nodiscard]] Jobs jobs() const { return store_.jobs(); }

  [[nodiscard]] JobId id(int job) const { return job < 0 ? 999'999'999 : ids_.at(static_cast<std::size_t>(job)); }
  [[nodiscard]] int number(JobId id) const {
    const auto found = std::find(ids_.begin(), ids_.end(), id);
    return found == ids_.end() ? nobody : static_cast<int>(found - ids_.begin());
  }
  [[nodiscard]] std::vector<int> numbers(const std::vector<JobId>& ids) const {
    std::vector<int> all;
    for (const auto one : ids) all.push_back(number(one));
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] Token token(int job, int ago) const {
    if (job < 0 || ago < 0) return {12345};
    const auto& given = tokens_.at(static_cast<std::size_t>(job));
    const auto back = static_cast<std::size_t>(ago) + 1;
    return given.size() < back ? Token{12345} : given[given.size() - back];
  }

  /// Points into the request.
  [[nodiscard]] NewJob job_of(const Request& request) const {
    NewJob job{.payload = request.payload,
               .priority = request.priority,
               .delay = Duration(request.delay),
               .dedupe_key = request.dedupe_key,
               .dedupe_mode = request.dedupe_mode,
               .dedupe_for = span(request.dedupe_for),
               .group = request.group,
               .timeout = support::unless_zero(Duration(request.timeout)),
               .expires_in = span(request.expires_in),
               .metadata = request.metadata,
               .max_failures = request.max_failures,
               .max_crashes = request.max_crashes,
               .backoff = {.base = Duration(backoff_base), .max = Duration(backoff_max)},
               .batch = request.batch,
               .on_batch_end = request.on_batch_end};
    for (const int predecessor : request.after) job.depends_on.push_back(id(predecessor));
    job.if_failed = request.if_failed == "run"    ? IfFailed::run
                    : request.if_failed == "wait" ? IfFailed::wait
                                                  : IfFailed::cancel;
    return job;
  }

  std::string remember(const Enqueued& enqueued) {
    if (enqueued.created) {
      ids_.push_back(enqueued.id);
      tokens_.emplace_back();
    }
    return (enqueued.created ? "new " : "known ") + job_name(number(enqueued.id)) +
           (enqueued.updated ? " updated " : " ") + to_string(enqueued.state);
  }

  static leasehold::Verdict spoken(const Verdict& verdict) {
    if (verdict.word == "complete") return leasehold::Verdict::complete("done");
    if (verdict.word == "release") return leasehold::Verdict::release();
    if (verdict.word == "snooze") return leasehold::Verdict::snooze(Duration(verdict.delay.value_or(0)));
    auto failure = leasehold::Verdict::fail("no luck");
    failure.retryable = verdict.retryable;
    if (verdict.delay) failure.delay = Duration(*verdict.delay);
    return failure;
  }

  /// Every grant of a job has a greater token than the one before.
  std::string remember(const JobGrant& grant) {
    Claimed claim{.solo = grant.solo,
                  .replayed = grant.replayed,
                  .holder = grant.holder.name,
                  .ttl = grant.ttl.count(),
                  .expires_at = micros(grant.expires_at)};
    std::string surprise;
    for (const auto& job : grant.jobs) {
      claim.jobs.push_back(number(job.id));
      claim.attempts.push_back(job.attempt);
      claim.luggage.push_back(job.metadata + job.cursor);
      auto& given = tokens_.at(static_cast<std::size_t>(number(job.id)));
      if (grant.replayed && given.back() == job.token) continue;
      if (!given.empty() && job.token <= given.back()) surprise = ", and a token went back";
      given.push_back(job.token);
    }
    return say(claim, now()) + surprise;
  }

  [[nodiscard]] std::string refusal(const Error& error) const {
    auto text = word(error);
    if (error.lost_reason) text += std::string(" ") + to_string(*error.lost_reason);
    if (error.code == Errc::lost && error.held_by) text += " to " + error.held_by->holder.name;
    if (error.code == Errc::empty || error.code == Errc::rate_limited) {
      text += " retry " + away(micros(error.retry_at), now());
    }
    if (error.code == Errc::at_capacity && error.held_by) {
      text += " " + job_name(number(std::stoll(error.held_by->key))) + " of " + error.held_by->holder.name + " until " +
              away(micros(error.held_by->expires_at), now());
    }
    return text;
  }
  static std::string state(const Result<JobState>& result) {
    return result ? to_string(*result) : word(result.error());
  }
  [[nodiscard]] std::string seen(const Result<QueueInfo>& info) const {
    if (!info) return word(info.error());
    return say(SeenQueue{.paused = info->paused,
                         .available = info->available,
                         .deferred = info->deferred,
                         .blocked = info->blocked,
                         .running = info->running,
                         .expired = info->expired,
                         .failed = info->failed,
                         .oldest_at = micros(info->oldest_at),
                         .next_due_at = micros(info->next_due_at)},
               now());
  }

  support::TestStore test_store_;
  Store opened_;
  Store store_;
  std::vector<JobId> ids_;
  std::vector<std::vector<Token>> tokens_;
  std::vector<SharedLease> leases_;
};

}  // namespace leasehold::model

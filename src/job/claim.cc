#include "job/claim.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/digest.h"
#include "job/jobs.h"
#include "lease/ask.h"
#include "lease/patience.h"
#include "model/bounds.h"
#include "model/errors.h"
#include "storage/query.h"

namespace leasehold {

namespace job {

std::optional<Position> Positions::start(std::string_view queue, BootTime now) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(queue);
  if (found == places_.end()) return std::nullopt;
  auto& place = found->second;
  if (now - place.claimed_at > head_interval) place.row = 0;
  if (place.row < claims_in_a_row) return std::nullopt;
  if (now - place.head_at > head_interval) {
    place.head_at = now;
    return std::nullopt;
  }
  return place.last;
}

void Positions::granted(std::string_view queue, const Position& last, BootTime now) {
  const std::lock_guard lock(mutex_);
  auto found = places_.find(queue);
  if (found == places_.end()) found = places_.emplace(std::string(queue), Place{}).first;
  auto& place = found->second;
  place.last = last;
  place.claimed_at = now;
  place.row = std::min(place.row + 1, claims_in_a_row);
}

void Positions::refused(std::string_view queue) {
  const std::lock_guard lock(mutex_);
  if (const auto found = places_.find(queue); found != places_.end()) places_.erase(found);
}

namespace {

sql::JobClaim statement_for(const Request& request, const std::optional<Position>& position) {
  sql::JobClaim claim{.queue = request.queue, .most = request.most, .ttl = request.ttl};
  claim.request_id = request.request_id;
  claim.attach = request.attach;
  if (position) {
    claim.after_priority = position->priority;
    claim.after_id = position->job_id;
  }
  claim = lease::with_holder(claim, request.holder);
  // A lease for this claim alone is closed by its token; with no instance, nobody can close it by its id.
  if (!request.attach) claim.instance = {};
  return claim;
}

/// One job comes by itself, many come in lists.
void put_into_lists(sql::JobClaimed& lot) {
  if (!lot.job_ids.empty() || !lot.job_id) return;
  lot.job_ids = {*lot.job_id};
  lot.payloads = {std::move(lot.payload).value_or("")};
  lot.priorities = {lot.priority.value_or(0)};
  lot.attempts = {lot.attempt.value_or(1)};
  lot.created_ats = {lot.created_at.value_or(Timestamp{})};
  if (!lot.schedule || !lot.occurrence) return;
  lot.scheduled_ids = {*lot.job_id};
  lot.schedules = {std::move(*lot.schedule)};
  lot.occurrences = {*lot.occurrence};
}

bool lists_fit(const sql::JobClaimed& lot) {
  const auto size = lot.job_ids.size();
  return size > 0 && lot.payloads.size() == size && lot.priorities.size() == size && lot.attempts.size() == size &&
         lot.created_ats.size() == size && lot.schedules.size() == lot.scheduled_ids.size() &&
         lot.occurrences.size() == lot.scheduled_ids.size();
}

/// Those that a schedule has enqueued stand in lists of their own, in the order of the jobs: most claims have none.
void put_origins(sql::JobClaimed& lot, std::vector<Job>& jobs) {
  auto job = jobs.begin();
  for (std::size_t i = 0; i < lot.scheduled_ids.size(); ++i) {
    job = std::find_if(job, jobs.end(), [&](const Job& one) { return one.id == lot.scheduled_ids[i]; });
    if (job == jobs.end()) return;
    job->schedule = std::move(lot.schedules[i]);
    job->occurrence = lot.occurrences[i];
  }
}

std::vector<Job> jobs_from(sql::JobClaimed& lot, const std::string& queue) {
  std::vector<Job> jobs;
  jobs.reserve(lot.job_ids.size());
  for (std::size_t i = 0; i < lot.job_ids.size(); ++i) {
    jobs.push_back({.id = lot.job_ids[i],
                    .token = {lot.token.value_or(0)},
                    .queue = queue,
                    .payload = std::move(lot.payloads[i]),
                    .priority = static_cast<int>(lot.priorities[i]),
                    .attempt = static_cast<int>(lot.attempts[i]),
                    .created_at = lot.created_ats[i]});
  }
  put_origins(lot, jobs);
  return jobs;
}

JobGrant grant_from(sql::JobClaimed& lot, const Request& request, BootTime before_sending) {
  JobGrant grant;
  grant.token = {lot.token.value_or(0)};
  grant.lease_id = lot.lease_id.value_or(0);
  grant.holder = request.holder;
  grant.ttl = lot.ttl.value_or(Duration{});
  grant.expires_at = lot.expires_at.value_or(Timestamp{});
  grant.trusted_until = trusted_until(before_sending, grant.ttl, grant.expires_at - lot.store_now);
  grant.alone = lot.alone;
  grant.replayed = lot.replayed;
  grant.jobs = jobs_from(lot, request.queue);
  return grant;
}

}  // namespace

PendingClaim::PendingClaim(const Request& request, Positions& positions)
    : request_(request),
      positions_(positions),
      claim_(statement_for(request, positions.start(request.queue, BootClock::now()))) {}

const sql::JobClaim& PendingClaim::statement() {
  before_sending_ = BootClock::now();
  return claim_;
}

Result<JobGrant> PendingClaim::grant_from(Result<sql::JobClaimed> lot) {
  if (!lot) return std::move(lot).error();
  if (!lot->outcome.done()) {
    positions_.refused(request_.queue);
    return claim_refusal(*lot, request_.queue);
  }
  put_into_lists(*lot);
  if (!lists_fit(*lot)) return odd_answer(describe(request_.queue), lot->outcome.word());
  positions_.granted(request_.queue, {lot->priorities.back(), lot->job_ids.back()}, before_sending_);
  return job::grant_from(*lot, request_, before_sending_);
}

/// What is attached has no request id of its own: if the answer is lost, asking again would take further jobs, and
/// those of the first answer stay under the lease until it ends.
Result<JobGrant> PendingClaim::ask(storage::Backend& backend, BootTime deadline,
                                   std::optional<Result<sql::JobClaimed>> first) {
  const auto once = [&] {
    return first ? *std::exchange(first, std::nullopt) : storage::query_one(backend, statement(), deadline);
  };
  return grant_from(
      lease::ask_with(request_.attach ? lease::IfLost::give_up : lease::IfLost::ask_again, deadline, once));
}

}  // namespace job

// Jobs::claim: what may be asked for, the dead of this host, and waiting for work.
namespace job {
namespace {

Result<void> check_attached(const SharedLease& lease) { return check_text("instance", lease.instance); }

Result<void> check_claim(const Request& request, const ClaimOptions& options) {
  if (auto checked = check_name("queue name", request.queue); !checked) return checked;
  if (auto checked = check_most(request.most); !checked) return checked;
  if (auto checked = check_holder(request.holder); !checked) return checked;
  if (auto checked = check_name("request id", request.request_id); !checked) return checked;
  if (auto checked = check_wait(options.wait); !checked) return checked;
  if (options.attach) {
    if (auto checked = check_attached(*options.attach); !checked) return checked;
  }
  return request.ttl ? check_ttl(*request.ttl) : Result<void>();
}

/// Somebody who died on this host may hold what this claim wants. No death ends a pause or lets a rate's next turn come
/// sooner.
bool may_be_with_the_dead(const Error& refusal) {
  return may_wait(refusal.code) && refusal.code != Errc::paused && refusal.code != Errc::rate_limited;
}

}  // namespace

Result<Request> request_from(std::string_view queue, const ClaimOptions& options) {
  Request request{.queue = std::string(queue),
                  .most = options.most,
                  .ttl = std::nullopt,
                  .holder = options.holder ? *options.holder : Holder::self(),
                  .request_id = options.request_id.empty() || options.attach ? random_request_id() : options.request_id,
                  .attach = std::nullopt};
  if (options.ttl != Duration(0)) request.ttl = options.ttl;
  if (options.attach) {
    request.attach = options.attach->id;
    // A job that has to be claimed alone gets a lease of its own, like the one it was to be attached to.
    request.holder.instance = options.attach->instance;
    request.ttl = options.attach->ttl;
  }
  if (auto checked = check_claim(request, options); !checked) return std::move(checked).error();
  return request;
}

}  // namespace job

Result<JobGrant> Jobs::Impl::claim(const job::Request& request, const ClaimOptions& options,
                                   std::optional<Result<JobGrant>> first) const {
  const auto once = [&] {
    return first ? *std::exchange(first, std::nullopt)
                 : job::PendingClaim(request, *positions).ask(*backend, deadline());
  };
  const auto past_the_dead = [&] {
    return lease::ask_past_the_dead(*backend, *reaper, call_timeout, once, job::may_be_with_the_dead);
  };
  if (options.wait == Duration(0)) return past_the_dead();
  const lease::Patience patience{
      .topic = "queue:" + request.queue, .until = BootClock::now() + bounded_wait(options.wait), .stop = options.stop};
  return lease::ask_patiently(*backend, *awaited, call_timeout, patience, past_the_dead,
                              [](const Error& refusal) { return may_wait(refusal.code); });
}

Result<JobGrant> Jobs::claim(std::string_view queue, const ClaimOptions& options) const {
  auto request = job::request_from(queue, options);
  if (!request) return std::move(request).error();
  return impl_->claim(*request, options);
}

// Jobs::settle_and_claim: two acts that travel together.
NextJob Jobs::settle_and_claim(JobId id, Token token, const Verdict& verdict, std::string_view queue,
                               const ClaimOptions& options) const {
  const job::VerdictStatement statement(id, token, verdict);
  if (auto checked = statement.check(); !checked) return {checked.error(), checked.error()};
  auto request = job::request_from(queue, options);
  if (!request) return {request.error(), request.error()};
  job::PendingClaim pending(*request, *impl_->positions);
  auto [settled, lot] = storage::query_both(*impl_->backend, statement.get(), pending.statement(), impl_->deadline());
  // The verdict first: if it has to be said again, that may free the place for the claim.
  auto told = impl_->settle(statement, std::move(settled));
  auto asked = pending.ask(*impl_->backend, impl_->deadline(), std::move(lot));
  return {std::move(told), impl_->claim(*request, options, std::move(asked))};
}

}  // namespace leasehold

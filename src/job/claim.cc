#include "job/claim.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/digest.h"
#include "job/jobs.h"
#include "lease/call.h"
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
  sql::JobClaim claim{.queue = request.queue, .max = request.max, .ttl = request.ttl};
  claim.request_id = request.request_id;
  claim.attach = request.attach;
  if (position) {
    claim.after_priority = position->priority;
    claim.after_id = position->job_id;
  }
  claim = lease::with_holder(claim, request.holder);
  // The token closes a lease of this claim only. Without an instance, no caller can close it by its id.
  if (!request.attach) claim.instance = {};
  return claim;
}

bool lists_fit(const sql::JobClaimed& answer) {
  const auto size = answer.job_ids.size();
  return size > 0 && answer.payloads.size() == size && answer.priorities.size() == size &&
         answer.attempts.size() == size && answer.created_ats.size() == size &&
         answer.schedules.size() == answer.scheduled_ids.size() &&
         answer.occurrences.size() == answer.scheduled_ids.size();
}

/// Jobs that a schedule enqueued are in separate lists, in the order of the jobs: most claims have none.
void put_origins(sql::JobClaimed& answer, std::vector<Job>& jobs) {
  auto job = jobs.begin();
  for (std::size_t i = 0; i < answer.scheduled_ids.size(); ++i) {
    job = std::find_if(job, jobs.end(), [&](const Job& one) { return one.id == answer.scheduled_ids[i]; });
    if (job == jobs.end()) return;
    job->schedule = std::move(answer.schedules[i]);
    job->occurrence = answer.occurrences[i];
  }
}

std::vector<Job> jobs_from(sql::JobClaimed& answer, const std::string& queue) {
  std::vector<Job> jobs;
  jobs.reserve(answer.job_ids.size());
  for (std::size_t i = 0; i < answer.job_ids.size(); ++i) {
    jobs.push_back({.id = answer.job_ids[i],
                    .token = {answer.token.value_or(0)},
                    .queue = queue,
                    .payload = std::move(answer.payloads[i]),
                    .priority = static_cast<int>(answer.priorities[i]),
                    .attempt = static_cast<int>(answer.attempts[i]),
                    .created_at = answer.created_ats[i]});
  }
  put_origins(answer, jobs);
  return jobs;
}

JobGrant grant_from(sql::JobClaimed& answer, const Request& request, BootTime before_sending) {
  JobGrant grant;
  grant.token = {answer.token.value_or(0)};
  grant.lease_id = answer.lease_id.value_or(0);
  grant.holder = request.holder;
  grant.ttl = answer.ttl.value_or(Duration{});
  grant.expires_at = answer.expires_at.value_or(Timestamp{});
  grant.trusted_until = trusted_until(before_sending, grant.ttl, grant.expires_at - answer.store_now);
  grant.solo = answer.solo;
  grant.replayed = answer.replayed;
  grant.jobs = jobs_from(answer, request.queue);
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

Result<JobGrant> PendingClaim::grant_from(Result<sql::JobClaimed> answer) {
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) {
    positions_.refused(request_.queue);
    return claim_refusal(*answer, request_.queue);
  }
  if (!lists_fit(*answer)) return odd_answer(describe(request_.queue), answer->outcome.word());
  positions_.granted(request_.queue, {answer->priorities.back(), answer->job_ids.back()}, before_sending_);
  return job::grant_from(*answer, request_, before_sending_);
}

/// An attached claim has no request id of its own. If its answer is lost, a repeated request would claim further jobs,
/// while those of the first answer stay under the lease until it ends.
Result<JobGrant> PendingClaim::ask(lease::StoreCall call, std::optional<Result<sql::JobClaimed>> first) {
  const auto once = [&] { return first ? *std::exchange(first, std::nullopt) : call.ask(statement()); };
  return grant_from(call.repeat(request_.attach ? lease::IfLost::give_up : lease::IfLost::ask_again, once));
}

}  // namespace job

// Jobs::claim: checks of the arguments, dead processes of this host, and waiting for jobs.
namespace job {
namespace {

Result<void> check_claim(const Request& request, const JobClaimOptions& options, const Call& call) {
  if (auto checked = check_name("queue name", request.queue); !checked) return checked;
  if (auto checked = check_claim_max(request.max); !checked) return checked;
  if (auto checked = check_claim_call(call); !checked) return checked;
  if (auto checked = check_name("request id", request.request_id); !checked) return checked;
  if (auto checked = check_wait(options.wait); !checked) return checked;
  return check_new_ttl(request.ttl);
}

/// A process that died on this host may hold what this claim needs. But no death ends a pause, or brings the next turn
/// of a rate.
bool may_be_with_the_dead(const Error& refusal) {
  return may_wait(refusal.code) && refusal.code != Errc::paused && refusal.code != Errc::rate_limited;
}

}  // namespace

Result<Request> request_from(std::string_view queue, const JobClaimOptions& options, const Call& call) {
  Request request{.queue = std::string(queue),
                  .max = options.max,
                  .ttl = options.ttl,
                  .holder = lease::holder_of(call),
                  .request_id = options.request_id.empty() || call.lease ? random_request_id() : options.request_id,
                  .attach = std::nullopt};
  if (call.lease) {
    request.attach = call.lease->id;
    // A job that must be claimed solo gets its own lease, like the one it would be attached to.
    request.holder.instance = call.lease->instance;
    request.ttl = call.lease->ttl;
  }
  if (auto checked = check_claim(request, options, call); !checked) return std::move(checked).error();
  return request;
}

}  // namespace job

Result<JobGrant> Jobs::Impl::claim(const job::Request& request, Duration wait, const Call& call,
                                   std::optional<Result<JobGrant>> first) const {
  const auto once = [&] {
    return first ? *std::exchange(first, std::nullopt) : job::PendingClaim(request, *positions).ask(new_call(call));
  };
  const auto past_the_dead = [&] {
    return lease::ask_past_the_dead(*backend, *reaper, call_timeout, once, job::may_be_with_the_dead);
  };
  if (wait == Duration(0)) return past_the_dead();
  const lease::Patience patience{
      .topic = "queue:" + request.queue, .until = BootClock::now() + bounded_wait(wait), .stop = call.stop};
  return lease::ask_patiently(*backend, *awaited, call_timeout, patience, past_the_dead,
                              [](const Error& refusal) { return may_wait(refusal.code); });
}

Result<JobGrant> Jobs::claim(std::string_view queue, const JobClaimOptions& options, const Call& call) const {
  auto request = job::request_from(queue, options, call);
  if (!request) return std::move(request).error();
  impl_->housekeeper->before_work();
  auto grant = impl_->claim(*request, options.wait, call);
  if (grant) impl_->housekeeper->count(std::ssize(grant->jobs) - 1);
  return grant;
}

// Jobs::settle_and_claim: two requests in one commit.
NextJob Jobs::settle_and_claim(const Settlement& settlement, std::string_view queue, const JobClaimOptions& options,
                               const Call& call) const {
  if (auto checked = check_verdict(settlement.verdict); !checked) return {checked.error(), checked.error()};
  auto request = job::request_from(queue, options, call);
  if (!request) return {request.error(), request.error()};
  impl_->housekeeper->before_work();
  const job::VerdictStatement statement(settlement);
  job::PendingClaim pending(*request, *impl_->positions);
  auto [settled, claimed] =
      storage::query_both(*impl_->backend, statement.get(), pending.statement(), impl_->deadline(call));
  // The verdict first: if it must be repeated, it may free the place for the claim.
  auto settled_now = impl_->settle(statement, std::move(settled));
  auto granted = pending.ask(impl_->new_call(call), std::move(claimed));
  return {std::move(settled_now), impl_->claim(*request, options.wait, call, std::move(granted))};
}

}  // namespace leasehold

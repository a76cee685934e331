#include "job/claim.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "job/jobs.h"
#include "lease/call.h"
#include "lease/patience.h"
#include "lease/shared_lease.h"
#include "model/bounds.h"
#include "model/described.h"
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
  claim.timeout = request.timeout;
  if (position) {
    claim.after_priority = position->priority;
    claim.after_id = position->job_id;
  }
  return lease::with_claimant(claim, request);
}

bool specials_fit(const sql::JobClaimed& answer) {
  const auto size = answer.special_ids.size();
  return answer.schedules.size() == size && answer.occurrences.size() == size && answer.groups.size() == size &&
         answer.batches.size() == size && answer.metadata.size() == size && answer.cursors.size() == size &&
         answer.timeouts.size() == size;
}

bool lists_fit(const sql::JobClaimed& answer) {
  const auto size = answer.job_ids.size();
  return size > 0 && answer.payloads.size() == size && answer.priorities.size() == size &&
         answer.attempts.size() == size && answer.created_ats.size() == size && specials_fit(answer);
}

/// What only few jobs have is in separate lists, in the order of the jobs: most claims have none of it.
void put_specials(sql::JobClaimed& answer, std::vector<Job>& jobs) {
  auto job = jobs.begin();
  for (std::size_t i = 0; i < answer.special_ids.size(); ++i) {
    job = std::find_if(job, jobs.end(), [&](const Job& one) { return one.id == answer.special_ids[i]; });
    if (job == jobs.end()) return;
    job->schedule = std::move(answer.schedules[i]);
    if (!job->schedule.empty()) job->occurrence = answer.occurrences[i];
    job->group = std::move(answer.groups[i]);
    job->batch = std::move(answer.batches[i]);
    job->metadata = std::move(answer.metadata[i]);
    job->cursor = std::move(answer.cursors[i]);
    if (answer.timeouts[i] > 0) job->timeout = Duration(answer.timeouts[i]);
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
  put_specials(answer, jobs);
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
  if (std::all_of(answer->groups.begin(), answer->groups.end(), [](const auto& group) { return group.empty(); })) {
    positions_.granted(request_.queue, {answer->priorities.back(), answer->job_ids.back()}, before_sending_);
  } else {
    positions_.refused(request_.queue);  // jobs of groups are not claimed in the order of their ids
  }
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
  if (auto checked = model::check_fields_of(options); !checked) return checked;
  if (auto checked = check_claim_call(call); !checked) return checked;
  return check_new_ttl(request.ttl);
}

/// A process that died on this host may hold what this claim needs. But no death ends a pause, or brings the next turn
/// of a rate.
bool may_be_with_the_dead(const Error& refusal) {
  return may_wait(refusal.code) && refusal.code != Errc::paused && refusal.code != Errc::rate_limited;
}

}  // namespace

Result<Request> request_from(std::string_view queue, const JobClaimOptions& options, const Call& call) {
  Request request{.queue = std::string(queue), .max = options.max, .timeout = options.timeout};
  lease::claim_as(request, options, call);
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

#include "queue/claim.h"

#include <utility>

#include "core/limits.h"
#include "lease/retry.h"
#include "lease/with_holder.h"
#include "queue/answer.h"
#include "storage/query.h"

namespace leasehold::queue {
namespace {

sql::JobClaim statement_for(const Wish& wish, const std::optional<Position>& position) {
  sql::JobClaim claim{.queue = wish.queue, .most = wish.most, .ttl = wish.ttl};
  claim.request_id = wish.request_id;
  claim.attach = wish.attach;
  if (position) {
    claim.after_priority = position->priority;
    claim.after_id = position->job_id;
  }
  return lease::with_holder(claim, wish.holder);
}

/// One job comes by itself, many come in lists.
void put_into_lists(sql::JobClaimed& lot) {
  if (!lot.job_ids.empty() || !lot.job_id) return;
  lot.job_ids = {*lot.job_id};
  lot.payloads = {std::move(lot.payload).value_or("")};
  lot.priorities = {lot.priority.value_or(0)};
  lot.attempts = {lot.attempt.value_or(1)};
  lot.created_ats = {lot.created_at.value_or(Timestamp{})};
}

bool lists_fit(const sql::JobClaimed& lot) {
  const auto size = lot.job_ids.size();
  return size > 0 && lot.payloads.size() == size && lot.priorities.size() == size && lot.attempts.size() == size &&
         lot.created_ats.size() == size;
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
  return jobs;
}

JobGrant grant_from(sql::JobClaimed& lot, const Wish& wish, BootTime before_sending) {
  JobGrant grant;
  grant.token = {lot.token.value_or(0)};
  grant.lease_id = lot.lease_id.value_or(0);
  grant.holder = wish.holder;
  grant.ttl = lot.ttl.value_or(Duration{});
  grant.expires_at = lot.expires_at.value_or(Timestamp{});
  grant.trusted_until = trusted_until(before_sending, grant.ttl, grant.expires_at - lot.store_now);
  grant.alone = lot.alone;
  grant.replayed = lot.replayed;
  grant.jobs = jobs_from(lot, wish.queue);
  return grant;
}

}  // namespace

Asking::Asking(const Wish& wish, Positions& positions)
    : wish_(wish), positions_(positions), claim_(statement_for(wish, positions.start(wish.queue, BootClock::now()))) {}

const sql::JobClaim& Asking::statement() {
  before_sending_ = BootClock::now();
  return claim_;
}

Result<JobGrant> Asking::grant_from(Result<sql::JobClaimed> lot) {
  if (!lot) return std::move(lot).error();
  if (lot->outcome != "granted") {
    positions_.refused(wish_.queue);
    return claim_refusal(*lot, wish_.queue);
  }
  put_into_lists(*lot);
  if (!lists_fit(*lot)) return odd_answer(describe(wish_.queue), lot->outcome);
  positions_.granted(wish_.queue, {lot->priorities.back(), lot->job_ids.back()}, before_sending_);
  return queue::grant_from(*lot, wish_, before_sending_);
}

/// What is attached has no request id of its own: if the answer is lost, asking again would take further jobs, and
/// those of the first answer stay under the lease until it ends.
Result<JobGrant> Asking::ask(storage::Backend& backend, BootTime deadline,
                             std::optional<Result<sql::JobClaimed>> first) {
  const auto once = [&] {
    return first ? *std::exchange(first, std::nullopt) : storage::query_one(backend, statement(), deadline);
  };
  return grant_from(wish_.attach ? lease::ask_until_free(deadline, once) : lease::ask_again(deadline, once));
}

}  // namespace leasehold::queue

#include "queue/claim.h"

#include "core/limits.h"
#include "lease/retry.h"
#include "lease/with_holder.h"
#include "queue/answer.h"
#include "storage/query.h"

namespace leasehold::queue {
namespace {

using Rows = std::vector<sql::JobClaimed>;

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

Job job_from(sql::JobClaimed& row, const std::string& queue) {
  return {.id = row.job_id.value_or(0),
          .token = {row.token.value_or(0)},
          .queue = queue,
          .payload = std::move(row.payload).value_or(""),
          .priority = static_cast<int>(row.priority.value_or(0)),
          .attempt = static_cast<int>(row.attempt.value_or(1)),
          .created_at = row.created_at.value_or(Timestamp{})};
}

JobGrant grant_from(Rows& rows, const Wish& wish, BootTime before_sending) {
  const auto& first = rows.front();
  JobGrant grant;
  grant.token = {first.token.value_or(0)};
  grant.lease_id = first.lease_id.value_or(0);
  grant.holder = wish.holder;
  grant.ttl = first.ttl.value_or(Duration{});
  grant.expires_at = first.expires_at.value_or(Timestamp{});
  grant.trusted_until = trusted_until(before_sending, grant.ttl, grant.expires_at - first.store_now);
  grant.alone = first.alone;
  grant.replayed = first.replayed;
  grant.jobs.reserve(rows.size());
  for (auto& row : rows) grant.jobs.push_back(job_from(row, wish.queue));
  return grant;
}

/// What is attached has no request id of its own: if the answer is lost, asking again would take further jobs, and
/// those of the first answer stay under the lease until it ends.
template <typename Ask>
Result<Rows> ask(const Wish& wish, BootTime deadline, Ask&& once) {
  return wish.attach ? lease::ask_until_free(deadline, once) : lease::ask_again(deadline, once);
}

}  // namespace

Result<JobGrant> try_claim(storage::Backend& backend, const Wish& wish, Positions& positions, BootTime deadline) {
  const auto position = positions.start(wish.queue, BootClock::now());
  const auto claim = statement_for(wish, position);
  BootTime before_sending;
  auto rows = ask(wish, deadline, [&] {
    before_sending = BootClock::now();
    return storage::query(backend, claim, deadline);
  });
  if (!rows) return std::move(rows).error();
  if (rows->empty()) return odd_answer(describe(wish.queue), "nothing");
  const auto& first = rows->front();
  if (first.outcome == "granted") {
    const auto& last = rows->back();
    positions.granted(wish.queue, {last.priority.value_or(0), last.job_id.value_or(0)}, before_sending);
    return grant_from(*rows, wish, before_sending);
  }
  positions.refused(wish.queue);
  return claim_refusal(first, wish.queue);
}

}  // namespace leasehold::queue

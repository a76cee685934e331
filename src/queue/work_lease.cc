// One lease for many claims: opened, extended and closed by a worker.
#include "base/random_id.h"
#include "core/limits.h"
#include "lease/retry.h"
#include "lease/with_holder.h"
#include "queue/answer.h"
#include "queue/heartbeat.h"
#include "queue/jobs.h"
#include "storage/query.h"

namespace leasehold {
namespace queue {
namespace {

constexpr std::string_view what = "the worker's lease";

/// For `lost` and `not_found`.
Error refusal(std::string_view outcome, const std::optional<std::string>& why) {
  if (outcome == "lost") return lost_error(what, why.value_or(""));
  if (outcome == "not_found") return {.code = Errc::not_found, .message = std::string(what) + " does not exist"};
  return odd_answer(what, outcome);
}

}  // namespace
}  // namespace queue

Result<WorkLease> Jobs::open_lease(const Holder& holder, Duration ttl) const {
  if (auto checked = check_holder(holder); !checked) return std::move(checked).error();
  if (auto checked = check_ttl(ttl); !checked) return std::move(checked).error();
  const auto request_id = random_request_id();
  sql::LeaseOpen statement{.kind = "worker"};
  statement.ttl = ttl;
  statement.request_id = request_id;
  statement = lease::with_holder(statement, holder);
  const auto deadline = impl_->deadline();
  BootTime before_sending;
  auto opened = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return storage::query_one(*impl_->backend, statement, deadline);
  });
  if (!opened) return std::move(opened).error();
  return WorkLease{.id = opened->lease_id,
                   .instance = holder.instance,
                   .ttl = opened->ttl,
                   .expires_at = opened->expires_at,
                   .trusted_until = trusted_until(before_sending, opened->ttl, opened->expires_at - opened->store_now)};
}

Result<Jobs::Extended> Jobs::extend(const WorkLease& lease, Duration ttl) const {
  auto new_ttl = queue::new_ttl(ttl);
  if (!new_ttl) return std::move(new_ttl).error();
  if (auto checked = check_text("instance", lease.instance); !checked) return std::move(checked).error();
  const sql::LeaseExtend statement{.lease_id = lease.id, .instance = lease.instance, .ttl = *new_ttl};
  const auto deadline = impl_->deadline();
  BootTime before_sending;
  auto rows = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return storage::query(*impl_->backend, statement, deadline);
  });
  if (!rows) return std::move(rows).error();
  if (rows->empty()) return queue::odd_answer(queue::what, "nothing");
  const auto& first = rows->front();
  if (first.outcome != "extended") return queue::refusal(first.outcome, first.why);
  Extended extended{.heartbeat = queue::extended_from(first, before_sending), .cancelled = {}};
  for (const auto& row : *rows) {
    if (row.cancelled_job) extended.cancelled.push_back(*row.cancelled_job);
  }
  extended.heartbeat.cancel_requested = !extended.cancelled.empty();
  return extended;
}

Result<void> Jobs::close(const WorkLease& lease) const {
  if (auto checked = check_text("instance", lease.instance); !checked) return checked;
  const sql::LeaseClose statement{.lease_id = lease.id, .instance = lease.instance, .reason = "closed"};
  const auto deadline = impl_->deadline();
  auto answer = lease::ask_again(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "closed") return {};
  return queue::refusal(answer->outcome, answer->why);
}

}  // namespace leasehold

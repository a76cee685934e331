// One lease for many claims: opened, extended and closed by a worker.
#include "core/limits.h"
#include "lease/heartbeat.h"
#include "lease/shared_lease.h"
#include "queue/answer.h"
#include "queue/jobs.h"

namespace leasehold {
namespace queue {
namespace {

constexpr std::string_view what = "the worker's lease";

}  // namespace
}  // namespace queue

Result<WorkLease> Jobs::open_lease(const Holder& holder, Duration ttl) const {
  return lease::open_shared_lease<WorkLease>(*impl_->backend, sql::LeaseOpen{.kind = "worker"}, holder, ttl,
                                             impl_->deadline());
}

Result<Jobs::Extended> Jobs::extend(const WorkLease& lease, Duration ttl) const {
  auto new_ttl = lease::new_ttl(ttl);
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
  if (first.outcome != "extended") {
    return lease::shared_lease_refusal(queue::what, first.outcome, first.why);
  }
  Extended extended;
  lease::note_extension(extended.heartbeat, first, before_sending);
  for (const auto& row : *rows) {
    if (row.cancelled_job) extended.cancelled.push_back(*row.cancelled_job);
  }
  extended.heartbeat.cancel_requested = !extended.cancelled.empty();
  return extended;
}

Result<void> Jobs::close(const WorkLease& lease) const {
  const sql::LeaseClose statement{.lease_id = lease.id, .instance = lease.instance, .reason = "closed"};
  return lease::close_shared_lease(*impl_->backend, statement, queue::what, impl_->deadline());
}

}  // namespace leasehold

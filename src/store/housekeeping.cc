// What keeps a store small and clean: pruning, recovering.
#include "leasehold/store.h"
#include "queue/recovery.h"
#include "storage/query.h"
#include "store/store_impl.h"

namespace leasehold {
namespace {

constexpr std::int64_t prune_batch = 1000;

}  // namespace

Result<Pruned> Store::prune(Duration older_than) const {
  if (older_than < Duration(0)) return Error{.code = Errc::invalid_argument, .message = "the age is negative"};
  Pruned total;
  // Jobs first: the leases of their attempts are kept for as long as they are.
  auto jobs = queue::prune_jobs(*impl_->backend, older_than, impl_->call_timeout);
  if (!jobs) return std::move(jobs).error();
  total.jobs = *jobs;
  for (;;) {
    const sql::Prune batch{.older_than = older_than, .batch = prune_batch};
    auto pruned = storage::query_one(*impl_->backend, batch, impl_->deadline());
    if (!pruned) return std::move(pruned).error();
    total.leases += pruned->leases;
    total.events += pruned->events;
    if (pruned->leases < prune_batch && pruned->events < prune_batch) return total;
  }
}

Result<Recovered> Store::recover() const { return queue::recover(*impl_->backend, impl_->call_timeout); }

Result<RecoveryStats> Store::recovery_stats() const {
  return queue::recovery_stats(*impl_->backend, impl_->deadline());
}

}  // namespace leasehold

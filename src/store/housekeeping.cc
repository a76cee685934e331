// What keeps a store small and clean: pruning, recovering.
#include "store/housekeeping.h"

#include <algorithm>

#include "queue/recovery.h"
#include "storage/query.h"
#include "store/store_impl.h"

namespace leasehold {
namespace {

constexpr std::int64_t prune_batch = 1000;

void add(Pruned& total, const sql::Prune::Row& batch) {
  total.leases += batch.leases;
  total.events += batch.events;
  total.claims += batch.claims;
  total.sessions += batch.sessions;
  total.runs += batch.runs;
  total.shares += batch.shares;
  total.places += batch.places;
  total.topics += batch.topics;
}

std::int64_t largest_count(const sql::Prune::Row& batch) {
  return std::max(
      {batch.leases, batch.events, batch.claims, batch.sessions, batch.runs, batch.shares, batch.places, batch.topics});
}

}  // namespace

Result<Pruned> prune_in_batches(storage::Backend& backend, Duration older_than, std::int64_t batch,
                                Duration call_timeout) {
  Pruned total;
  // Jobs first: the leases of their attempts are kept for as long as they are.
  auto jobs = queue::prune_jobs(backend, older_than, batch, call_timeout);
  if (!jobs) return std::move(jobs).error();
  total.jobs = *jobs;
  for (;;) {
    const sql::Prune statement{.older_than = older_than, .batch = batch};
    auto pruned = storage::query_one(backend, statement, BootClock::now() + call_timeout);
    if (!pruned) return std::move(pruned).error();
    add(total, *pruned);
    // Not until zeros come: with an age of 0, others might end things as quickly as they are pruned.
    if (largest_count(*pruned) < batch) return total;
  }
}

Result<Pruned> Store::prune(Duration older_than) const {
  if (older_than < Duration(0)) return Error{.code = Errc::invalid_argument, .message = "the age is negative"};
  return prune_in_batches(*impl_->backend, older_than, prune_batch, impl_->call_timeout);
}

Result<Recovered> Store::recover() const { return queue::recover(*impl_->backend, impl_->call_timeout); }

Result<RecoveryStats> Store::recovery_stats() const {
  return queue::recovery_stats(*impl_->backend, impl_->deadline());
}

}  // namespace leasehold

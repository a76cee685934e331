#include "queue/recovery.h"

#include "lease/reap.h"
#include "storage/query.h"

namespace leasehold::queue {
namespace {

constexpr std::int64_t recover_batch = 100;

template <typename Row>
Recovered recovered_from(const Row& row) {
  return {.locks = row.locks,
          .leases = row.leases,
          .jobs = row.jobs,
          .chunks = row.chunks,
          .claims = row.claims,
          .runs = row.runs,
          .failed = row.failed,
          .unblocked = row.unblocked,
          .store_now = row.store_now};
}

void add(Recovered& total, const Recovered& batch) {
  total.locks += batch.locks;
  total.leases += batch.leases;
  total.jobs += batch.jobs;
  total.chunks += batch.chunks;
  total.claims += batch.claims;
  total.runs += batch.runs;
  total.failed += batch.failed;
  total.unblocked += batch.unblocked;
  total.store_now = batch.store_now;
}

}  // namespace

Result<Recovered> recover(storage::Backend& backend, Duration call_timeout) {
  const auto reaped = lease::Reaper::reap(backend, BootClock::now() + call_timeout);
  Recovered total;
  total.leases = reaped.leases;
  total.jobs = reaped.jobs;
  total.chunks = reaped.chunks;
  total.claims = reaped.claims;
  total.runs = reaped.runs;
  for (;;) {
    const sql::Recover statement{.most = recover_batch};
    auto row = storage::query_one(backend, statement, BootClock::now() + call_timeout);
    if (!row) return std::move(row).error();
    const auto batch = recovered_from(*row);
    add(total, batch);
    if (batch.is_nothing()) return total;
  }
}

Result<RecoveryStats> recovery_stats(storage::Backend& backend, BootTime deadline) {
  auto preview = storage::query_one(backend, sql::RecoverPreview{}, deadline);
  if (!preview) return std::move(preview).error();
  auto rows = storage::query(backend, sql::RecoveryTotals{}, deadline);
  if (!rows) return std::move(rows).error();
  RecoveryStats stats{.stale_now = recovered_from(*preview), .totals = {}};
  for (auto& row : *rows) {
    stats.totals.push_back({.reason = std::move(row.reason),
                            .times = row.times,
                            .leases = row.leases,
                            .jobs = row.jobs,
                            .chunks = row.chunks,
                            .claims = row.claims,
                            .runs = row.runs,
                            .last_at = row.last_at});
  }
  return stats;
}

Result<std::int64_t> prune_jobs(storage::Backend& backend, Duration older_than, std::int64_t batch,
                                Duration call_timeout) {
  std::int64_t total = 0;
  sql::JobPrune walk{.older_than = older_than, .after_id = 0, .batch = batch};
  for (;;) {
    auto step = storage::query_one(backend, walk, BootClock::now() + call_timeout);
    if (!step) return std::move(step).error();
    total += step->pruned;
    if (step->last_id == 0) return total;
    walk.after_id = step->last_id;
  }
}

}  // namespace leasehold::queue

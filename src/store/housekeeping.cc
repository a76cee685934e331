// Keeps a store small and clean: prune and recover.
#include "store/housekeeping.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "base/time_text.h"
#include "lease/reap.h"
#include "leasehold/limits.h"
#include "model/bounds.h"
#include "storage/query.h"
#include "store/store.h"

namespace leasehold {
namespace {

// Counting reads everything once; no other process waits for it.
constexpr Duration preview_timeout = std::chrono::minutes(10);

void add(Pruned& total, const sql::Prune::Row& batch) {
  total.claims += batch.claims;
  total.sessions += batch.sessions;
  total.runs += batch.runs;
  total.shares += batch.shares;
  total.places += batch.places;
  total.topics += batch.topics;
  total.recoveries += batch.recoveries;
  total.batches += batch.batches;
  total.tokens += batch.tokens;
  total.audit += batch.audit;
  total.requests += batch.requests;
}

std::int64_t largest_count(const sql::Prune::Row& batch) {
  return std::max({batch.claims, batch.sessions, batch.runs, batch.shares, batch.places, batch.topics, batch.recoveries,
                   batch.batches, batch.tokens, batch.audit, batch.requests});
}

class Pruning {
 public:
  Pruning(storage::Backend& backend, Duration older_than, std::int64_t batch, Duration call_timeout)
      : backend_(backend), older_than_(older_than), batch_(batch), call_timeout_(call_timeout) {}

  /// Goes along the ids of all rows of a kind, step by step.
  template <typename Statement>
  Result<void> walk(std::int64_t& total) {
    Statement step{};
    step.older_than = older_than_;
    step.batch = batch_;
    if constexpr (std::is_same_v<Statement, sql::JobPrune>) step.failed_older_than = older_than_;
    for (;;) {
      auto done = ask(step);
      if (!done) return std::move(done).error();
      total += done->pruned;
      if (done->last_id == 0) return {};
      step.after_id = done->last_id;
    }
  }
  /// The same, along the names of the locks.
  Result<void> walk_locks(std::int64_t& total) {
    for (std::string after;;) {
      auto done = ask(sql::LockPrune{.older_than = older_than_, .after_name = after, .batch = batch_});
      if (!done) return std::move(done).error();
      total += done->pruned;
      if (done->last_name.empty()) return {};
      after = std::move(done->last_name);
    }
  }
  /// Removes rows of sets and schedules whose removal was not finished.
  template <typename Statement>
  Result<void> sweep() {
    for (;;) {
      auto done = ask(Statement{.batch = batch_});
      if (!done) return std::move(done).error();
      if (done->removed == 0) return {};
    }
  }
  Result<void> clear_the_rest(Pruned& total) {
    for (;;) {
      auto done = ask(sql::Prune{.older_than = older_than_, .batch = batch_});
      if (!done) return std::move(done).error();
      add(total, *done);
      // Do not wait for zeros: with an age of 0, other processes might end things as fast as they are pruned.
      if (largest_count(*done) < batch_) return {};
    }
  }

 private:
  template <typename Statement>
  Result<typename Statement::Row> ask(const Statement& statement) {
    return storage::query_one(backend_, statement, BootClock::now() + call_timeout_);
  }

  storage::Backend& backend_;
  Duration older_than_;
  std::int64_t batch_;
  Duration call_timeout_;
};

Result<void> check_age(Duration older_than) { return check_span("age", older_than, Duration(0), bounds::max_delay); }

}  // namespace

// Rows that refer to a lease go before it: a job keeps the leases of its attempts, a lock its latest.
Result<Pruned> prune_in_batches(storage::Backend& backend, Duration older_than, std::int64_t batch,
                                Duration call_timeout) {
  // Steps of pruning remove only what the totals contain.
  if (auto done = bring_totals_up(backend, true, call_timeout); !done) return std::move(done).error();
  Pruning pruning(backend, older_than, batch, call_timeout);
  Pruned total;
  if (auto done = pruning.walk<sql::JobPrune>(total.jobs); !done) return std::move(done).error();
  if (auto done = pruning.sweep<sql::ChunkSweep>(); !done) return std::move(done).error();
  if (auto done = pruning.sweep<sql::ScheduleSweep>(); !done) return std::move(done).error();
  if (auto done = pruning.clear_the_rest(total); !done) return std::move(done).error();
  if (auto done = pruning.walk_locks(total.locks); !done) return std::move(done).error();
  if (auto done = pruning.walk<sql::LeasePrune>(total.leases); !done) return std::move(done).error();
  if (auto done = pruning.walk<sql::EventPrune>(total.events); !done) return std::move(done).error();
  return total;
}

Result<Pruned> Store::prune(Duration older_than) const {
  if (auto checked = check_age(older_than); !checked) return std::move(checked).error();
  return prune_in_batches(*impl_->backend, older_than, defaults::sweep_batch, impl_->call_timeout);
}

Result<Pruned> Store::prune_preview(Duration older_than) const {
  if (auto checked = check_age(older_than); !checked) return std::move(checked).error();
  const auto deadline = BootClock::now() + std::max(preview_timeout, impl_->call_timeout);
  auto counted = storage::query_one(*impl_->backend, sql::PrunePreview{.older_than = older_than}, deadline);
  if (!counted) return std::move(counted).error();
  return sql::PrunePreview::Row(*counted).as<Pruned>();
}

namespace {

Result<void> check_retention(std::string_view what, const std::optional<Duration>& span) {
  if (!span || *span == Duration(0) || (*span >= bounds::min_keep && *span <= bounds::max_delay)) return {};
  return Error{.code = Errc::invalid_argument,
               .message = fmt::format("{} is not between {} and {}, nor 0 for forever", what,
                                      format_duration(bounds::min_keep), format_duration(bounds::max_delay))};
}

}  // namespace

Result<Retention> Store::retention() const {
  auto row = impl_->new_call().ask(sql::RetentionShow{});
  if (!row) return std::move(row).error();
  return sql::RetentionShow::Row(*row).as<Retention>();
}

Result<Retention> Store::set_retention(const RetentionSettings& settings) const {
  if (auto fine = check_retention("the retention of jobs", settings.keep_jobs); !fine) return std::move(fine).error();
  if (auto fine = check_retention("the retention of failed jobs", settings.keep_failed); !fine) {
    return std::move(fine).error();
  }
  if (auto fine = check_retention("the retention of history", settings.keep_history); !fine) {
    return std::move(fine).error();
  }
  const sql::RetentionSet statement{
      .keep_jobs = settings.keep_jobs, .keep_failed = settings.keep_failed, .keep_history = settings.keep_history};
  auto row = impl_->new_call().ask_again(statement);
  if (!row) return std::move(row).error();
  return sql::RetentionSet::Row(*row).as<Retention>();
}

Result<Recovered> Store::recover() const { return job::recover(*impl_->backend, impl_->call_timeout); }

Result<RecoveryStats> Store::recovery_stats() const { return job::recovery_stats(*impl_->backend, impl_->deadline()); }

namespace job {
namespace {

void add(Recovered& total, const Recovered& batch) {
  total.locks += batch.locks;
  total.leases += batch.leases;
  total.jobs += batch.jobs;
  total.chunks += batch.chunks;
  total.claims += batch.claims;
  total.runs += batch.runs;
  total.failed += batch.failed;
  total.lapsed += batch.lapsed;
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
  for (auto remaining = std::numeric_limits<std::int64_t>::max();;) {
    const sql::Recover statement{.max = defaults::recover_batch};
    auto row = storage::query_one(backend, statement, BootClock::now() + call_timeout);
    if (!row) return std::move(row).error();
    const auto batch = sql::Recover::Row(*row).as<Recovered>();
    add(total, batch);
    // A job that waits for further jobs is not counted when one of its predecessors has ended.
    if (batch.is_nothing() && (row->remaining == 0 || row->remaining >= remaining)) return total;
    remaining = row->remaining;
  }
}

Result<RecoveryStats> recovery_stats(storage::Backend& backend, BootTime deadline) {
  auto preview = storage::query_one(backend, sql::RecoverPreview{}, deadline);
  if (!preview) return std::move(preview).error();
  auto rows = storage::query(backend, sql::RecoveryTotals{}, deadline);
  if (!rows) return std::move(rows).error();
  RecoveryStats stats{.stale_now = sql::RecoverPreview::Row(*preview).as<Recovered>(), .totals = {}};
  for (auto& row : *rows) stats.totals.push_back(std::move(row).as<RecoveryTotal>());
  return stats;
}

}  // namespace job

}  // namespace leasehold

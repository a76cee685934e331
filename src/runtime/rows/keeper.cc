#include "runtime/rows/keeper.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/quiet_thread.h"
#include "model/errors.h"

namespace leasehold::row {

void HeldRow::start_alarm() {
  alarm_.emplace([self = weak_from_this()] {
    if (const auto row = self.lock()) row->stop.raise(StopReason::lost);
  });
  alarm_->set(trusted_until_);
}

void HeldRow::extend(BootTime trusted_until) {
  const std::lock_guard lock(mutex_);
  trusted_until_ = std::max(trusted_until_, trusted_until);
  if (alarm_) alarm_->set(trusted_until_);
}

BootTime HeldRow::trusted_until() const {
  const std::lock_guard lock(mutex_);
  return trusted_until_;
}

void HeldRow::set(std::string name, std::optional<std::string> value) {
  const std::lock_guard lock(mutex_);
  values_.insert_or_assign(std::move(name), std::move(value));
}

RowValues HeldRow::values() const {
  const std::lock_guard lock(mutex_);
  return values_;
}

Keeper::Keeper(Rows rows, std::optional<Duration> ttl, Call call, worker::Report report)
    : rows_(std::move(rows)),
      ttl_(ttl),
      call_(std::move(call)),
      report_(std::move(report)),
      thread_(start_quiet_thread([this] { run(); })) {}

Keeper::~Keeper() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Keeper::keep(const std::shared_ptr<HeldRow>& row) {
  row->start_alarm();
  const std::lock_guard lock(mutex_);
  kept_.push_back(row);
}

void Keeper::forget(const std::shared_ptr<HeldRow>& row) {
  const std::lock_guard lock(mutex_);
  std::erase(kept_, row);
}

void Keeper::stop_all(StopReason why) {
  const std::lock_guard lock(mutex_);
  for (const auto& row : kept_) row->stop.raise(why);
}

void Keeper::run() {
  // A shorter ttl than the table's needs a quicker pace.
  const auto pause = std::min(rows_.heartbeat_pause(), ttl_.value_or(rows_.ttl()) / 3);
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (wait_until(changed_, lock, BootClock::now() + pause, [this] { return ending_; })) return;
    const auto rows = kept_;
    lock.unlock();
    if (!rows.empty()) beat(rows);
    lock.lock();
  }
}

void Keeper::beat(const std::vector<std::shared_ptr<HeldRow>>& rows) {
  std::vector<RowProof> proofs;
  proofs.reserve(rows.size());
  for (const auto& row : rows) proofs.push_back({row->grant.key, row->grant.token});
  const auto answers = rows_.heartbeat(proofs, ttl_, call_);
  bool reported = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (answers[i]) {
      rows[i]->extend(answers[i]->trusted_until);
      continue;
    }
    const auto& error = answers[i].error();
    const bool over = ends_lease(error.code);
    const bool still_ours = [&] {
      const std::lock_guard lock(mutex_);
      return std::find(kept_.begin(), kept_.end(), rows[i]) != kept_.end();
    }();
    // Its handler has settled it meanwhile.
    if (!still_ours) continue;
    // Otherwise try again: the alarm rings when it is too late. One report is enough for all rows.
    if (over) rows[i]->stop.raise(StopReason::lost);
    if (report_ && (over || !reported)) report_(error);
    reported = true;
  }
}

}  // namespace leasehold::row

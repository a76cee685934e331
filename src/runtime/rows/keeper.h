// Keeps the rows of one worker alive: one thread, one statement for all of them.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lease/alarm.h"
#include "leasehold/row.h"
#include "runtime/shared.h"

namespace leasehold::row {

/// A claimed row, from the claim to the verdict. Call its methods from any thread.
struct HeldRow : std::enable_shared_from_this<HeldRow> {
  explicit HeldRow(RowGrant claimed) : grant(std::move(claimed)), trusted_until_(grant.trusted_until) {}

  /// Stops the handler when the lease can no longer be trusted, whatever hangs.
  void start_alarm();
  void extend(BootTime trusted_until);
  [[nodiscard]] BootTime trusted_until() const;
  /// For the verdict.
  void set(std::string name, std::optional<std::string> value);
  [[nodiscard]] RowValues values() const;

  const RowGrant grant;
  worker::StopFlag stop;

 private:
  mutable std::mutex mutex_;
  BootTime trusted_until_;
  RowValues values_{};
  std::optional<lease::Alarm> alarm_{};
};

class Keeper {
 public:
  Keeper(Rows rows, std::optional<Duration> ttl, Call call, worker::Report report);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  void keep(const std::shared_ptr<HeldRow>& row);
  /// Before its verdict: a heartbeat behind the verdict would find the row lost.
  void forget(const std::shared_ptr<HeldRow>& row);
  /// Stops every handler.
  void stop_all(StopReason why);

 private:
  void run();
  void beat(const std::vector<std::shared_ptr<HeldRow>>& rows);

  const Rows rows_;
  const std::optional<Duration> ttl_;
  const Call call_;
  const worker::Report report_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<HeldRow>> kept_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace leasehold::row

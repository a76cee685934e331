// The one connection of a process that writes to the file. Taken by one thread at a time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "storage/sqlite/change_watch.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/store_clock.h"
#include "storage/sqlite/write_gate.h"

namespace leasehold::sqlite {

class Writer {
 public:
  Writer(std::unique_ptr<Connection> connection, const std::string& path, const Clock& clock,
         std::shared_ptr<ChangeHub> hub);

  /// A write transaction that has begun. Destroyed without commit(): rolled back.
  class Turn {
   public:
    Turn(Turn&&) = default;
    Turn& operator=(Turn&&) = delete;
    ~Turn();

    Connection& connection() { return *writer_->connection_; }
    [[nodiscard]] Moment moment() const { return writer_->clock_.read(); }
    /// Once: the store clock is known from then on.
    Result<void> load_clock();
    Result<void> commit();

   private:
    friend class Writer;
    Turn(Writer& writer, std::unique_lock<std::timed_mutex> lock) : writer_(&writer), lock_(std::move(lock)) {}
    Writer* writer_;
    std::unique_lock<std::timed_mutex> lock_;
    bool clock_loaded_ = false;
  };

  Result<Turn> begin(bool urgent, BootTime deadline);
  [[nodiscard]] bool clock_known() const { return clock_known_.load(std::memory_order_acquire); }
  /// Only when clock_known().
  [[nodiscard]] Moment moment() const { return clock_.read(); }

 private:
  std::timed_mutex mutex_;
  std::unique_ptr<Connection> connection_;
  WriteGate gate_;
  StoreClock clock_;
  std::atomic<bool> clock_known_ = false;
  std::shared_ptr<ChangeHub> hub_;
};

}  // namespace leasehold::sqlite

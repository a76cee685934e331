// The one connection of a process that writes to the file. Taken by one thread at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

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
    Turn(Turn&& other) noexcept : writer_(std::exchange(other.writer_, nullptr)), clock_loaded_(other.clock_loaded_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();

    Connection& connection() { return *writer_->connection_; }
    [[nodiscard]] Moment moment() const { return writer_->clock_.read(); }
    /// Once: the store clock is known from then on.
    Result<void> load_clock();
    Result<void> commit();

   private:
    friend class Writer;
    explicit Turn(Writer& writer) : writer_(&writer) {}
    Writer* writer_;
    bool clock_loaded_ = false;
  };

  Result<Turn> begin(bool urgent, BootTime deadline);
  /// Learns the store clock from a reader, without a turn; false where this boot has to be noted first.
  Result<bool> learn_clock(Connection& reader, BootTime deadline);
  [[nodiscard]] bool clock_known() const { return clock_known_.load(std::memory_order_acquire); }
  /// Only when clock_known().
  [[nodiscard]] Moment moment() const { return clock_.read(); }

 private:
  bool take(BootTime deadline);
  void give_back();

  std::mutex mutex_;
  std::condition_variable freed_;
  bool taken_ = false;
  std::unique_ptr<Connection> connection_;
  WriteGate gate_;
  StoreClock clock_;
  std::atomic<bool> clock_known_ = false;
  std::shared_ptr<ChangeHub> hub_;
};

}  // namespace leasehold::sqlite
